#pragma once

// Time. Code takes a Clock by reference instead of asking the system, so that tests control it.
//
// Four kinds of time exist, each for one purpose (contract section 1, Timestamps):
//
// - Wall time (Clock::Now): UTC as the system knows it. It supplies every stored timestamp, and
//   decides whether a date is acceptable at the moment a client sends it: a scheduled date, the
//   expiry of a key, the business day and its order numbers. It may step by any amount, forwards or
//   backwards.
// - Monotonic time (Clock::MonotonicMs): measures durations within this process: deadlines, rate
//   limits, timeouts, the grace period of a rotated key. It never steps, and restarts at boot.
// - Settled time (Clock::SettledNow, base/time/settled_clock.h): wall time that ignores a step
// until the
//   step is known to be genuine. It decides whether a stored expiry has been reached.
// - Counted time (events/marks.h): time that has certainly elapsed, accumulated over restarts. It
//   decides whether a record has been retained long enough. Steps of the wall clock do not change
//   it.
//
// An expiry that has been reached is stored as a fact (base/time/ends.h), so that a clock that is
// set back revives nothing.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace comanda {

// A point in time as milliseconds since 1970-01-01T00:00:00Z, without leap seconds.
using UtcMs = int64_t;

// Any thread may call any member. No member throws.
class Clock {
 public:
  virtual ~Clock() = default;
  // Wall time.
  virtual UtcMs Now() const = 0;
  // Monotonic time, ms since boot.
  virtual int64_t MonotonicMs() const = 0;
  // Settled time. SettledNow() follows a step back at once, RetentionNow() ignores it like a step
  // forward: use RetentionNow() for dropping data by its date where the data can be made again. A
  // clock without this distinction returns wall time for both.
  virtual UtcMs SettledNow() const { return Now(); }
  virtual UtcMs RetentionNow() const { return Now(); }
  // For how many ms the wall clock has disagreed with the settled clock; 0 while they agree.
  virtual int64_t AwayForMs() const { return 0; }
  // True if the system reports that its wall clock is synchronised (NTP).
  virtual bool IsSynchronised() const { return false; }
};

// The clock of the machine: CLOCK_REALTIME and CLOCK_MONOTONIC. Lives as long as the process.
const Clock& SystemClock();

// The form in which every timestamp leaves the program (contract section 1): RFC 3339 in UTC with
// milliseconds and "Z", as "2026-11-20T18:03:11.204Z".
std::string FormatInstant(UtcMs instant);
void AppendInstant(std::string& out, UtcMs instant);

// Parses RFC 3339 with any offset. A fraction is optional and truncated to milliseconds. Nothing if
// the text is malformed, is not a real date, or lies outside the years 1970 to 9999 in UTC. A leap
// second (23:59:60) is read as the second after it.
std::optional<UtcMs> ParseInstant(std::string_view text);

// A calendar day without a time zone: date filters and business days.
struct Day {
  int year = 1970;
  int month = 1;
  int day = 1;

  bool operator==(const Day&) const = default;
};

// "YYYY-MM-DD"; nothing if malformed or not a real day.
std::optional<Day> ParseDay(std::string_view text);
std::string FormatDay(Day day);
Day NextDay(Day day);
Day PreviousDay(Day day);

}  // namespace comanda
