#include "reports/period.h"

#include <algorithm>

namespace comanda::reports {
namespace {

constexpr int kMinutesOfDay = 24 * 60;

// The window that starts on that day: after midnight, but before the day of the date begins, it
// starts on the next date.
Interval WindowOf(Day day, Window window, const Days& days) {
  const Day date = window.start < days.starts_at ? NextDay(day) : day;
  const UtcMs from = days.zone.ToInstant(date, window.start);
  if (window.end == kMinutesOfDay) return {from, days.zone.ToInstant(NextDay(date), 0)};
  const bool wraps = window.end <= window.start;
  return {from, days.zone.ToInstant(wraps ? NextDay(date) : date, window.end)};
}

}  // namespace

int DaysTouched(Interval span, const Days& days) {
  Day day = days.Of(span.from);
  int touched = 1;
  while (touched <= kDaysMax && days.EndOf(day) < span.to) {
    day = NextDay(day);
    ++touched;
  }
  return touched;
}

std::vector<Interval> Cut(const Period& period, std::optional<Window> window, const Days& days) {
  const Interval& span = period.span;
  if (span.from >= span.to) return {};
  if (!window) return {span};

  const Day last = period.last_day.value_or(days.Of(span.to - 1));
  // A window of the day before may reach behind an instant.
  Day day = period.first_day.value_or(PreviousDay(days.Of(span.from)));
  std::vector<Interval> parts;
  for (const Day end = NextDay(last); day != end; day = NextDay(day)) {
    Interval part = WindowOf(day, *window, days);
    if (!period.first_day) part.from = std::max(part.from, span.from);
    if (!period.last_day) part.to = std::min(part.to, span.to);
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
