#pragma once

// Opens the databases of a copied data directory as a server would, migrations included, and looks
// whether everything in them is as it was written. For `comanda restore` and `comanda drill`, which
// do this in a directory that nobody serves yet.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "auth/key.h"
#include "base/time/clock.h"
#include "config/options.h"
#include "integrity/finding.h"

namespace comanda::app {

struct Trial {
  integrity::Findings damage;
  int64_t orders = 0;
  int64_t changes = 0;  // events::TotalOfChanges, before it was opened
  // The last moment that the database knows of: of a change, or of a mark of time.
  UtcMs until = 0;
  struct LastOrder {
    std::string public_id;
    UtcMs created_at = 0;
  };
  std::optional<LastOrder> last_order;  // none where there is no order, or it is damaged
  bool is_held = false;                 // outgoing messages (machine/hold.h)
  std::vector<std::string> notes;       // time zones without data on this machine
};

// The database DIR/live.db or DIR/test.db of `options`. Called without damage, or where damage is
// accepted: `accept_damage` gets what was found before the database is opened, and ends the trial
// by throwing. Blocks for as long as reading everything takes; `progress` is called with each step
// of an upgrade. The caller holds the lock of the directory. Fault where the database cannot be
// used.
Trial TryDatabase(auth::Mode mode, const config::Options& options,
                  const std::function<void(const integrity::Findings&)>& accept_damage,
                  const std::function<void(const std::string& step)>& progress);

}  // namespace comanda::app
