#include "reports/period.h"

#include <algorithm>

namespace comanda::reports {
namespace {

constexpr int kMinutesOfDay = 24 * 60;

UtcMs Midnight(Day day, const Zone& zone) { return zone.ToInstant(day, 0); }

Interval WindowOf(Day day, Window window, const Zone& zone) {
  const bool wraps = window.end <= window.start;
  const UtcMs from = zone.ToInstant(day, window.start);
  if (window.end == kMinutesOfDay) return {from, Midnight(NextDay(day), zone)};
  return {from, zone.ToInstant(wraps ? NextDay(day) : day, window.end)};
}

}  // namespace

int DaysTouched(Interval period, const Zone& zone) {
  Day day = zone.ToLocal(period.from).day;
  int days = 1;
  while (days <= kDaysMax && Midnight(NextDay(day), zone) < period.to) {
    day = NextDay(day);
    ++days;
  }
  return days;
}

std::vector<Interval> Cut(Interval period, Window window, const Zone& zone) {
  if (period.from >= period.to) return {};
  if (window == kWholeDay) return {period};

  std::vector<Interval> parts;
  // A window of the day before may reach into the period.
  Day day = PreviousDay(zone.ToLocal(period.from).day);
  for (; Midnight(day, zone) < period.to; day = NextDay(day)) {
    Interval part = WindowOf(day, window, zone);
    part.from = std::max(part.from, period.from);
    part.to = std::min(part.to, period.to);
    if (part.from >= part.to) continue;
    if (!parts.empty() && parts.back().to >= part.from) {
      parts.back().to = std::max(parts.back().to, part.to);
    } else {
      parts.push_back(part);
    }
  }
  return parts;
}

}  // namespace comanda::reports
