#pragma once

// Which moments a report covers (contract section 11): days in a zone, and a daily window that may
// wrap midnight. Pure.

#include <vector>

#include "base/clock.h"
#include "base/zone.h"

namespace comanda::reports {

// From (included) to (excluded).
struct Interval {
  UtcMs from = 0;
  UtcMs to = 0;

  bool operator==(const Interval&) const = default;
};

// Minutes of the day: start included, end excluded; an end that is not after the start is the next
// day's.
struct Window {
  int start = 0;
  int end = 24 * 60;

  bool operator==(const Window&) const = default;
};
inline constexpr Window kWholeDay;

inline constexpr int kDaysMax = 366;

// How many days of the zone the interval touches, counted to one more than kDaysMax.
int DaysTouched(Interval period, const Zone& zone);

// The parts of the period that lie in the window of some day, in order, not overlapping. A window
// belongs to the day it begins on; wall-clock times follow the zone's daylight saving.
std::vector<Interval> Cut(Interval period, Window window, const Zone& zone);

}  // namespace comanda::reports
