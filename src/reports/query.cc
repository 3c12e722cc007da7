#include "reports/query.h"

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "base/zone.h"
#include "base/zone_names.h"
#include "company/companies.h"
#include "company/hours.h"
#include "http/list.h"
#include "orders/order.h"

namespace comanda::reports {
namespace {

constexpr std::string_view kStartDate = "filter[start_date]";
constexpr std::string_view kEndDate = "filter[end_date]";
constexpr std::string_view kStartTime = "filter[start_time]";
constexpr std::string_view kEndTime = "filter[end_time]";
constexpr std::string_view kStatus = "filter[status]";
constexpr std::string_view kServiceType = "filter[service_type]";
constexpr std::string_view kSource = "filter[source]";
constexpr std::string_view kTimezone = "timezone";
constexpr std::array kParameters = {kStartDate,
                                    kEndDate,
                                    kStartTime,
                                    kEndTime,
                                    kStatus,
                                    kServiceType,
                                    kSource,
                                    kTimezone,
                                    std::string_view("page"),
                                    std::string_view("per_page"),
                                    std::string_view("sort")};

Zone ReadZone(const http::Query& query, const company::Company& company) {
  const auto name = query.Find(kTimezone);
  if (!name) return company::FindZone(company);
  std::optional<Zone> zone = Zone::Find(*name);
  // The company's own goes on without data.
  if (!zone && CanonicalZoneName(*name) == CanonicalZoneName(company.timezone)) {
    return company::FindZone(company);
  }
  if (!zone)
    throw http::MalformedFilter(kTimezone, "must be an IANA time zone, such as America/Lima.");
  return *std::move(zone);
}

Interval DayOf(UtcMs instant, const Zone& zone) {
  const Day day = zone.ToLocal(instant).day;
  return {zone.ToInstant(day, 0), zone.ToInstant(NextDay(day), 0)};
}

// Without an end, the period ends with today; without a start, it starts on the day of the end.
Interval ReadPeriod(const http::Query& query, const Zone& zone, UtcMs now) {
  const auto start = query.ReadDayOrInstant(kStartDate, zone, false);
  const auto end = query.ReadDayOrInstant(kEndDate, zone, true);
  Interval period = DayOf(now, zone);
  if (end) period.to = end->exclusive ? end->instant : end->instant + 1;
  if (start) {
    period.from = start->instant;
  } else if (end) {
    period.from = DayOf(period.to - 1, zone).from;
  }
  if (period.from >= period.to)
    throw http::MalformedFilter(kStartDate, "must not be after filter[end_date].");
  if (DaysTouched(period, zone) > kDaysMax) {
    throw http::MalformedFilter(kStartDate, "must be at most 366 days before filter[end_date].");
  }
  return period;
}

// "HH:MM" in minutes after midnight; 24:00 is accepted as an end only.
std::optional<int> ReadMinute(const http::Query& query, std::string_view name, bool is_end) {
  const auto text = query.Find(name);
  if (!text) return std::nullopt;
  if (is_end && *text == "24:00") return kWholeDay.end;
  if (const auto minute = company::ParseTimeOfDay(*text)) return minute;
  throw http::MalformedFilter(name, "must be a time of day as HH:MM, such as 18:30.");
}

Window ReadWindow(const http::Query& query) {
  return {.start = ReadMinute(query, kStartTime, false).value_or(kWholeDay.start),
          .end = ReadMinute(query, kEndTime, true).value_or(kWholeDay.end)};
}

std::vector<int64_t> ReadIndexes(const http::Query& query, std::string_view name,
                                 std::span<const std::string_view> words) {
  std::vector<int64_t> indexes;
  for (const size_t index : query.ReadWords(name, words))
    indexes.push_back(static_cast<int64_t>(index));
  return indexes;
}

}  // namespace

void RequireParameters(const http::Query& query, std::span<const std::string_view> more) {
  std::vector<std::string_view> allowed(kParameters.begin(), kParameters.end());
  allowed.insert(allowed.end(), more.begin(), more.end());
  query.AllowOnly(allowed);
}

OrderFilter ReadOrderFilter(const http::Query& query, const company::Company& company, UtcMs now) {
  const Zone zone = ReadZone(query, company);
  return {.company = company.company_id,
          .intervals = Cut(ReadPeriod(query, zone, now), ReadWindow(query), zone),
          .statuses = ReadIndexes(query, kStatus, orders::kStatusNames),
          .service_types = ReadIndexes(query, kServiceType, orders::kServiceTypeNames),
          .sources = query.ReadCapitals(kSource)};
}

Lines ReadLines(const http::Query& query) {
  constexpr std::array<std::string_view, 3> kWords = {"products", "products_modifiers", "freehand"};
  const std::vector<size_t> words = query.ReadWords(kIncludeParameter, kWords);
  if (words.empty()) return Lines::kProducts;
  if (words.size() > 1)
    throw http::MalformedFilter(kIncludeParameter,
                                "must be one of products, products_modifiers, freehand.");
  return static_cast<Lines>(words.front());
}

}  // namespace comanda::reports
