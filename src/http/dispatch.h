#pragma once

// The story of every request, from a framed head to an answer. Knows no socket: http/server calls it for
// connections, app/ for commands in this process.

#include <span>
#include <vector>

#include "http/context.h"
#include "http/request.h"
#include "http/response.h"
#include "http/route.h"
#include "http/router.h"

namespace comanda::http {

class Dispatcher {
 public:
  // The routes live as long as the dispatcher.
  Dispatcher(Site& site, std::vector<std::span<const Route>> tables);

  // Never throws. Every answer carries API-Version and X-Request-Id, those to a key the rate headers;
  // a HEAD has no body (Content-Length as for GET); every refusal is a problem document.
  Response Handle(const Request& request);

 private:
  Response Answer(const Request& request, Response& decorated);
  Site& site_;
  Router router_;
};

}  // namespace comanda::http
