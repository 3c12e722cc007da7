#pragma once

// The instants that a report covers (contract section 11): a range of days in a zone, restricted to
// a daily window of time. Pure functions.

#include <vector>

#include "base/clock.h"
#include "base/zone.h"

namespace comanda::reports {

// From inclusive, to exclusive.
struct Interval {
  UtcMs from = 0;
  UtcMs to = 0;

  bool operator==(const Interval&) const = default;
};

// A daily window in minutes after local midnight, start inclusive, end exclusive. If the end is not
// after the start, it is on the next day.
struct Window {
  int start = 0;
  int end = 24 * 60;

  bool operator==(const Window&) const = default;
};
// No restriction.
inline constexpr Window kWholeDay;

// The longest period of a report.
inline constexpr int kDaysMax = 366;

// The number of local days that the interval overlaps, counting to kDaysMax + 1 at most.
int DaysTouched(Interval period, const Zone& zone);

// The parts of the period inside the window of any day: sorted, not overlapping. A window belongs
// to the day on which it starts. Bounds are local wall-clock times, so they follow daylight saving.
std::vector<Interval> Cut(Interval period, Window window, const Zone& zone);

}  // namespace comanda::reports
