#pragma once

// Day arithmetic in the proleptic Gregorian calendar.

#include <chrono>
#include <cstdint>

#include "base/time/clock.h"

namespace comanda {

// The same day in the types of <chrono>; not necessarily a real day.
inline std::chrono::year_month_day ToChrono(Day day) {
  return std::chrono::year(day.year) / std::chrono::month(static_cast<unsigned>(day.month)) /
         std::chrono::day(static_cast<unsigned>(day.day));
}

// False for 31 April, 29 February of a common year, or anything before year 1.
inline bool IsRealDay(Day day) {
  return day.year >= 1 && day.month >= 1 && day.day >= 1 && ToChrono(day).ok();
}

// Days since 1970-01-01, negative before it. `day` must be real.
inline int64_t DayNumber(Day day) {
  return std::chrono::sys_days(ToChrono(day)).time_since_epoch().count();
}

inline Day DayFromNumber(int64_t number) {
  const std::chrono::year_month_day date{
      std::chrono::sys_days(std::chrono::days(static_cast<int>(number)))};
  return {static_cast<int>(date.year()), static_cast<int>(static_cast<unsigned>(date.month())),
          static_cast<int>(static_cast<unsigned>(date.day()))};
}

}  // namespace comanda
