#pragma once

// From method and path to a row of the route tables. Paths are split at "/" first and decoded after, so
// an encoded slash is never a separator. A trailing slash is another path.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/route.h"

namespace comanda::http {

class Router {
 public:
  explicit Router(std::vector<std::span<const Route>> tables);

  struct Match {
    const Route* route;
    std::vector<std::string> parameters;  // decoded, in the order of the pattern
  };
  // Refusal not_found (with a hint where only a trailing slash is too much), method_not_allowed with
  // Allow (with a hint for the mistakes of contract section 18), invalid_parameter for bad escapes.
  // HEAD matches GET rows. For OPTIONS the caller asks Allowed().
  Match Find(Method method, std::string_view raw_path) const;
  // "GET, HEAD, PATCH, OPTIONS", or empty where no route has that path.
  std::string Allowed(std::string_view raw_path) const;

  std::span<const Route* const> routes() const { return all_; }

 private:
  struct Node;
  std::vector<const Route*> all_;
};

}  // namespace comanda::http
