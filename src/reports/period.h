#pragma once

// The instants that a report covers (contract section 11): a range of days or instants, restricted
// to a daily window of time. Pure functions.

#include <optional>
#include <vector>

#include "base/time/clock.h"
#include "base/time/zone.h"

namespace comanda::reports {

// From inclusive, to exclusive.
struct Interval {
  UtcMs from = 0;
  UtcMs to = 0;

  bool operator==(const Interval&) const = default;
};

// A range as it was asked for. An end that is a day is the bound of that day.
struct Period {
  Interval span;
  std::optional<Day> first_day, last_day;
};

// A daily window in minutes after local midnight, start inclusive, end exclusive. If the end is not
// after the start, it is on the next date.
struct Window {
  int start = 0;
  int end = 24 * 60;

  bool operator==(const Window&) const = default;
};

// The longest period of a report.
inline constexpr int kDaysMax = 366;

// The number of days that the interval overlaps, counting to kDaysMax + 1 at most.
int DaysTouched(Interval span, const Days& days);

// The parts of the period inside the windows: sorted, not overlapping. A window belongs to the day
// on which it starts, and the part of it behind the end of that day does too: only an instant cuts
// it. Bounds are local wall-clock times, so they follow daylight saving.
std::vector<Interval> Cut(const Period& period, std::optional<Window> window, const Days& days);

}  // namespace comanda::reports
