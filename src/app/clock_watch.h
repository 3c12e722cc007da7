#pragma once

// Watches the wall clock for steps (contract section 1). A step is logged and written to the audit
// log of every company. Before a restart, the settled clock (base/time/settled_clock.h) and the
// time for which the wall clock has differed from it are stored in the last mark (events/marks.h);
// after the restart the settled clock resumes from there.

#include <optional>

#include "base/time/settled_clock.h"
#include "db/database.h"
#include "events/marks.h"

namespace comanda::app {

// Belongs to the thread that made it.
class ClockWatch {
 public:
  // The arguments must outlive it. Resumes the settled clock from the last mark unless the system
  // reports the wall clock as synchronised, in two cases: the wall clock differed from the settled
  // clock at the mark and still does; or more than a day lies between the mark and now. In the
  // second case the box was switched off or the wall clock is wrong, which cannot be distinguished.
  // Throws what the database throws.
  ClockWatch(SettledClock& clock, db::Database& live, events::Marks& marks);

  // Called twice a second. True if the wall clock was stepped, or the settled clock has accepted a
  // step. Throws what the database throws; the audit entry is then written by a later call.
  bool Look();

 private:
  void Resume();
  void ResumeFrom(UtcMs settled, int64_t stood_ms);
  void Note(const SettledClock::Step& step);
  bool MayNote();

  SettledClock& clock_;
  db::Database& live_;
  events::Marks& marks_;
  std::optional<SettledClock::Step> to_note_;  // a step that is not in the audit log yet
  int64_t notes_left_;                         // audit entries that may be written now
  int64_t note_more_at_ms_ = 0;                // when one more may be; monotonic clock
};

}  // namespace comanda::app
