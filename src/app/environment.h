#pragma once

// One environment: a database and its story, from the upgrade at a start to the chores, with what
// of it is kept in memory. A box has two: live, and test, which is the sandbox. They share no data
// (contract section 14), only what the process has one of (app/process.h).

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/process.h"
#include "auth/gate.h"
#include "auth/key_table.h"
#include "base/time/clock.h"
#include "base/time/ends.h"
#include "company/zones.h"
#include "config/options.h"
#include "db/database.h"
#include "db/disk_space.h"
#include "events/feed.h"
#include "events/marks.h"
#include "events/worker.h"
#include "integrity/checker.h"
#include "machine/hold.h"
#include "webhooks/graces.h"

namespace comanda::app {

// For data that miss what was acknowledged after they were copied: raises the epochs, so that
// clients discard the cursors and entity tags of changes that the copy does not contain, and writes
// this to the audit log.
void RaiseEpochs(db::Tx& tx, const db::Stamp& stamp);

// Methods may be called by any thread unless they say otherwise.
class Environment {
 public:
  // Opens and upgrades the database, which blocks for the time of the upgrade; loads keys and
  // change counters into memory. If the file is a restored copy, raises the epoch of its event logs
  // (app/served.h). The caller holds the lock of the data directory, or, with
  // `owns_directory` false, the directory is read-only and nothing is to be written. Fault where
  // the database cannot be used.
  Environment(auth::Mode mode, const Process& process, const Upgrading& upgrading,
              bool owns_directory = true,
              const std::optional<db::OwnerNote>& standby_note = std::nullopt);
  ~Environment();

  auth::Mode mode() const { return mode_; }
  db::Database& database() { return database_; }
  events::Feed& feed() { return feed_; }
  events::Marks& marks() { return marks_; }
  auth::Gate& gate() { return gate_; }
  webhooks::Graces& graces() { return graces_; }
  company::ZoneKeeper& zones() { return zones_; }
  const machine::Hold& hold() const { return hold_; }

  // The periodic work: writes the last use of keys to the database, deletes expired events and
  // idempotency answers, completes what an import or upgrade left for later. Blocks for
  // the writer; calls `progress` between steps, which ends the chores if it throws. The thread of
  // the chores alone.
  void DoChores(const std::function<void()>& progress);
  // Runs a part of the background check (integrity/checker.h) and returns the ms to wait before the
  // next one. The thread of the checks alone.
  int64_t CheckPart(events::Worker::Pass& pass) {
    return checker_.DoPart([&] { pass.Beat(); });
  }
  // What ends by time: API keys and pairing codes.
  std::vector<EndingKind> EndingKinds();
  // Writes to the database when keys were last used, which is kept in memory meanwhile.
  void FlushKeyUse();
  // Ends the hold of outgoing messages; false where there was none. Calls `ends` within the commit
  // that does so. Blocks for the writer.
  bool EndHold(const std::function<void()>& ends);
  // True if the database has been in use since its last upgrade for as long as the copy from before
  // it is kept (db::kUpgradeCopyKeptMs).
  bool UpgradeIsOld();

 private:
  void TakeUp();
  void TakeUpCopy();
  void LoadMemory();
  void NoteServed();

  const auth::Mode mode_;
  const config::Options& options_;
  const Clock& clock_;
  const db::DiskSpace& space_;
  bool was_upgraded_ = false;  // this start upgraded or made the database
  bool is_taken_up_ = false;   // TakeUpCopy() has come to its end
  events::Feed feed_;          // before database_, whose commits call it
  db::Database database_;
  integrity::Checker checker_;
  events::Marks marks_;
  auth::KeyTable keys_;
  auth::Gate gate_;
  company::ZoneKeeper zones_;
  machine::Hold hold_;
  webhooks::Graces graces_;
};

}  // namespace comanda::app
