#pragma once

// What the kitchen does not see: a station with dishes that nobody watches, a display that is muted
// (contract section 20). A background thread compares presence (kitchen/presence.h) with the lines
// that wait, once a second while a station is, or was lately, watched; else it sleeps. It writes
// when stations were watched, at most once an hour each.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/heartbeat.h"
#include "base/metrics.h"
#include "base/time/clock.h"
#include "db/database.h"
#include "events/worker.h"
#include "http/key_display.h"
#include "http/room_object.h"
#include "kitchen/presence.h"
#include "kitchen/store.h"

namespace comanda::kitchen {

struct Alert {
  enum class Kind : uint8_t { kStationUnwatched, kDisplayMuted };
  Kind kind = Kind::kStationUnwatched;
  std::string name;  // of the station, or of the display's key
  UtcMs since = 0;

  bool operator==(const Alert&) const = default;
};

// All of a company, as they are now. Immutable.
struct Alerts {
  int64_t revision = 0;  // rises with each change
  std::vector<Alert> alerts;
};

struct WatchSettings {
  std::string name;  // of the thread
  const Clock& clock;
  db::Database& database;
  std::function<void()> wake_polls;  // lets all long polls look again
  bool has_thread = true;            // false: of a command, which serves no display
};

// Methods may be called by any thread.
class Watch : public http::RoomObject {
 public:
  Watch(WatchSettings settings, Heartbeats& heartbeats, metrics::Registry& registry);

  Presence& presence() { return presence_; }
  // To be called when a display has begun a poll: there may be something to watch from now on.
  void NoteDisplay();
  std::shared_ptr<const Alerts> AlertsOf(db::CompanyId company) const;
  std::optional<UtcMs> UnwatchedSince(db::CompanyId company, const std::string& station) const;
  // The stations, from memory where the catalogue has not changed. May read the database.
  std::shared_ptr<const std::vector<store::Station>> StationsOf(db::CompanyId company);
  // All that were seen lately, for the list of devices.
  std::vector<http::KeyDisplay> DisplaysOf(db::CompanyId company);
  // For /readyz, without names; empty: no display was ever used.
  std::string Describe() const;
  // Of all companies.
  struct Totals {
    size_t displays = 0, unwatched = 0, muted = 0;
    int64_t unwatched_open_s = 0;
  };
  Totals Sum() const;

  // One look at a company. For the thread, and for tests.
  void Look(db::CompanyId company);

 private:
  struct Kitchen {
    std::map<std::string, UtcMs> unwatched_since;  // by station
    std::map<std::string, UtcMs> unwatched_open;   // the same, counted while it is open alone
    std::shared_ptr<const Alerts> alerts = std::make_shared<const Alerts>();
    size_t displays = 0;  // present
  };

  struct Seen;
  Seen See(db::Session& session, db::CompanyId company);
  // Whether the alerts have changed.
  bool Publish(db::CompanyId company, const Seen& seen);
  events::Worker::Done Pass(events::Worker::Pass& pass);
  std::vector<db::CompanyId> Watched();
  void WriteWatched(db::CompanyId company, const std::vector<store::Station>& stations);

  const WatchSettings settings_;
  Presence presence_;
  mutable std::mutex mutex_;
  std::map<int64_t, Kitchen> kitchens_;  // guarded by mutex_; by company
  struct Known {
    int64_t revision = -1;
    std::shared_ptr<const std::vector<store::Station>> stations;
  };
  std::map<int64_t, Known> stations_;  // guarded by mutex_; by company
  // Companies with a station that was watched before this process; of the thread alone.
  std::optional<std::vector<db::CompanyId>> watched_before_;
  metrics::Gauge displays_, unwatched_, muted_, unwatched_open_;
  std::optional<events::Worker> worker_;  // last: it uses the members above
};

}  // namespace comanda::kitchen
