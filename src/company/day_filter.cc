#include "company/day_filter.h"

#include <array>
#include <utility>
#include <vector>

#include "http/list.h"

namespace comanda::company {

Days ReadDays(const http::Query& query, const Company& company, Zone zone) {
  constexpr std::array<std::string_view, 2> kWords = {"calendar", "business"};
  const std::vector<size_t> words = query.ReadWords(kDayParameter, kWords);
  if (words.size() > 1)
    throw http::MalformedFilter(kDayParameter, "must be one of calendar, business.");
  const bool is_business = !words.empty() && words.front() == 1;
  return {.zone = std::move(zone), .starts_at = is_business ? company.day_starts_at : 0};
}

}  // namespace comanda::company
