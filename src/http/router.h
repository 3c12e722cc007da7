#pragma once

// Finds the row of the route tables for a method and a path. A path is split at "/" first and
// decoded afterwards, so that an encoded slash is never a separator. A path with a trailing slash
// is another path.

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/route.h"

namespace comanda::http {

// Immutable once it is built, and thus thread-safe.
class Router {
 public:
  // The tables must outlive the router.
  explicit Router(std::vector<std::span<const Route>> tables);

  struct Match {
    const Route* route;
    std::vector<std::string> parameters;  // decoded, in the order of the pattern
  };
  // HEAD matches rows of GET. OPTIONS has no rows: its caller asks Allowed(). Throws Refusal:
  // not_found, or method_not_allowed with Allow, both with a hint for the mistakes of contract
  // section 18, the first else with the nearest path; invalid_parameter for a malformed escape.
  Match Find(Method method, std::string_view raw_path) const;
  // The methods of a path, as "GET, HEAD, OPTIONS, PATCH"; empty where no route has the path.
  std::string Allowed(std::string_view raw_path) const;

 private:
  static constexpr size_t kSegmentsMax = 12;
  // A pattern split at "/"; a parameter is an empty segment.
  struct Pattern {
    const Route* route;
    std::vector<std::string_view> segments;
  };
  struct Path;

  static bool Matches(const Pattern& pattern, const Path& path);
  std::vector<const Route*> RoutesOf(std::string_view raw_path) const;
  [[noreturn]] void RefusePath(Method method, std::string_view raw_path) const;
  std::string_view HintFor(const Mistake& mistake) const;
  // The pattern that a path was probably meant for; empty if there is none.
  std::string_view NearestPattern(std::string_view raw_path) const;

  std::vector<const Route*> all_;
  // By number of segments. A pattern with a literal precedes one with a parameter in the same
  // place.
  std::array<std::vector<Pattern>, kSegmentsMax + 1> patterns_;
};

}  // namespace comanda::http
