#pragma once

// IANA time zones, read from the system's zone data. A zone without data is for the caller to deal
// with; here it is never replaced by a guess.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/time/clock.h"

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
  // The data of that name, else of another name of the same zone (base/time/zone_names.h), else
  // what this process has read of them before. Nothing if the name is malformed or there is none of
  // these. Looks at the file each time, and reads it again when it was replaced: what was mended is
  // found without a restart.
  static std::optional<Zone> Find(std::string_view iana_name);
  // A zone that is always so far east of UTC: for one without data.
  static Zone Fixed(std::string_view name, int utc_offset_s);

  // As asked for.
  const std::string& name() const { return name_; }
  // False if the data were read earlier by this process, and the file is gone or damaged now.
  bool is_on_disk() const { return is_on_disk_; }
  LocalTime ToLocal(UtcMs instant) const;
  // Seconds east of UTC.
  int UtcOffsetS(UtcMs instant) const;
  // The first instant at which the wall clock of the zone shows that minute of that day, or a later
  // one: of an hour that a change of the clock repeats the first, of an hour that it skips the
  // instant of the change. `minute_of_day` is 0 to 1439 (CHECK).
  UtcMs ToInstant(Day day, int minute_of_day) const;

 private:
  struct Data;
  Zone(std::string_view name, std::shared_ptr<const Data> data, bool is_on_disk);
  std::string name_;
  std::shared_ptr<const Data> data_;
  bool is_on_disk_ = true;
};

// Divides time into days: a day begins when the zone's wall clock shows that minute of its date.
struct Days {
  Zone zone;
  int starts_at = 0;  // minutes after midnight, 0 to 1439

  Day Of(UtcMs instant) const;
  UtcMs BeginOf(Day day) const { return zone.ToInstant(day, starts_at); }
  UtcMs EndOf(Day day) const { return BeginOf(NextDay(day)); }
};

// The name to store for a zone: today's (base/time/zone_names.h) where the system has data for it,
// else the name itself, since an older system may have data for that alone.
std::string ZoneNameToStore(std::string_view name);

// True if the system has zone data at all.
bool SystemHasZones();

// Brings the data back, also where the package is installed and its files are gone.
inline constexpr std::string_view kInstallZones = "apt install --reinstall tzdata";

// Why there is no data for that name, and what helps: the command, or the name that was probably
// meant.
std::string ZoneAdvice(std::string_view name);

}  // namespace comanda
