// The query string, and everything that a route can ask of it.

#include "http/query.h"

#include <algorithm>
#include <array>

#include "base/time/zone.h"
#include "fuzz/fuzz.h"

namespace comanda::http {
namespace {

using fuzz::Must;

constexpr std::array<std::string_view, 10> kNames = {"page",
                                                     "per_page",
                                                     "sort",
                                                     "search",
                                                     "after",
                                                     "filter[status]",
                                                     "filter[paid]",
                                                     "filter[id]",
                                                     "filter[start_date]",
                                                     "filter[updated_since]"};
constexpr std::array<std::string_view, 3> kWords = {"PENDING", "ready", "CANCELLED"};

// Calls what may refuse a value; a refusal is invalid_parameter and names one.
template <typename Fn>
void Try(Fn&& fn) {
  try {
    fn();
  } catch (const Refusal& refusal) {
    fuzz::CheckRefusal(refusal);
    Must(refusal.problem == Problem::kInvalidParameter, "a query is refused as one");
  }
}

void CheckBound(const std::optional<Query::Bound>& bound) {
  if (!bound) return;
  // 0000 to 9999, give or take a zone.
  Must(bound->instant > -62'167'400'000'000 && bound->instant < 253'402'400'000'000,
       "a year of four digits");
}

std::string Encoded(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
  }
  return out;
}

// All is escaped and the order turned round: the same query.
void CheckCanonical(std::string_view raw, const Query& query) {
  std::vector<std::string> pairs;
  while (!raw.empty()) {
    const std::string_view pair = raw.substr(0, raw.find('&'));
    raw.remove_prefix(std::min(pair.size() + 1, raw.size()));
    if (!pair.empty()) pairs.emplace_back(pair);
  }
  std::string turned;
  for (auto pair = pairs.rbegin(); pair != pairs.rend(); ++pair) {
    if (!turned.empty()) turned += "&&";
    turned += *pair;
  }
  Must(Query::Parse(turned).Canonical() == query.Canonical(), "the order says nothing");
}

void ReadEverything(const Query& query, const Days& days) {
  Try([&] { query.AllowOnly(kNames); });
  Try([&] {
    const Paging paging = query.ReadPaging();
    Must(paging.page >= 1 && paging.per_page >= 1 && paging.per_page <= kPerPageMax &&
             paging.offset() >= 0,
         "a page is one");
  });
  Try([&] {
    Must(query.ReadSort(kNames, "-page").index < kNames.size(), "a field that is there");
  });
  for (const std::string_view name : kNames) {
    if (const auto value = query.Find(name)) {
      Must(IsUtf8(*value) && !value->empty() && value->find('\0') == std::string_view::npos,
           "a value is text");
    }
    Try([&] {
      const std::vector<size_t> words = query.ReadWords(name, kWords);
      Must(words.size() <= kWords.size(), "without repeats");
    });
    Try([&] { static_cast<void>(query.ReadCapitals(name)); });
    Try([&] { static_cast<void>(query.ReadBoolean(name)); });
    Try([&] { static_cast<void>(query.ReadUuid(name)); });
    Try([&] { static_cast<void>(query.ReadInstant(name)); });
    Try([&] { CheckBound(query.ReadDayOrInstant(name, days, false)); });
    Try([&] { CheckBound(query.ReadDayOrInstant(name, days, true)); });
  }
}

void CheckEscapes(std::string_view raw) {
  const std::string query_text = "search=" + Encoded(raw.substr(0, 500));
  Try([&] {
    const Query query = Query::Parse(query_text);
    Must(query.Find("search") == raw.substr(0, 500), "an escape stands for its byte");
  });
}

}  // namespace
}  // namespace comanda::http

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace comanda;
  static const Days days{.zone = *Zone::Find("America/Santiago"), .starts_at = 300};
  const std::string_view raw = fuzz::TextOf(data, size);
  http::Try([&] {
    const http::Query query = http::Query::Parse(raw);
    http::CheckCanonical(raw, query);
    http::ReadEverything(query, days);
  });
  http::CheckEscapes(raw);
  return 0;
}
