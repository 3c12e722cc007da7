#pragma once

// IANA time zones, read from the system's zone data. A zone without data is an error for the caller
// to report, never replaced by a guess.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace comanda {

// A reading of the wall clock in some zone.
struct LocalTime {
  Day day;
  // 0 to 1439.
  int minute_of_day = 0;
  // 0 is Monday.
  int weekday = 0;
};

// One immutable time zone. Cheap to copy; any thread.
class Zone {
 public:
  // Nothing if the name is malformed or the system has no data for it. Reads a file the first time
  // a name is asked for.
  static std::optional<Zone> Find(std::string_view iana_name);

  const std::string& name() const { return name_; }
  LocalTime ToLocal(UtcMs instant) const;
  // The first instant at which the wall clock of the zone shows that minute of that day, or a later
  // one: of an hour that a change of the clock repeats the first, of an hour that it skips the
  // instant of the change. `minute_of_day` is 0 to 1439 (CHECK).
  UtcMs ToInstant(Day day, int minute_of_day) const;

 private:
  struct Data;
  Zone(std::string name, std::shared_ptr<const Data> data);
  std::string name_;
  std::shared_ptr<const Data> data_;
};

}  // namespace comanda
