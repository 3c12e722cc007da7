#pragma once

// Time comes in through a door, so that tests own the clock.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace comanda {

// UTC milliseconds since 1970: how time is stored and passed.
using UtcMs = int64_t;

// Threads: all members may be called from any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual UtcMs Now() const = 0;            // wall time; may step
  virtual int64_t MonotonicMs() const = 0;  // for deadlines; never steps
  // For what expires: the wall time, without a step ahead that may be a mistake. For how long
  // something is kept: without one back either (base/settled_clock.h).
  virtual UtcMs SettledNow() const { return Now(); }
  virtual UtcMs RetentionNow() const { return Now(); }
};

// The machine's clock.
const Clock& SystemClock();

// RFC 3339 in UTC with milliseconds and Z: "2026-11-20T18:03:11.204Z" (contract section 1).
std::string FormatInstant(UtcMs instant);
void AppendInstant(std::string& out, UtcMs instant);

// RFC 3339 with any offset, fraction optional (cut to milliseconds); nothing where it is malformed
// or not a real date. Years 1970 to 9999.
std::optional<UtcMs> ParseInstant(std::string_view text);

// A calendar day without a zone, as filters and business days have it.
struct Day {
  int year = 1970;
  int month = 1;
  int day = 1;

  bool operator==(const Day&) const = default;
};

// "YYYY-MM-DD"; nothing where malformed or not a real day.
std::optional<Day> ParseDay(std::string_view text);
std::string FormatDay(Day day);
Day NextDay(Day day);
Day PreviousDay(Day day);

}  // namespace comanda
