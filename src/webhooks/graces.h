#pragma once

// The graces of rotated secrets (contract section 13). For its length, up to a day, the old secret
// of a webhook signs messages beside the new one; then it is deleted from the row
// (base/time/ends.h).

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time/clock.h"
#include "db/database.h"
#include "http/room_object.h"
#include "webhooks/subscription.h"

namespace comanda::webhooks {

struct Grace {
  db::CompanyId company;
  std::string webhook_id;
  UtcMs until = 0;              // as the row has it: Subscription::secret_rotates_until
  int64_t ends_at_ms = 0;       // monotonic
  bool end_is_written = false;  // the row has no old secret any more
};

// The graces of one database in memory, with their ends in monotonic time, which never steps. Any
// thread.
class Graces : public http::RoomObject {
 public:
  explicit Graces(const Clock& clock) : clock_(clock) {}

  // Takes up the grace of a webhook in place of its former one.
  void Put(Grace grace);
  // Notes that the end is stored, unless another grace has taken its place. The grace stays known
  // for an hour: the deliverer may have read the row before.
  void NoteWritten(const Grace& grace);
  // True while the old secret of the subscription signs.
  bool Lasts(db::CompanyId company, const Subscription& subscription) const;
  // Those whose end is reached and not stored yet.
  std::vector<Grace> Ended() const;
  // Milliseconds until the next one ends; nothing if none lasts.
  std::optional<int64_t> DueInMs() const;
  const Clock& clock() const { return clock_; }

 private:
  const Clock& clock_;
  mutable std::mutex mutex_;
  // By company and id of the webhook. Guarded by mutex_.
  std::map<std::pair<int64_t, std::string>, Grace> graces_;
};

// Takes up those of all companies, at start: each for what is left of it by settled time, a day at
// most. A damaged webhook is left out: nothing is sent to it.
void LoadGraces(db::Session& session, Graces& graces);
// Deletes the old secrets whose grace has ended. True if rows were changed: the deliverer must read
// them again. Blocks for the writer; does nothing if no grace has ended. Throws Fault; the grace
// stays ended in memory, and the next call tries again.
bool WriteDownEndedGraces(db::Database& database, Graces& graces);

}  // namespace comanda::webhooks
