#include "reports/query.h"

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "base/time/zone.h"
#include "base/time/zone_names.h"
#include "company/companies.h"
#include "company/day_filter.h"
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
                                    company::kDayParameter,
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

// Without an end, the period ends with today; without a start, it starts on the day of the end.
Period ReadPeriod(const http::Query& query, const Days& days, UtcMs now) {
  const auto start = query.ReadDayOrInstant(kStartDate, days, false);
  const auto end = query.ReadDayOrInstant(kEndDate, days, true);
  Period period;
  period.last_day = end ? end->day : days.Of(now);
  period.span.to = end ? end->instant : days.EndOf(*period.last_day);
  period.first_day = start ? start->day : days.Of(period.span.to - 1);
  period.span.from = start ? start->instant : days.BeginOf(*period.first_day);
  if (period.span.from >= period.span.to)
    throw http::MalformedFilter(kStartDate,
                                "must not be after filter[end_date], nor the same instant.");
  if (DaysTouched(period.span, days) > kDaysMax) {
    throw http::MalformedFilter(kStartDate, "must be at most 366 days before filter[end_date].");
  }
  return period;
}

// "HH:MM" in minutes after midnight; 24:00 is accepted as an end only.
std::optional<int> ReadMinute(const http::Query& query, std::string_view name, bool is_end) {
  const auto text = query.Find(name);
  if (!text) return std::nullopt;
  if (is_end && *text == "24:00") return Window().end;
  if (const auto minute = company::ParseTimeOfDay(*text)) return minute;
  throw http::MalformedFilter(name, "must be a time of day as HH:MM, such as 18:30.");
}

// A bound that is left out is that of the day. Nothing: the window is the whole day.
std::optional<Window> ReadWindow(const http::Query& query, const Days& days) {
  const auto start = ReadMinute(query, kStartTime, false);
  const auto end = ReadMinute(query, kEndTime, true);
  if (start && start == end) {
    throw http::MalformedFilter(
        kEndTime, "must differ from filter[start_time]; leave both out for the whole day.");
  }
  const int day_end = days.starts_at == 0 ? Window().end : days.starts_at;
  const Window window{.start = start.value_or(days.starts_at), .end = end.value_or(day_end)};
  const bool is_whole = window == Window{.start = days.starts_at, .end = day_end};
  if (is_whole || window == Window()) return std::nullopt;
  return window;
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
  const Days days = company::ReadDays(query, company, ReadZone(query, company));
  const Period period = ReadPeriod(query, days, now);
  return {.company = company.company_id,
          .intervals = Cut(period, ReadWindow(query, days), days),
          .statuses = ReadIndexes(query, kStatus, orders::kStatusNames),
          .service_types = ReadIndexes(query, kServiceType, orders::kServiceTypeNames),
          .sources = query.ReadCapitals(kSource)};
}

DatedBy ReadDatedBy(const http::Query& query) {
  constexpr std::array<std::string_view, 2> kWords = {"order", "payment"};
  const std::vector<size_t> words = query.ReadWords(kByParameter, kWords);
  if (words.empty()) return DatedBy::kOrder;
  if (words.size() > 1) throw http::MalformedFilter(kByParameter, "must be one of order, payment.");
  return static_cast<DatedBy>(words.front());
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
