#pragma once

// Time comes in through a door, so that tests own the clock. The rule (contract section 1,
// Timestamps):
//
// - The wall clock gives every stamp that is stored, and judges dates that people name when they
//   name them: a scheduled date, the end of a key, the business day and its order numbers. It may
//   step at any time, by any amount.
// - The monotonic clock measures what lasts while this process runs: deadlines, rates, waits, the
//   grace of a rotated key. It never steps, and begins anew with the machine.
// - The settled clock (base/settled_clock.h) only judges whether an end has come that lies at a
//   wall time: the wall time, without a step ahead that may be a mistake.
// - Counted time (events/marks.h) only judges whether something has been kept long enough: what has
//   certainly passed, over restarts too. No step of the wall clock changes it.
// - What has once ended is written down as ended, and no clock brings it back (keys/keys.h).

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
  virtual UtcMs Now() const = 0;            // the wall clock
  virtual int64_t MonotonicMs() const = 0;  // the monotonic clock
  // The settled clock; and the same without a step back either, for what is dropped by its date
  // and can be made again.
  virtual UtcMs SettledNow() const { return Now(); }
  virtual UtcMs RetentionNow() const { return Now(); }
  // For how long the wall clock has been away from the settled one; 0: it is not.
  virtual int64_t AwayForMs() const { return 0; }
  // Whether the system says that it keeps the wall clock right.
  virtual bool IsSynchronised() const { return false; }
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
