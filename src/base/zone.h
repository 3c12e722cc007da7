#pragma once

// IANA time zones, from the system's zone data (never guessed: a missing zone is an error).

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace comanda {

// A wall-clock reading in some zone. weekday: 0 is Monday.
struct LocalTime {
  Day day;
  int minute_of_day = 0;  // 0..1439
  int weekday = 0;
};

// An immutable zone; cheap to copy; any thread.
class Zone {
 public:
  // Nothing where the system has no data for that name.
  static std::optional<Zone> Find(std::string_view iana_name);

  const std::string& name() const { return name_; }
  LocalTime ToLocal(UtcMs instant) const;
  // The first instant at which the wall clock reads that minute of that day or later (a skipped
  // hour gives the instant after the gap; of a repeated hour the first).
  UtcMs ToInstant(Day day, int minute_of_day) const;

 private:
  struct Data;
  Zone(std::string name, std::shared_ptr<const Data> data);
  std::string name_;
  std::shared_ptr<const Data> data_;
};

}  // namespace comanda
