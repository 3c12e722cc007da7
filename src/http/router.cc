#include "http/router.h"

#include <algorithm>
#include <bitset>

#include "base/check.h"
#include "base/nearest.h"
#include "base/problem.h"
#include "wire/percent.h"

namespace comanda::http {
namespace {

// Calls use(segment) for each segment: the texts behind the slashes. The path "/" has none.
template <typename Use>
void ForEachSegment(std::string_view path, Use use) {
  if (path == "/") return;
  while (!path.empty()) {
    path.remove_prefix(1);
    const size_t end = std::min(path.find('/'), path.size());
    use(path.substr(0, end));
    path.remove_prefix(end);
  }
}

bool Answers(const Route& route, Method method) {
  return route.method == method || (route.method == Method::kGet && method == Method::kHead);
}

std::string MethodList(const std::vector<const Route*>& routes) {
  std::bitset<8> methods;
  for (const Route* route : routes) {
    methods.set(static_cast<size_t>(route->method));
    if (route->method == Method::kGet) methods.set(static_cast<size_t>(Method::kHead));
  }
  if (methods.none()) return "";
  methods.set(static_cast<size_t>(Method::kOptions));
  std::string list;
  for (size_t i = 0; i < methods.size(); ++i) {
    if (!methods.test(i)) continue;
    if (!list.empty()) list += ", ";
    list += Name(static_cast<Method>(i));
  }
  return list;
}

using Segments = std::span<const std::string_view>;

// How far a path is from a pattern with as many segments; nothing where hardly anyone would take
// one for the other. An empty segment of a pattern is a parameter; those and v1, with which most
// patterns begin, are no likeness.
std::optional<size_t> UnlikenessOf(Segments path, Segments pattern) {
  size_t sum = 0;
  bool is_like = false;
  for (size_t i = 0; i < path.size(); ++i) {
    if (pattern[i].empty()) continue;
    const std::optional<size_t> unlikeness = Unlikeness(path[i], pattern[i]);
    if (!unlikeness) return std::nullopt;
    sum += *unlikeness;
    is_like = is_like || pattern[i] != "v1";
  }
  if (!is_like) return std::nullopt;
  return sum;
}

// As of a client whose base address ends with a slash: //v1/orders.
std::string WithSingleSlashes(std::string_view path) {
  std::string plain;
  for (const char c : path) {
    if (c != '/' || !plain.ends_with('/')) plain += c;
  }
  return plain;
}

// The segments without the index-th.
std::vector<std::string_view> Without(Segments segments, size_t index) {
  std::vector<std::string_view> rest(segments.begin(), segments.end());
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(index));
  return rest;
}

// Also where one of the two has one segment more: a pattern a literal, as /v1/menu/products for
// /v1/products, or a path one before its last, as /api/v1/orders.
std::optional<size_t> UnlikenessWithin(Segments path, Segments pattern) {
  constexpr size_t kOneMore = 10;  // behind most misspelt segments
  if (path.size() == pattern.size()) return UnlikenessOf(path, pattern);
  const bool pattern_has_more = path.size() < pattern.size();
  const Segments longer = pattern_has_more ? pattern : path;
  const size_t end = pattern_has_more ? longer.size() : longer.size() - 1;
  std::optional<size_t> least;
  for (size_t i = 0; i < end; ++i) {
    if (longer[i].empty()) continue;
    const std::vector<std::string_view> rest = Without(longer, i);
    const auto unlikeness =
        pattern_has_more ? UnlikenessOf(path, rest) : UnlikenessOf(rest, pattern);
    if (unlikeness && (!least || *unlikeness + kOneMore < *least)) least = *unlikeness + kOneMore;
  }
  return least;
}

}  // namespace

// A path, split into its segments, which are still encoded.
struct Router::Path {
  // Empty where it has too many segments or does not begin with a slash.
  static std::optional<Path> Split(std::string_view raw) {
    if (!raw.starts_with('/')) return std::nullopt;
    if (static_cast<size_t>(std::ranges::count(raw, '/')) > kSegmentsMax) return std::nullopt;
    Path path;
    ForEachSegment(raw, [&](std::string_view segment) { path.segments[path.count++] = segment; });
    return path;
  }

  std::array<std::string_view, kSegmentsMax> segments;
  size_t count = 0;
};

Router::Router(std::vector<std::span<const Route>> tables) {
  for (const std::span<const Route> table : tables) {
    for (const Route& route : table) {
      Pattern pattern{&route, {}};
      ForEachSegment(route.pattern, [&](std::string_view segment) {
        pattern.segments.push_back(segment.starts_with('{') ? std::string_view() : segment);
      });
      CHECK(pattern.segments.size() <= kSegmentsMax, "a route's pattern has at most 12 segments");
      patterns_[pattern.segments.size()].push_back(std::move(pattern));
      all_.push_back(&route);
    }
  }
  for (std::vector<Pattern>& patterns : patterns_) {
    std::ranges::stable_sort(patterns, [](const Pattern& a, const Pattern& b) {
      return std::ranges::lexicographical_compare(
          a.segments, b.segments,
          [](std::string_view x, std::string_view y) { return !x.empty() && y.empty(); });
    });
  }
}

