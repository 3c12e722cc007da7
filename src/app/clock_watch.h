#pragma once

// Tells log and audit when the clock was stepped (contract section 1), and remembers over a restart
// that it is away: the last row in the audit log says so.

#include <optional>

#include "base/settled_clock.h"
#include "db/database.h"

namespace comanda::app {

class ClockWatch {
 public:
  // Both outlive it. Goes on from where the process before ended: from the audit log, or where the
  // last event is more than a day ago and nobody vouches for the clock, from that event.
  ClockWatch(SettledClock& clock, db::Database& live, bool is_synchronised);

  // Now and then, by the thread that made it. True where the clock was stepped, or a step was
  // believed.
  bool Look();

 private:
  void Resume();
  void Note(const SettledClock::Step& step);
  bool MayNote();

  SettledClock& clock_;
  db::Database& live_;
  std::optional<SettledClock::Step> to_note_;
  int64_t notes_left_;
  int64_t note_more_at_ms_ = 0;
};

}  // namespace comanda::app
