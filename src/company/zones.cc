#include "company/zones.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/build_date.h"
#include "base/concat.h"
#include "base/log.h"
#include "base/problem.h"
#include "base/time/zone.h"
#include "company/store.h"
#include "events/log.h"

namespace comanda::company {
namespace {

// "UTC-05:00".
std::string OffsetText(int utc_offset_s) {
  const int minutes = std::abs(utc_offset_s) / 60;
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "UTC%c%02d:%02d", utc_offset_s < 0 ? '-' : '+',
                minutes / 60, minutes % 60);
  return text.data();
}

std::string FallbackText(const StoredZone& zone) {
  return zone.utc_offset_s ? Concat({OffsetText(*zone.utc_offset_s),
                                     ", the offset last known, without daylight saving time"})
                           : "UTC, because no offset was ever known";
}

// Empty where the system has data.
std::string TroubleOf(const StoredZone& stored) {
  const std::optional<Zone> zone = Zone::Find(stored.timezone);
  if (zone && zone->is_on_disk()) return "";
  const std::string advice = Concat({stored.timezone, ": ", ZoneAdvice(stored.timezone)});
  return zone ? Concat({advice, "; the rules that were read before are used until the next start, ",
                        "then ", FallbackText(stored)})
              : Concat({advice, "; orders and reports use ", FallbackText(stored)});
}

// What is to be stored now.
StoredZone Renewed(const StoredZone& stored, UtcMs now) {
  StoredZone renewed = stored;
  renewed.timezone = ZoneNameToStore(stored.timezone);
  const std::optional<Zone> zone = Zone::Find(renewed.timezone);
  renewed.has_data = zone.has_value();
  if (zone) renewed.utc_offset_s = zone->UtcOffsetS(now);
  return renewed;
}

void Write(db::Tx& tx, const StoredZone& former, const StoredZone& renewed,
           const db::Stamp& stamp) {
  const bool is_renamed = former.timezone != renewed.timezone;
  if (UpdateZone(tx, former.timezone, renewed, is_renamed, stamp) == 0) return;
  if (is_renamed) {
    // The company's record shows the name.
    events::RaiseCounter(tx, former.company_id, events::Counter::kCatalogue);
    events::RaiseCounter(tx, former.company_id, events::Counter::kOther);
  }
  // Which orders a filter by date matches.
  if (former.has_data != renewed.has_data) {
    events::RaiseCounter(tx, former.company_id, events::Counter::kOrders);
  }
}

}  // namespace

void ZoneKeeper::Look() {
  const std::vector<StoredZone> stored =
      database_.Read([](db::Snapshot& snapshot) { return SelectZones(snapshot); });
  std::string trouble, companies;
  for (const StoredZone& zone : stored) {
    const std::string one = TroubleOf(zone);
    if (one.empty()) continue;
    companies += (companies.empty() ? "" : ", ") + zone.name;
    // Restaurants of one zone have one trouble.
    if (trouble.find(one) == trouble.npos) trouble += (trouble.empty() ? "" : "; ") + one;
  }
  // Noted first, because the write below fails on a full disk. Its end is noted last: whoever reads
  // that nothing is wrong then gets days that are cut by the zone.
  const bool is_mended = trouble.empty();
  if (!is_mended) Note(std::move(trouble), companies);
  if (!database_.IsReadOnly()) WriteChanged(stored);
  if (is_mended) Note("", "");
}

void ZoneKeeper::WriteChanged(const std::vector<StoredZone>& stored) {
  // A clock that is behind the program's making is wrong, and offsets were others once.
  const UtcMs now = std::max(clock_.Now(), BuildDate());
  std::vector<std::pair<StoredZone, StoredZone>> changed;
  for (const StoredZone& zone : stored) {
    StoredZone renewed = Renewed(zone, now);
    if (renewed != zone) changed.emplace_back(zone, std::move(renewed));
  }
  if (changed.empty()) return;
  database_.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    for (const auto& [former, renewed] : changed) Write(tx, former, renewed, stamp);
  });
  for (const auto& [former, renewed] : changed) {
    if (former.timezone == renewed.timezone) continue;
    log::Notice("a time zone was renamed to its present name", {{"file", file_},
                                                                {"company", former.name},
                                                                {"former", former.timezone},
                                                                {"timezone", renewed.timezone}});
  }
}

void ZoneKeeper::Note(std::string trouble, const std::string& companies) {
  const std::lock_guard lock(mutex_);
  if (trouble == trouble_) return;
  if (trouble.empty()) {
    log::Notice("every time zone has data again", {{"file", file_}});
  } else {
    log::Warning("a time zone has no data",
                 {{"file", file_}, {"companies", companies}, {"trouble", trouble}});
  }
  trouble_ = std::move(trouble);
}

std::string ZoneKeeper::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

std::vector<std::string> ZoneTroubles(db::Session& session) {
  std::vector<std::string> troubles;
  for (const StoredZone& stored : SelectZoneNames(session)) {
    const std::optional<Zone> zone = Zone::Find(stored.timezone);
    if (zone && zone->is_on_disk()) continue;
    troubles.push_back(
        Concat({"the time zone of ", stored.name, ", ", stored.timezone, ": ",
                ZoneAdvice(stored.timezone), "; until then the offset last known is used"}));
  }
  return troubles;
}

}  // namespace comanda::company
