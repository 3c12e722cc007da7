#pragma once

// The handlers of /auth/api-keys (contract section 3), on HTTPS and on the control socket. The
// audit log is served on the control socket only.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/context.h"
#include "http/route.h"
#include "keys/key.h"

namespace comanda::keys {

std::span<const http::Route> Routes();

// A list of keys: which, and how each is shown.
struct KeyList {
  bool with_role = false;  // those that work and have a role alone; no filter[active]
  std::string_view default_sort;
  std::string (*render)(const Key& key, const std::vector<http::KeyDisplay>& displays);
};
// A page of it. The tag has last uses rounded to minutes: reading the list uses a key, so that with
// exact times every answer would have a new tag.
http::Response ListPage(http::Context& context, const KeyList& list);

}  // namespace comanda::keys
