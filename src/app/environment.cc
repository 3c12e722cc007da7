#include "app/environment.h"

#include <charconv>

#include "app/embedded.h"
#include "app/routes.h"
#include "app/served.h"
#include "base/log.h"
#include "base/problem.h"
#include "base/random.h"
#include "clients/clients.h"
#include "company/api.h"
#include "company/companies.h"
#include "db/sqlite/backup.h"
#include "db/sqlite/upgrade_copies.h"
#include "events/log.h"
#include "events/retention.h"
#include "http/idempotency.h"
#include "keys/audit.h"
#include "keys/keys.h"
#include "keys/pairing.h"
#include "machine/hold.h"
#include "machine/machine_id.h"
#include "menu/catalogue.h"
#include "ops/certificates.h"
#include "ops/health.h"
#include "orders/check.h"
#include "orders/orders.h"
#include "webhooks/webhooks.h"

namespace comanda::app {
namespace {

// The size of the cache of list answers: about 50 pages of 50 orders.
constexpr size_t kAnswerBytesMax = 8 * 1024 * 1024;

// Of the tables whose rows have a checksum.
bool IsSound(db::Session& session, const std::string& table, const std::vector<std::string>& key) {
  if (table != "orders") return true;
  int64_t company = 0;
  std::from_chars(key.at(0).data(), key.at(0).data() + key.at(0).size(), company);
  return orders::IsSound(session, db::CompanyId{company}, key.at(1));
}

db::Settings DatabaseSettings(auth::Mode mode, const config::Options& options, db::DiskSpace& space,
                              const Upgrading& upgrading, bool owns_directory) {
  if (mode == auth::Mode::kLive) {
    RefuseLostDatabase(options.data_directory);
    if (options.tls_certificate.empty()) RefuseLostAuthority(options.data_directory);
  }
  return {.path = DatabasePath(mode, options),
          .migrations = Migrations(),
          .space = &space,
          .is_guest = mode == auth::Mode::kTest,
          .check_first = {"idempotency", "orders"},
          .is_sound = IsSound,
          .upgrading = upgrading,
          .is_onlooker = !owns_directory};
}

// A start goes on without what is damaged or cannot be written now: everything else can be served.
// What a malformed page means for writing is decided by the inspector, which knows of the
// statement.
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
db::Database& Checked(db::Database& database) {
  constexpr int64_t kMaxMs = 1'000;
  database.CheckBeforeServing(kMaxMs);
  return database;
}

std::string FileName(auth::Mode mode) { return std::string(Name(mode)) + ".db"; }

Served ServedNow(db::Database& database, auth::Mode mode, const config::Options& options) {
  return {.file = FileIdentity(DatabasePath(mode, options)),
          .changes = database.Read(
              [](db::Snapshot& snapshot) { return events::TotalOfChanges(snapshot); })};
}

// True if the file is a backup, or is not the file that DIR/served describes (app/served.h). A
// database that was upgraded by this start may come from a program that did not write DIR/served.
bool IsRestored(db::Database& database, auth::Mode mode, const config::Options& options,
                bool was_upgraded) {
  if (database.Read([](db::Snapshot& snapshot) { return db::IsBackup(snapshot); })) return true;
  const Served now = ServedNow(database, mode, options);
  const auto noted = FindServed(options.data_directory, FileName(mode));
  if (!noted) return now.changes > 0 && !was_upgraded;
  return noted->file != now.file || now.changes < noted->changes;
}

void AuditEach(db::Tx& tx, const db::Stamp& stamp, std::string_view action) {
  for (const company::Company& company : company::All(tx)) {
    keys::Audit(tx, company.company_id, stamp, {"local", action, "", "{}"});
  }
}

// For a restored copy: raises the epochs, so that clients discard the cursors and entity tags of
// changes that the copy does not contain, and writes this to the audit log.
void RaiseEpochs(db::Tx& tx, const db::Stamp& stamp) {
  cloud::NoteRestored(tx, events::LastTime(tx), stamp.now);
  constexpr uint64_t kEpochs = 1'000'000'000;
  const auto by = static_cast<int64_t>(1 + RandomBelow(kEpochs));
  events::RaiseEpochs(tx, by);
  webhooks::NoteRestored(tx, by);
  keys::EndAllCodes(tx, stamp);
  AuditEach(tx, stamp, "backup.restored");
  db::TakeUp(tx);
}

auth::GateSettings Rates(auth::Mode mode, const config::Options& options) {
  return {.mode = mode,
          .standard = {options.rate_standard_per_minute},
          .plus = {options.rate_plus_per_minute},
          .lan = {options.rate_lan_per_minute}};
}

}  // namespace

std::string DatabasePath(auth::Mode mode, const config::Options& options) {
  return options.data_directory + "/" + std::string(Name(mode)) + ".db";
}

int WorkersOf(auth::Mode mode, const config::Options& options) {
  constexpr int kSandboxWorkers = 32;
  return mode == auth::Mode::kLive ? options.workers : kSandboxWorkers;
}

db::SpaceSettings SpaceOf(const config::Options& options) {
  constexpr int64_t kMebibyte = 1024 * 1024;
  return {.directory = options.data_directory,
          .low_bytes = options.disk_low_mib * kMebibyte,
          .tight_bytes = options.disk_tight_mib * kMebibyte,
          .orders_only_bytes = options.disk_orders_only_mib * kMebibyte,
          .ballast_bytes = options.disk_ballast_mib * kMebibyte};
}

Environment::Environment(auth::Mode mode, const config::Options& options, const Clock& clock,
                         db::DiskSpace& space, http::AnswerBudget& answer_budget,
                         net::Network* network, Heartbeats& heartbeats, metrics::Registry& metrics,
                         const Upgrading& upgrading, MoreChecks more_checks,
                         AuthorityPem authority_pem, bool owns_directory)
    : mode_(mode),
      options_(options),
      clock_(clock),
      space_(space),
      // Long polls may use half of the connections; the other half stays free.
      long_polls_(WorkersOf(mode, options) / 2),
      long_polls_reader_(feed_, "long polls", {.committed = [this] { long_polls_.Wake(); }}),
      answers_(kAnswerBytesMax),
      database_(DatabaseSettings(
                    mode, options, space,
                    [&](const std::string& step) {
                      was_upgraded_ = true;
                      upgrading(step);
                    },
                    owns_directory),
                clock, heartbeats, metrics),
      marks_(Checked(database_), clock, Migrations().back().number),
      gate_(Rates(mode, options), keys_, clock),
      site_{.mode = mode,
            .options = options,
            .clock = clock,
            .database = database_,
            .space = space,
            .gate = gate_,
            .metrics = metrics,
            .readiness =
                [this, more_checks = std::move(more_checks)] {
                  std::vector<http::Readiness> checks =
                      ops::CheckReadiness(database_, space_, clock_);
                  // Reported, and never makes the box unready: orders go on.
                  if (std::string zones = zones_.trouble(); !zones.empty()) {
                    checks.push_back({.name = "time_zones", .ok = true, .state = zones});
                  }
                  AddOutgoing(checks);
                  if (more_checks) more_checks(checks);
                  return checks;
                },
            .long_polls = long_polls_,
            .answers = answers_,
            .answer_budget = answer_budget,
            .find_companies = company::FindNames,
            .read_event_body = orders::EventBody,
            .current_mark = [this] { return marks_.current(); },
            .resume = [this] { return Resume(); },
            .authority_pem = std::move(authority_pem)},
      dispatcher_(site_, AllRoutes(mode)),
      checker_(FileName(mode), database_, space_, clock),
      zones_(FileName(mode), database_, clock),
      graces_(clock),
      ends_(EndingKinds()) {
  database_.SetAfterCommit([this] { feed_.Committed(); });
  GoOnWithout("the counters", [&] { MendCounters(database_); });
  GoOnWithout("the time of the last event",
              [&] { database_.ContinueFrom(database_.Read(events::LastTime)); });
  GoOnWithout("whether this is a copy", [&] { TakeUpCopy(); });
  if (hold_.IsHeld()) {
    log::Warning("outgoing messages are held",
                 {{"file", FileName(mode)}, {"state", hold_.Describe()}});
  }
  NoteServed();
  gate_.SetWriteDownEnds([this] { ends_.WriteDown(); });
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
  if (was_upgraded_)
    GoOnWithout("skus that differ only in case", [&] { menu::LogTwinSkus(database_); });
  site_.graces = &graces_;
  try {
    clients::MakeSearchable(database_, [&] { upgrading("clients"); });
  } catch (const Fault& fault) {  // e.g. a full disk; the chores try again
    if (fault.kind != Fault::Kind::kDiskReadOnly)
      log::Error("some clients cannot be searched for yet", {{"why", fault.cause}});
  }
  // The sandbox asks no real app.
  delivery_.emplace(
      delivery::DeliverySettings{.options = options_,
                                 .clock = clock_,
                                 .database = database_,
                                 .network = mode_ == auth::Mode::kLive ? network : nullptr,
                                 .heartbeats = heartbeats,
                                 .metrics = metrics,
                                 .hold = &hold_,
                                 .is_watched =
                                     [this](db::CompanyId company) {
                                       return site_.lookers.AreThere(company, clock_.MonotonicMs());
                                     },
                                 .has_cloud =
                                     [](db::Session& session, db::CompanyId company) {
                                       const auto linked = cloud::FindLinked(session);
                                       return linked && linked->company == company;
                                     }});
  site_.delivery = &*delivery_;
  if (network == nullptr) return;
  deliverer_.emplace(DelivererSettings(*network), heartbeats, metrics);
  site_.deliverer = &*deliverer_;
  if (mode_ == auth::Mode::kTest) return;
  syncer_.emplace(SyncerSettings(*network), heartbeats, metrics);
  site_.syncer = &*syncer_;
}

std::string Environment::SyncState() {
  try {
    const cloud::Status sync = database_.Read([&](db::Snapshot& snapshot) {
      return cloud::FindStatus(snapshot, syncer_ ? syncer_->progress() : cloud::Progressing{},
                               clock_.Now());
    });
    return cloud::Describe(sync, clock_.Now());
  } catch (const Fault& fault) {
    return "cannot be read: " + fault.cause;
  }
}

// What leaves the box is reported, and never makes it unready: selling does not depend on it.
void Environment::AddOutgoing(std::vector<http::Readiness>& checks) {
  checks.push_back({.name = "sync", .ok = true, .state = SyncState()});
  const std::string webhooks = deliverer_ ? deliverer_->Trouble() : "";
  if (!webhooks.empty()) checks.push_back({.name = "webhooks", .ok = true, .state = webhooks});
  const std::string apps = delivery_ ? delivery_->probes().Describe() : "";
  if (!apps.empty()) checks.push_back({.name = "delivery_apps", .ok = true, .state = apps});
  const auto* app_orders = delivery_ ? delivery_->orders() : nullptr;
  const std::string orders = app_orders != nullptr ? app_orders->Describe() : "";
  if (!orders.empty()) checks.push_back({.name = "app_orders", .ok = true, .state = orders});
  if (hold_.IsHeld()) {
    checks.push_back({.name = "outgoing", .ok = true, .state = hold_.Describe()});
  }
}

// Whether the database was restored, and whether another machine has served it: both in one
// transaction, so that a power cut between them loses neither. The hold is in force before it is
// written, and also where it cannot be.
void Environment::TakeUpCopy() {
  const std::string machine_id = machine::MachineId();
  const UtcMs now = clock_.Now();
  std::optional<machine::Kept> kept;
  GoOnWithout("on which machine the data were served", [&] {
    kept = database_.Read([](db::Snapshot& snapshot) { return machine::Find(snapshot); });
  });
  machine::Verdict verdict = machine::Judge(kept, machine_id, true);
  if (verdict == machine::Verdict::kHeld) hold_.Set(now);
  const bool is_restored = IsRestored(database_, mode_, options_, was_upgraded_);
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

void Environment::ReloadFiles() {
  if (deliverer_) deliverer_->Reload();
  if (syncer_) syncer_->Reload();
}

bool Environment::Resume() {
  const bool was_held = database_.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    const bool has_ended = machine::Resume(tx);
    if (has_ended) AuditEach(tx, stamp, "outgoing.resumed");
    tx.OnCommit([this] {
      hold_.Release();
      if (deliverer_) deliverer_->NoteChange();
      if (syncer_) syncer_->NoteChange();
    });
    return has_ended;
  });
  if (delivery_) delivery_->Wake();  // it reads the database
  return was_held;
}

