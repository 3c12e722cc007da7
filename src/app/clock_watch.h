#pragma once

// Writes to log and audit when the wall clock was stepped (contract section 1), and keeps over a
// restart what the settled clock showed and for how long the wall clock has been away from it, in
// the last mark (events/marks.h).

#include <optional>

#include "base/settled_clock.h"
#include "db/database.h"
#include "events/marks.h"

namespace comanda::app {

class ClockWatch {
 public:
  // All outlive it. Where the system does not vouch for the wall clock: lets the settled clock go
  // on from the last mark, if the wall clock was away then and still is, or if more than a day lies
  // between the mark and now. That is a box that was switched off, or a clock that is wrong; both
  // look the same from here.
  ClockWatch(SettledClock& clock, db::Database& live, events::Marks& marks);

  // Now and then, by the thread that made it. True where the clock was stepped, or a step was
  // believed.
  bool Look();

 private:
  void Resume();
  void ResumeFrom(UtcMs settled, int64_t stood_ms);
  void Note(const SettledClock::Step& step);
  bool MayNote();

  SettledClock& clock_;
  db::Database& live_;
  events::Marks& marks_;
  std::optional<SettledClock::Step> to_note_;
  int64_t notes_left_;
  int64_t note_more_at_ms_ = 0;
};

}  // namespace comanda::app
