#include "app/environment.h"

#include "app/embedded.h"
#include "app/storage.h"
#include "base/log.h"
#include "base/problem.h"
#include "base/random.h"
#include "clients/clients.h"
#include "cloud/link/link.h"
#include "company/companies.h"
#include "db/upgrade_copies.h"
#include "events/log.h"
#include "events/retention.h"
#include "http/idempotency.h"
#include "keys/audit.h"
#include "keys/keys.h"
#include "keys/pairing.h"
#include "machine/hold.h"
#include "menu/catalogue.h"
#include "orders/orders.h"
#include "webhooks/webhooks.h"

namespace comanda::app {
namespace {

db::Settings DatabaseSettings(auth::Mode mode, const config::Options& options, db::DiskSpace& space,
                              const Upgrading& upgrading, bool owns_directory,
                              const std::optional<db::OwnerNote>& standby_note) {
  db::Settings settings = StorageSettings(mode, options);
  settings.migrations = Migrations();
  settings.space = &space;
  settings.is_guest = mode == auth::Mode::kTest;
  settings.upgrading = upgrading;
  settings.is_onlooker = !owns_directory;
  settings.standby_note = standby_note;
  return settings;
}

// A start goes on without what is damaged or cannot be written now: everything else can be served.
// What a malformed page means for writing is decided by the background check.
template <typename Step>
void GoOnWithout(std::string_view what, Step&& step) {
  try {
    RepeatedIfUnread(step);
  } catch (const Fault& fault) {
    if (fault.kind == Fault::Kind::kUnavailable) throw;
    if (fault.kind == Fault::Kind::kDiskReadOnly) return;  // the database has said so
    log::Error("the start goes on without something that is damaged or cannot be written",
               {{"what", what}, {"why", fault.cause}});
  }
}

void LoadKeys(db::Database& database, auth::KeyTable& table) {
  std::vector<std::string> damage;
  try {
    table.Load(
        database.Read([&](db::Snapshot& snapshot) { return keys::LoadAll(snapshot, damage); }));
  } catch (const Fault&) {
    table.NoteUnreadable();
    throw;
  }
  for (const std::string& key : damage) database.damaged_rows().Note(key);
  try {
    keys::GiveChecksums(database);
  } catch (const Fault& fault) {  // a full disk: the next start tries again
    if (fault.kind == Fault::Kind::kDiskReadOnly) return;
    log::Warning("keys have no checksums yet", {{"why", fault.cause}});
  }
}

// Enough for the indexes of some 20,000 orders; those of a larger file are checked while it is
// served.
db::Database& Checked(integrity::Checker& checker, db::Database& database) {
  constexpr int64_t kMaxMs = 1'000;
  checker.CheckBeforeServing(kMaxMs);
  return database;
}

void AuditEach(db::Tx& tx, const db::Stamp& stamp, std::string_view action) {
  for (const company::Company& company : company::All(tx)) {
    keys::Audit(tx, company.company_id, stamp, {"local", action, "", "{}"});
  }
}

auth::GateSettings Rates(auth::Mode mode, const config::Options& options) {
  return {.mode = mode,
          .standard = {options.rate_standard_per_minute},
          .plus = {options.rate_plus_per_minute},
          .lan = {options.rate_lan_per_minute}};
}

}  // namespace

void RaiseEpochs(db::Tx& tx, const db::Stamp& stamp) {
  cloud::NoteRestored(tx, events::LastTime(tx), stamp.now);
  constexpr uint64_t kEpochs = 1'000'000'000;
  const auto by = static_cast<int64_t>(1 + RandomBelow(kEpochs));
  events::RaiseEpochs(tx, by);
  webhooks::NoteRestored(tx, by);
  keys::EndAllCodes(tx, stamp);
  AuditEach(tx, stamp, "backup.restored");
  NoteTakenUp(tx);
}

Environment::Environment(auth::Mode mode, const Process& process, const Upgrading& upgrading,
                         bool owns_directory, const std::optional<db::OwnerNote>& standby_note)
    : mode_(mode),
      options_(process.options),
      clock_(process.clock),
      space_(process.space),
      database_(DatabaseSettings(
                    mode, process.options, process.space,
                    [&](const std::string& step) {
                      was_upgraded_ = true;
                      upgrading(step);
                    },
                    owns_directory, standby_note),
                clock_, process.heartbeats, process.metrics),
      checker_(DatabaseName(mode), database_, space_, clock_),
      marks_(Checked(checker_, database_), clock_, Migrations().back().number),
      gate_(Rates(mode, options_), keys_, clock_),
      zones_(DatabaseName(mode), database_, clock_),
      graces_(clock_) {
  database_.SetAfterCommit([this] { feed_.Committed(); });
  TakeUp();
  LoadMemory();
  if (was_upgraded_)
    GoOnWithout("skus that differ only in case", [&] { menu::LogTwinSkus(database_); });
  try {
    clients::MakeSearchable(database_, [&] { upgrading("clients"); });
  } catch (const Fault& fault) {  // e.g. a full disk; the chores try again
    if (fault.kind != Fault::Kind::kDiskReadOnly)
      log::Error("some clients cannot be searched for yet", {{"why", fault.cause}});
  }
}

void Environment::TakeUp() {
  GoOnWithout("the counters", [&] { integrity::MendCounters(database_); });
  GoOnWithout("the time of the last event",
              [&] { database_.ContinueFrom(database_.Read(events::LastTime)); });
  GoOnWithout("whether this is a copy", [&] { TakeUpCopy(); });
  if (hold_.IsHeld()) {
    log::Warning("outgoing messages are held",
                 {{"file", DatabaseName(mode_)}, {"state", hold_.Describe()}});
  }
  NoteServed();
}

void Environment::LoadMemory() {
  GoOnWithout("the counters in memory", [&] {
    database_.Read(
        [&](db::Snapshot& snapshot) { events::LoadCounters(snapshot, database_.counters()); });
  });
  GoOnWithout("the time zones", [&] { zones_.Look(); });
  GoOnWithout("the keys", [&] { LoadKeys(database_, keys_); });
  GoOnWithout("the pairing codes", [&] {
    gate_.pairing_codes().Load(
        database_.Read([&](db::Snapshot& snapshot) { return keys::LoadCodes(snapshot, clock_); }));
  });
  GoOnWithout("the graces of webhooks' secrets", [&] {
    database_.Read([&](db::Snapshot& snapshot) { webhooks::LoadGraces(snapshot, graces_); });
  });
}

// Whether the database was restored, and whether another machine has served it: both in one
// transaction, so that a power cut between them loses neither. The hold is in force before it is
// written, and also where it cannot be.
void Environment::TakeUpCopy() {
  const std::string machine_id = MachineOf(database_);
  const UtcMs now = clock_.Now();
  std::optional<machine::Kept> kept;
  GoOnWithout("on which machine the data were served", [&] {
    kept = database_.Read([](db::Snapshot& snapshot) { return machine::Find(snapshot); });
  });
  machine::Verdict verdict = machine::Judge(kept, machine_id, true);
  if (verdict == machine::Verdict::kHeld) hold_.Set(now);
  const bool is_restored = WentBack(database_, mode_, options_, was_upgraded_);
  verdict = machine::Judge(kept, machine_id, is_restored);
  if (verdict != machine::Verdict::kHeld) hold_.Release();
  if (kept && kept->held_since) hold_.Set(*kept->held_since);
  const bool is_known =
      kept && verdict == machine::Verdict::kAdopted && kept->machine_id == machine_id;
  if (is_known || (!is_restored && verdict == machine::Verdict::kSame)) {
    is_taken_up_ = true;
    return;
  }
  database_.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    if (is_restored) RaiseEpochs(tx, stamp);
    machine::Keep(tx, verdict, machine_id, now);
    if (verdict == machine::Verdict::kHeld) AuditEach(tx, stamp, "outgoing.held");
  });
  is_taken_up_ = true;
  if (!is_restored) return;
  log::Warning(
      "a backup was restored, or a copy put in place: keys that were revoked since it was taken "
      "are valid again",
      {{"file", DatabasePath(mode_, options_)}});
}

