#pragma once

// Which displays watch which stations (contract section 20: the poll is the heartbeat). In memory.
// A display is present while a poll of it waits, and kPresentMs longer; a station is watched while
// a display that shows it is present. After a restart nobody has been present yet.

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"
#include "db/company_id.h"

namespace comanda::kitchen {

// How a display describes itself with a poll.
struct DisplayState {
  std::vector<std::string> stations;  // empty: all
  bool is_muted = false;
  bool is_awake = true;

  bool operator==(const DisplayState&) const = default;
};

struct Display {
  std::string key_id;
  std::string name;     // of the key
  std::string display;  // what it calls itself: two tabs of one key are two displays
  DisplayState state;
  UtcMs last_seen_at = 0;
  std::optional<UtcMs> muted_since;
  int64_t muted_ms = 0;  // for how long, whatever the clock was set to
  bool is_present = false;

  bool Shows(std::string_view station) const;
};

// Thread-safe.
class Presence {
 public:
  static constexpr int64_t kPresentMs = 10'000;
  // Of one company. A further one takes the place of the one that was seen longest ago.
  static constexpr size_t kDisplaysMax = 200;
  // A display that was not seen for so long is forgotten.
  static constexpr int64_t kKeptMs = 7LL * 24 * 60 * 60'000;

  explicit Presence(const Clock& clock) : clock_(clock), begin_ms_(clock.MonotonicMs()) {}

  // One poll of a display: it is present for the life of this object. `name`: of the key.
  class Poll {
   public:
    Poll(Presence& presence, db::CompanyId company, std::string key_id, std::string display,
         DisplayState state, std::string name);
    ~Poll();
    Poll(const Poll&) = delete;
    Poll& operator=(const Poll&) = delete;

    // The revision of the alerts that the display got last; 0 at first.
    int64_t alerts_seen() const;
    void NoteAlerts(int64_t revision);

   private:
    Presence& presence_;
    const db::CompanyId company_;
    const std::string key_id_, display_;
  };

  // Those seen within kKeptMs, by name and display.
  std::vector<Display> Displays(db::CompanyId company);
  // For how long no display that shows the station has been present; 0: one is. Since the start of
  // the process if none was.
  int64_t AbsentMs(db::CompanyId company, std::string_view station);
  // Whether a display that shows the station is present.
  bool IsWatched(db::CompanyId company, std::string_view station);
  // Whether this process has seen a display that shows the station.
  bool WasWatched(db::CompanyId company, std::string_view station);
  std::vector<db::CompanyId> Companies() const;
  bool empty() const;

 private:
  struct Entry {
    std::string name;
    DisplayState state;
    int polls = 0;        // under way
    int64_t last_ms = 0;  // monotonic
    UtcMs last_at = 0;
    std::optional<UtcMs> muted_since;
    int64_t muted_since_ms = 0;  // monotonic
    int64_t alerts_seen = 0;
  };
  using EntryKey = std::pair<std::string, std::string>;  // key, display
  struct Kitchen {
    std::map<EntryKey, Entry> displays;
    // Until when a display was present that shows another station now, or is forgotten. An empty
    // name stands for all stations.
    std::map<std::string, int64_t, std::less<>> left_ms;
  };

  bool IsPresent(const Entry& entry, int64_t now_ms) const;
  void Leave(Kitchen& kitchen, const Entry& entry, int64_t now_ms);
  void Begin(db::CompanyId company, const EntryKey& key, DisplayState state, std::string name);
  void End(db::CompanyId company, const EntryKey& key);
  void ForgetOldest(Kitchen& kitchen, int64_t now_ms);

  const Clock& clock_;
  const int64_t begin_ms_;
  mutable std::mutex mutex_;
  std::map<int64_t, Kitchen> kitchens_;  // guarded by mutex_; by company
};

}  // namespace comanda::kitchen
