#include "cloud/link/features.h"

#include <array>

#include "base/concat.h"
#include "base/id.h"

namespace comanda::cloud {
namespace {

bool Accepts(Line& line, std::string path) {
  return line.Ask({.path = std::move(path)}).verdict == Verdict::kOk;
}

// With the scope orders:sync a malformed date is refused before the order is looked for; without
// it, and by servers that do not know the header, the header is ignored.
bool TakesDates(Line& line) {
  const Reply reply = line.Ask({.method = "PATCH",
                                .path = Concat({"/v1/orders/", NewId(0), "/status"}),
                                .body = R"({"status":"PREPARING"})",
                                .occurred_at = "?"});
  return reply.verdict == Verdict::kRefused && reply.answer.Code() == "invalid_header";
}

struct ScopeProbe {
  std::string_view scope;
  std::string_view method;
  std::string_view path;  // $: a random id
  std::string_view body;
};
constexpr std::array kScopeProbes = {
    ScopeProbe{"companies:read", "GET", "/v1/company", ""},
    ScopeProbe{"payment-methods:read", "GET", "/v1/company/payment-methods", ""},
    ScopeProbe{"users:read", "GET", "/v1/users?per_page=1", ""},
    ScopeProbe{"clients:read", "GET", "/v1/clients?per_page=1", ""},
    ScopeProbe{"menu:read", "GET", "/v1/menu/categories/$", ""},
    ScopeProbe{"menu:write", "PATCH", "/v1/menu/products/$", R"({"visible":true})"},
    ScopeProbe{"orders:read", "GET", "/v1/orders?per_page=1", ""},
    ScopeProbe{"orders:write", "PATCH", "/v1/orders/$/status", R"({"status":"PREPARING"})"},
    ScopeProbe{"logistics:write", "PATCH", "/v1/orders/$/delivery-status",
               R"({"delivery_status":"DELIVERED"})"},
};

}  // namespace

// The specification leaves open how many rows a page may have. No order is of that day.
int64_t FindPerPage(Line& line) {
  for (const int64_t rows : {100, 50, 20}) {
    const Reply reply =
        line.Ask({.path = Concat({"/v1/orders?filter[start_date]=2999-01-01&per_page=", rows})});
    if (reply.verdict != Verdict::kRefused) return rows;
  }
  return 0;
}

Features FindFeatures(Line& line, UtcMs now) {
  Features features{.found_at = now};
  features.per_page = FindPerPage(line);
  const std::string_view one = features.per_page == 0 ? "page=1" : "per_page=1";
  features.has_events = Accepts(line, Concat({"/v1/events?", one}));
  features.takes_status_list =
      Accepts(line, Concat({"/v1/orders?filter[status]=PENDING,READY&", one}));
  features.takes_end_date = Accepts(
      line, Concat({"/v1/orders?filter[start_date]=2020-01-01&filter[end_date]=2020-01-01&", one}));
  features.has_tables = Accepts(line, Concat({"/v1/company/tables?", one}));
  features.takes_dates = TakesDates(line);
  return features;
}

std::vector<std::string> FindMissingScopes(Line& line) {
  std::vector<std::string> missing;
  for (const ScopeProbe& probe : kScopeProbes) {
    std::string path(probe.path);
    if (const size_t at = path.find('$'); at != path.npos) path.replace(at, 1, NewId(0));
    const Reply reply = line.Ask({.method = std::string(probe.method),
                                  .path = std::move(path),
                                  .body = std::string(probe.body)});
    if (reply.verdict == Verdict::kScopeMissing) missing.emplace_back(probe.scope);
  }
  return missing;
}

}  // namespace comanda::cloud