bool Router::Matches(const Pattern& pattern, const Path& path) {
  for (size_t i = 0; i < path.count; ++i) {
    const std::string_view segment = path.segments[i];
    const std::string_view wanted = pattern.segments[i];
    if (wanted.empty()) {
      if (segment.empty()) return false;
    } else if (segment != wanted) {
      if (segment.find('%') == std::string_view::npos) return false;
      if (wire::PercentDecoded(segment, wire::PlusSign::kItself) != wanted) return false;
    }
  }
  return true;
}

Router::Match Router::Find(Method method, std::string_view raw_path) const {
  const std::optional<Path> path = Path::Split(raw_path);
  if (!path) RefusePath(method, raw_path);
  const Pattern* first = nullptr;
  for (const Pattern& pattern : patterns_[path->count]) {
    if (!Matches(pattern, *path)) continue;
    if (first == nullptr) first = &pattern;
    // The literal "by-tips" has precedence over {id}, whatever the method.
    if (pattern.segments != first->segments) break;
    if (!Answers(*pattern.route, method)) continue;
    Match match{pattern.route, {}};
    for (size_t i = 0; i < path->count; ++i) {
      if (!pattern.segments[i].empty()) continue;
      std::optional<std::string> decoded =
          wire::PercentDecoded(path->segments[i], wire::PlusSign::kItself);
      if (!decoded) {
        throw Refusal(Problem::kInvalidParameter,
                      "The path has an escape that is none, or that is not UTF-8 text.");
      }
      match.parameters.push_back(std::move(*decoded));
    }
    return match;
  }
  RefusePath(method, raw_path);
}

std::vector<const Route*> Router::RoutesOf(std::string_view raw_path) const {
  std::vector<const Route*> routes;
  const std::optional<Path> path = Path::Split(raw_path);
  if (!path) return routes;
  const Pattern* first = nullptr;
  for (const Pattern& pattern : patterns_[path->count]) {
    if (!Matches(pattern, *path)) continue;
    if (first == nullptr) first = &pattern;
    if (pattern.segments != first->segments) break;
    // Others are not told which paths the command line has.
    if (pattern.route->access != Access::kLocal) routes.push_back(pattern.route);
  }
  return routes;
}

std::string Router::Allowed(std::string_view raw_path) const {
  return MethodList(RoutesOf(raw_path));
}

std::string_view Router::HintFor(const Mistake& mistake) const {
  std::string_view (*asked)(const Mistake&) = nullptr;  // the rows of a table share one
  for (const Route* route : all_) {
    if (route->hint == nullptr || route->hint == asked) continue;
    asked = route->hint;
    if (const std::string_view hint = asked(mistake); !hint.empty()) return hint;
  }
  if (mistake.path_exists && mistake.method == Method::kPut)
    return " Fields are changed with PATCH.";
  return "";
}

void Router::RefusePath(Method method, std::string_view raw_path) const {
  if (std::string allowed = Allowed(raw_path); !allowed.empty()) {
    Refusal refusal(Problem::kMethodNotAllowed, std::string(Name(method)) +
                                                    " is not possible here, but " + allowed + "." +
                                                    std::string(HintFor({method, raw_path, true})));
    refusal.allow = std::move(allowed);
    throw refusal;
  }
  std::string detail = "There is no such path.";
  if (raw_path.size() > 1 && raw_path.ends_with('/') &&
      !Allowed(raw_path.substr(0, raw_path.size() - 1)).empty()) {
    detail += " Leave out the slash at its end.";
  } else if (const auto routes = RoutesOf(WithSingleSlashes(raw_path)); !routes.empty()) {
    detail += " It is " + std::string(routes.front()->pattern) +
              ": the base address ends without a slash.";
  } else if (const std::string_view hint = HintFor({method, raw_path, false}); !hint.empty()) {
    detail += hint;
  } else if (raw_path.starts_with('/') && !Allowed("/v1" + std::string(raw_path)).empty()) {
    detail += " Paths begin with /v1.";
  } else if (const std::string_view nearest = NearestPattern(raw_path); !nearest.empty()) {
    detail += " Did you mean " + std::string(nearest) + "?";
  }
  throw Refusal(Problem::kNotFound, detail);
}

std::string_view Router::NearestPattern(std::string_view raw_path) const {
  const std::optional<Path> path = Path::Split(raw_path);
  if (!path || path->count == 0) return "";
  const Segments sent = Segments(path->segments).first(path->count);
  std::string_view nearest;
  size_t least = SIZE_MAX;
  for (size_t count = sent.size() - 1; count <= std::min(sent.size() + 1, kSegmentsMax); ++count) {
    for (const Pattern& pattern : patterns_[count]) {
      if (pattern.route->access == Access::kLocal) continue;
      const auto unlikeness = UnlikenessWithin(sent, pattern.segments);
      if (!unlikeness || *unlikeness >= least) continue;
      least = *unlikeness;
      nearest = pattern.route->pattern;
    }
  }
  return nearest;
}

}  // namespace comanda::http
