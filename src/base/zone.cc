#include "base/zone.h"

#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <utility>

#include "base/check.h"
#include "base/text.h"

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

// True if cctz will find a file of that name. cctz caches every name it is asked for until the
// process ends, unknown ones too: only names with a file may reach it.
bool HasFile(const std::string& name) {
  const char* directory = std::getenv("TZDIR");
  if (directory == nullptr || *directory == '\0') directory = "/usr/share/zoneinfo";
  struct stat found = {};
  return ::stat((std::string(directory) + "/" + name).c_str(), &found) == 0 &&
         S_ISREG(found.st_mode);
}

UtcMs ToUtcMs(Seconds instant) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(instant.time_since_epoch()).count();
}

}  // namespace

struct Zone::Data {
  cctz::time_zone zone;
};

Zone::Zone(std::string name, std::shared_ptr<const Data> data)
    : name_(std::move(name)), data_(std::move(data)) {}

std::optional<Zone> Zone::Find(std::string_view iana_name) {
  if (!IsZoneName(iana_name)) return std::nullopt;
  std::string name(iana_name);
  if (!HasFile(name)) return std::nullopt;
  auto data = std::make_shared<Data>();
  // On failure cctz substitutes UTC and returns false.
  if (!cctz::load_time_zone(name, &data->zone)) return std::nullopt;
  return Zone(std::move(name), std::move(data));
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

UtcMs Zone::ToInstant(Day day, int minute_of_day) const {
  CHECK(minute_of_day >= 0 && minute_of_day < 24 * 60, "a day has 1440 minutes on the wall");
  const cctz::civil_second local(day.year, day.month, day.day, minute_of_day / 60,
                                 minute_of_day % 60, 0);
  const cctz::time_zone::civil_lookup found = data_->zone.lookup(local);
  const bool skipped = found.kind == cctz::time_zone::civil_lookup::SKIPPED;
  return ToUtcMs(skipped ? found.trans : found.pre);
}

}  // namespace comanda
