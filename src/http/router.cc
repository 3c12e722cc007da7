#include "http/router.h"

#include <algorithm>
#include <bitset>

#include "base/check.h"
#include "base/problem.h"
#include "wire/percent.h"

namespace comanda::http {
namespace {

// Calls use(segment) for each text between slashes, the one before the first slash left out.
template <typename Use>
void ForEachSegment(std::string_view path, Use use) {
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

std::string LastSegment(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

// Verbs that other services put behind an order (contract section 18).
bool IsVerbOfOrder(std::string_view path) {
  constexpr std::array<std::string_view, 14> kVerbs = {
      "accept", "reject",   "confirm",  "prepare", "preparing", "ready", "deliver",
      "deny",   "dispatch", "finalize", "finish",  "complete",  "close", "readyToPickup"};
  return path.starts_with("/v1/orders/") &&
         std::ranges::find(kVerbs, LastSegment(path)) != kVerbs.end();
}

// What to do instead, for a method that a path does not have. Empty where there is nothing to say.
std::string_view MethodHint(Method method, std::string_view path) {
  if (path.starts_with("/v1/orders/") && LastSegment(path) == "status") {
    return " Change the status with PATCH and the body {\"status\": \"PREPARING\"}.";
  }
  if (path.starts_with("/v1/orders/") && method == Method::kDelete) {
    return " An order is cancelled with POST /v1/orders/{id}/cancel.";
  }
  if (method == Method::kPut) return " Fields are changed with PATCH.";
  return "";
}

}  // namespace

// A path split and decoded where it had escapes.
struct Router::Path {
  // Nothing where it has too many segments or does not begin with a slash.
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
      CHECK(!pattern.segments.empty() && pattern.segments.size() <= kSegmentsMax,
            "a route's pattern has 1 to 12 segments");
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

bool Router::Fits(const Pattern& pattern, const Path& path) {
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
    if (!Fits(pattern, *path)) continue;
    if (first == nullptr) first = &pattern;
    if (pattern.segments != first->segments) break;  // "by-tips" is no {id}
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
    if (!Fits(pattern, *path)) continue;
    if (first == nullptr) first = &pattern;
    if (pattern.segments != first->segments) break;
    // What the command line alone may call is not there for others to ask about.
    if (pattern.route->access != Access::kLocal) routes.push_back(pattern.route);
  }
  return routes;
}

std::string Router::Allowed(std::string_view raw_path) const {
  return MethodList(RoutesOf(raw_path));
}

void Router::RefusePath(Method method, std::string_view raw_path) const {
  if (std::string allowed = Allowed(raw_path); !allowed.empty()) {
    Refusal refusal(Problem::kMethodNotAllowed, std::string(Name(method)) +
                                                    " is not possible here, but " + allowed + "." +
                                                    std::string(MethodHint(method, raw_path)));
    refusal.allow = std::move(allowed);
    throw refusal;
  }
  std::string detail = "There is no such path.";
  if (raw_path.size() > 1 && raw_path.ends_with('/') &&
      !Allowed(raw_path.substr(0, raw_path.size() - 1)).empty()) {
    detail += " Leave out the slash at its end.";
  } else if (IsVerbOfOrder(raw_path)) {
    detail +=
        " The status of an order is changed with PATCH /v1/orders/{id}/status and the body "
        "{\"status\": \"PREPARING\"}; an order is cancelled with POST /v1/orders/{id}/cancel.";
  } else if (raw_path.starts_with('/') && !Allowed("/v1" + std::string(raw_path)).empty()) {
    detail += " Paths begin with /v1.";
  }
  throw Refusal(Problem::kNotFound, detail);
}

}  // namespace comanda::http
