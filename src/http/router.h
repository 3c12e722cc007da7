#pragma once

// From method and path to a row of the route tables. Paths are split at "/" first and decoded
// after, so an encoded slash is never a separator. A trailing slash is another path.

#include <array>
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
  // Refusal not_found (with a hint where only a trailing slash is too much), method_not_allowed
  // with Allow (with a hint for the mistakes of contract section 18), invalid_parameter for bad
  // escapes. HEAD matches GET rows. For OPTIONS the caller asks Allowed().
  Match Find(Method method, std::string_view raw_path) const;
  // "GET, HEAD, OPTIONS, PATCH", or empty where no route has that path.
  std::string Allowed(std::string_view raw_path) const;

  std::span<const Route* const> routes() const { return all_; }

 private:
  static constexpr size_t kSegmentsMax = 12;
  // A pattern split at "/"; a parameter is an empty segment.
  struct Pattern {
    const Route* route;
    std::vector<std::string_view> segments;
  };
  struct Path;

  static bool Fits(const Pattern& pattern, const Path& path);
  std::vector<const Route*> RoutesOf(std::string_view raw_path) const;
  [[noreturn]] void RefusePath(Method method, std::string_view raw_path) const;

  std::vector<const Route*> all_;
  // By number of segments; patterns with a literal where others have a parameter stand first.
  std::array<std::vector<Pattern>, kSegmentsMax + 1> patterns_;
};

}  // namespace comanda::http
