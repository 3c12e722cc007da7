#pragma once

// Weekly opening hours (contract section 10). Pure.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/zone.h"

namespace comanda::company {

// Monday first, as LocalTime::weekday counts.
inline constexpr std::array<std::string_view, 7> kWeekdays = {
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"};

// Minutes after local midnight, 0 to 1439; `open` included, `close` excluded. A close at or before
// the open is on the next day, so 00:00 to 00:00 is the whole day.
struct Block {
  int open = 0;
  int close = 0;

  bool EndsNextDay() const { return close <= open; }
  bool operator==(const Block&) const = default;
};

struct DayHours {
  bool is_active = false;  // where false, the blocks are kept but do not open the restaurant
  std::vector<Block> blocks;

  bool operator==(const DayHours&) const = default;
};

using Hours = std::array<DayHours, 7>;

// By the wall clock: in a repeated hour the restaurant opens or closes twice, a skipped hour is
// skipped.
bool OpenAtLocal(const Hours& hours, const LocalTime& local);
bool OpenAt(const Hours& hours, const Zone& zone, UtcMs instant);

// "HH:MM", 00:00 to 23:59, as minutes after midnight; nothing where it is malformed.
std::optional<int> ParseTimeOfDay(std::string_view text);
std::string FormatTimeOfDay(int minute_of_day);

}  // namespace comanda::company
