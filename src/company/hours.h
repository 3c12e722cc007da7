#pragma once

// Weekly opening hours (contract section 10). Pure functions.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"
#include "base/time/zone.h"

namespace comanda::company {

// Monday first, like LocalTime::weekday.
inline constexpr std::array<std::string_view, 7> kWeekdays = {
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"};

// One opening period, in minutes after local midnight (0 to 1439), from `open` inclusive to `close`
// exclusive. If `close` is not after `open`, it is on the next day; 00:00 to 00:00 is the whole
// day.
struct Block {
  int open = 0;
  int close = 0;

  bool EndsNextDay() const { return close <= open; }
  bool operator==(const Block&) const = default;
};

// The periods that start on one weekday.
struct DayHours {
  // False: the restaurant is closed; the blocks are kept for later.
  bool is_active = false;
  std::vector<Block> blocks;

  bool operator==(const DayHours&) const = default;
};

// Indexed by weekday.
using Hours = std::array<DayHours, 7>;

// True if the restaurant is open. Decided by the local wall clock: an hour repeated by daylight
// saving counts twice, a skipped one not at all.
bool OpenAtLocal(const Hours& hours, const LocalTime& local);
bool OpenAt(const Hours& hours, const Zone& zone, UtcMs instant);

// "HH:MM", 00:00 to 23:59, in minutes after midnight; nothing if malformed.
std::optional<int> ParseTimeOfDay(std::string_view text);
// The inverse: "HH:MM".
std::string FormatTimeOfDay(int minute_of_day);

}  // namespace comanda::company
