#include "base/time/zone.h"

#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

#include "base/check.h"
#include "base/concat.h"
#include "base/file.h"
#include "base/problem.h"
#include "base/text.h"
#include "base/time/zone_names.h"

#include "cctz/civil_time.h"
#include "cctz/time_zone.h"

namespace comanda {
namespace {

using Seconds = cctz::time_point<cctz::seconds>;

constexpr size_t kNameBytesMax = 64;

// Rejects names that are not entries of the zone data. The name becomes part of a path, and cctz
// accepts names of its own (the machine's zone, fixed offsets) that other systems do not
// understand. Slashes only between words, so that each zone has one name.
bool IsZoneName(std::string_view name) {
  if (name.empty() || name.size() > kNameBytesMax) return false;
  if (name.front() == '/' || name.back() == '/' || name.find("//") != name.npos) return false;
  if (name == "localtime" || name == "UTC0" || name.starts_with("Fixed/")) return false;
  for (const char c : name) {
    if (!IsAlphanumeric(c) && c != '/' && c != '_' && c != '+' && c != '-') return false;
  }
  return true;
}

std::string DirectoryOfZones() {
  const char* directory = std::getenv("TZDIR");
  return directory != nullptr && *directory != '\0' ? directory : "/usr/share/zoneinfo";
}

// Which file it is, and of which content as far as that is known without reading it.
struct FileStamp {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = 0;
  int64_t modified_s = 0, modified_ns = 0;
  bool operator==(const FileStamp&) const = default;
};

std::optional<FileStamp> StampOf(const std::string& path) {
  struct stat found = {};
  if (::stat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return std::nullopt;
  return FileStamp{.device = found.st_dev,
                   .inode = found.st_ino,
                   .size = found.st_size,
                   .modified_s = found.st_mtim.tv_sec,
                   .modified_ns = found.st_mtim.tv_nsec};
}

// Whether the file can be read, and begins as zone data do (RFC 8536 section 3.1).
bool HoldsZone(const std::string& path) {
  try {
    const std::optional<std::string> bytes = ReadFile(path);
    return bytes && bytes->starts_with("TZif");
  } catch (const Fault&) {
    return false;
  }
}

// The zones that this process has read, by name. cctz keeps what it has read of a name, also that
// there was nothing, until the process ends: a file that was replaced is read under another
// spelling of its path. A file that cannot be read does not get to cctz. Any thread.
class ReadZones {
 public:
  struct Found {
    cctz::time_zone zone;
    bool is_on_disk = false;
  };

  std::optional<Found> Find(const std::string& name) {
    const std::string path = DirectoryOfZones() + "/" + name;
    const std::optional<FileStamp> stamp = StampOf(path);
    const std::lock_guard lock(mutex_);
    const auto known = zones_.find(name);
    if (!stamp) {
      if (known == zones_.end() || !known->second.zone) return std::nullopt;
      return Found{.zone = *known->second.zone, .is_on_disk = false};
    }
    if (known == zones_.end() || known->second.stamp != stamp) {
      if (HoldsZone(path)) Load(name, *stamp);
    }
    const auto loaded = zones_.find(name);
    if (loaded == zones_.end() || !loaded->second.zone) return std::nullopt;
    return Found{.zone = *loaded->second.zone,
                 .is_on_disk = loaded->second.stamp == stamp && loaded->second.is_sound};
  }

 private:
  struct Entry {
    std::optional<FileStamp> stamp;       // of what was read last
    bool is_sound = false;                // what was read last was zone data
    std::optional<cctz::time_zone> zone;  // the last that was
    std::string spelling;                 // under which cctz knows it
  };

  void Load(const std::string& name, const FileStamp& stamp) {
    Entry& entry = zones_[name];
    entry.spelling = entry.spelling.empty() ? name : "./" + entry.spelling;
    entry.stamp = stamp;
    cctz::time_zone zone;
    // On failure cctz substitutes UTC and returns false.
    entry.is_sound = cctz::load_time_zone(entry.spelling, &zone);
    if (entry.is_sound) entry.zone = zone;
  }

  std::mutex mutex_;
  std::map<std::string, Entry> zones_;  // guarded by mutex_; at most one for each file
};

ReadZones& Zones() {
  static ReadZones zones;
  return zones;
}

// The data of exactly that name.
std::optional<ReadZones::Found> FindNamed(std::string_view name) {
  if (!IsZoneName(name)) return std::nullopt;
  return Zones().Find(std::string(name));
}

UtcMs ToUtcMs(Seconds instant) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(instant.time_since_epoch()).count();
}

}  // namespace

struct Zone::Data {
  explicit Data(cctz::time_zone read) : zone(read) {}
  cctz::time_zone zone;
};

Zone::Zone(std::string_view name, std::shared_ptr<const Data> data, bool is_on_disk)
    : name_(name), data_(std::move(data)), is_on_disk_(is_on_disk) {}

std::optional<Zone> Zone::Find(std::string_view iana_name) {
  if (!IsZoneName(iana_name)) return std::nullopt;
  std::optional<ReadZones::Found> found = FindNamed(iana_name);
  if (!found || !found->is_on_disk) {
    for (const std::string_view other : OtherZoneNames(iana_name)) {
      const auto same = FindNamed(other);
      if (same && (same->is_on_disk || !found)) found = same;
      if (found && found->is_on_disk) break;
    }
  }
  if (!found) return std::nullopt;
  return Zone(iana_name, std::make_shared<Data>(found->zone), found->is_on_disk);
}

Zone Zone::Fixed(std::string_view name, int utc_offset_s) {
  const cctz::time_zone zone = cctz::fixed_time_zone(cctz::seconds(utc_offset_s));
  return Zone(name, std::make_shared<Data>(zone), false);
}

LocalTime Zone::ToLocal(UtcMs instant) const {
  const auto second = std::chrono::floor<cctz::seconds>(std::chrono::milliseconds(instant));
  const cctz::civil_second local = cctz::convert(Seconds(second), data_->zone);
  LocalTime time;
  time.day = {static_cast<int>(local.year()), local.month(), local.day()};
  time.minute_of_day = local.hour() * 60 + local.minute();
  time.weekday = static_cast<int>(cctz::get_weekday(local));
  return time;
}

int Zone::UtcOffsetS(UtcMs instant) const {
  const auto second = std::chrono::floor<cctz::seconds>(std::chrono::milliseconds(instant));
  return data_->zone.lookup(Seconds(second)).offset;
}

UtcMs Zone::ToInstant(Day day, int minute_of_day) const {
  CHECK(minute_of_day >= 0 && minute_of_day < 24 * 60, "a day has 1440 minutes on the wall");
  const cctz::civil_second local(day.year, day.month, day.day, minute_of_day / 60,
                                 minute_of_day % 60, 0);
  const cctz::time_zone::civil_lookup found = data_->zone.lookup(local);
  const bool skipped = found.kind == cctz::time_zone::civil_lookup::SKIPPED;
  return ToUtcMs(skipped ? found.trans : found.pre);
}

Day Days::Of(UtcMs instant) const {
  // Compares instants, not minutes: a clock that is put back may show the beginning twice.
  const Day date = zone.ToLocal(instant).day;
  return instant < BeginOf(date) ? PreviousDay(date) : date;
}

std::string ZoneNameToStore(std::string_view name) {
  const std::string_view canonical = CanonicalZoneName(name);
  const auto found = FindNamed(canonical);
  return std::string(found && found->is_on_disk ? canonical : name);
}

bool SystemHasZones() {
  const auto found = FindNamed("Etc/UTC");
  return found && found->is_on_disk;
}

std::string ZoneAdvice(std::string_view name) {
  if (!SystemHasZones()) {
    return Concat({"this system has no data of any time zone: `", kInstallZones, "`"});
  }
  if (IsKnownZoneName(name)) {
    return Concat(
        {"the data of ", name, " are missing or damaged on this system: `", kInstallZones, "`"});
  }
  const std::string_view nearest = NearestZoneName(name);
  return nearest.empty()
             ? "no time zone is known by that name"
             : Concat({"no time zone is known by that name; perhaps ", nearest, " was meant"});
}

}  // namespace comanda