// The sandbox, in which integrators try things out, takes no transfers from the restaurant.
webhooks::DelivererSettings Environment::DelivererSettings(net::Network& network) {
  constexpr size_t kLiveSlots = 12, kSandboxSlots = 4;
  const bool is_live = mode_ == auth::Mode::kLive;
  return {.name = is_live ? "webhooks" : "sandbox webhooks",
          .options = options_,
          .clock = clock_,
          .database = database_,
          .space = space_,
          .marks = marks_,
          .feed = feed_,
          .network = network,
          .graces = graces_,
          .hold = &hold_,
          .slots = is_live ? kLiveSlots : kSandboxSlots,
          .read_body = orders::EventBody};
}

cloud::SyncerSettings Environment::SyncerSettings(net::Network& network) {
  return {.options = options_,
          .clock = clock_,
          .database = database_,
          .feed = feed_,
          .network = network,
          .hold = &hold_};
}

Environment::~Environment() { NoteServed(); }

// If it cannot be written, e.g. on a full disk, the next start may take the database for a restored
// copy: that raises the epoch and costs each display one read.
void Environment::NoteServed() {
  if (space_.is_read_only()) return;
  try {
    app::NoteServed(options_.data_directory, FileName(mode_),
                    ServedNow(database_, mode_, options_));
  } catch (const std::exception& error) {
    log::Warning("what is served is not noted", {{"why", error.what()}});
  }
}

void Environment::DoChores(const std::function<void()>& progress) {
  if (database_.IsReadOnly()) return;
  if (!is_taken_up_) {  // the disk was read-only at the start
    MendCounters(database_);
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
      {.name = "old secrets of webhooks",
       .due_in_ms = [this] { return graces_.DueInMs(); },
       .write_down =
           [this] {
             const bool are_changed = webhooks::WriteDownEndedGraces(database_, graces_);
             if (are_changed && deliverer_) deliverer_->NoteChange();
           }},
  };
}

bool Environment::UpgradeIsOld() {
  return database_.Read([&](db::Snapshot& snapshot) {
    return marks_.IsUpgradedFor(snapshot, db::kUpgradeCopyKeptMs);
  });
}

}  // namespace comanda::app