bool Environment::EndHold(const std::function<void()>& ends) {
  return database_.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    const bool has_ended = machine::Resume(tx);
    if (has_ended) AuditEach(tx, stamp, "outgoing.resumed");
    tx.OnCommit([this, ends] {
      hold_.Release();
      ends();
    });
    return has_ended;
  });
}

Environment::~Environment() { NoteServed(); }

// If it cannot be written, e.g. on a full disk, the next start may take the database for a restored
// copy: that raises the epoch and costs each display one read.
void Environment::NoteServed() {
  if (space_.is_read_only()) return;
  try {
    app::NoteServed(database_, mode_, options_);
  } catch (const std::exception& error) {
    log::Warning("what is served is not noted", {{"why", error.what()}});
  }
}

void Environment::DoChores(const std::function<void()>& progress) {
  if (database_.IsReadOnly()) return;
  NoteServedNowAndThen(database_, mode_, options_);
  if (!is_taken_up_) {  // the disk was read-only at the start
    integrity::MendCounters(database_);
    TakeUpCopy();
    NoteServed();
  }
  if (space_.fullness() < db::Fullness::kOrdersOnly) {
    clients::MakeSearchable(database_, progress);
    menu::RenderStale(database_, progress);
    FlushKeyUse();
  }
  keys::DeleteOldCodes(database_, gate_.pairing_codes(), clock_);
  marks_.MakeIfDue();
  // Also on a full disk: the space of deleted rows is used by new orders.
  const auto old = database_.Read(
      [&](db::Snapshot& snapshot) { return marks_.LastBefore(snapshot, events::kKeptMs); });
  if (old) http::idempotency::Purge(database_, *old);
  progress();
  events::Purge(database_, clock_, marks_, feed_,
                {.holds_record = orders::HoldsRecord, .release_record = orders::ReleaseRecord});
}

void Environment::FlushKeyUse() {
  if (!database_.IsReadOnly()) keys::FlushLastUsed(database_, keys_);
}

std::vector<EndingKind> Environment::EndingKinds() {
  return {
      {.name = "API keys",
       .due_in_ms = [this] { return keys::DueInMs(keys_, clock_); },
       .write_down = [this] { keys::WriteDownEnds(database_, keys_, clock_); }},
      {.name = "pairing codes",
       .due_in_ms = [this] { return keys::CodesDueInMs(gate_.pairing_codes(), clock_); },
       .write_down =
           [this] { keys::WriteDownExpiredCodes(database_, gate_.pairing_codes(), clock_); }},
  };
}

bool Environment::UpgradeIsOld() {
  return database_.Read([&](db::Snapshot& snapshot) {
    return marks_.IsUpgradedFor(snapshot, db::kUpgradeCopyKeptMs);
  });
}

}  // namespace comanda::app
