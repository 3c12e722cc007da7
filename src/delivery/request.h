#pragma once

// A call to an app, from the templates of its provider. Pure; any thread.

#include <string>
#include <vector>

#include "delivery/provider.h"
#include "delivery/status/rules.h"

namespace comanda::delivery {

struct Request {
  std::string method = "GET";
  std::string url;
  std::vector<std::string> headers;  // "Name: value"
  std::string content_type;          // empty: there is no body
  std::string body;
};

// The templates, filled in.
Request Filled(const CallTemplate& call, const Variables& variables);

// Adds the signature. The request is complete but for it; a body must be JSON.
void Sign(const SignatureSource& signature, const Variables& variables, Request& request);

}  // namespace comanda::delivery
