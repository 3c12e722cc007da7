#pragma once

// What the handlers of this room share.

#include <string>
#include <utility>

#include "base/version.h"
#include "http/context.h"
#include "kitchen/json.h"
#include "kitchen/watch.h"

namespace comanda::kitchen {

// A page notices by it that the program was upgraded.
inline http::Response Versioned(http::Response response) {
  response.headers.emplace_back("X-Page-Version", std::string(kVersion));
  return response;
}

inline Watch& WatchOf(http::Context& ctx) { return *static_cast<Watch*>(ctx.site().kitchen); }

inline Body BodyOf(const http::Context& ctx) { return {ctx.body(), ctx.unknown_fields()}; }

}  // namespace comanda::kitchen
