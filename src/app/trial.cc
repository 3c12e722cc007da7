#include "app/trial.h"
#include "app/storage.h"

#include <algorithm>
#include <utility>

#include "app/embedded.h"
#include "app/environment.h"
#include "base/metrics.h"
#include "base/problem.h"
#include "db/sqlite/migrate.h"
#include "db/sqlite/file_watcher.h"
#include "events/check.h"
#include "events/log.h"
#include "events/marks.h"
#include "integrity/file_verification.h"
#include "machine/hold.h"
#include "orders/check.h"

namespace comanda::app {
namespace {

void Append(integrity::Findings more, integrity::Findings& damage) {
  for (integrity::Finding& finding : more) {
    if (std::ranges::find(damage, finding.what, &integrity::Finding::what) == damage.end()) {
      damage.push_back(std::move(finding));
    }
  }
}

integrity::Findings Verify(const std::string& path) {
  return integrity::VerifyDatabase(path, integrity::FileState::kInUse, SchemaKnown(), SystemClock())
      .damage;
}

// What can be found without the upgrade, which writes.
integrity::Findings LookAt(const std::string& path, bool is_older) {
  integrity::Findings damage;
  if (!is_older) {
    Append(Verify(path), damage);
  } else {
    damage = integrity::VerifyPages(path, integrity::FileState::kInUse, SystemClock()).damage;
    if (!damage.empty()) damage.resize(1);
  }
  return damage;
}

std::optional<Trial::LastOrder> FindLastOrder(db::Session& session,
                                              const std::vector<db::CompanyId>& companies) {
  std::optional<Trial::LastOrder> last;
  for (const db::CompanyId company : companies) {
    const auto order = orders::FindNewest(session, company);
    if (order && (!last || order->created_at > last->created_at)) {
      last = {.public_id = order->public_id, .created_at = order->created_at};
    }
  }
  return last;
}

void Read(db::Session& session, Trial& trial) {
  const std::vector<db::CompanyId> companies = events::CompaniesWithEvents(session);
  for (const db::CompanyId company : companies) {
    trial.orders += orders::CountAll(session, company);
  }
  trial.last_order = FindLastOrder(session, companies);
  trial.until = events::LastTime(session);
  if (const auto mark = events::LastMark(session)) trial.until = std::max(trial.until, mark->at);
  const auto kept = machine::Find(session);
  trial.is_held = kept && kept->held_since;
}

}  // namespace

Trial TryDatabase(auth::Mode mode, const config::Options& options,
                  const std::function<void(const integrity::Findings&)>& accept_damage,
                  const std::function<void(const std::string& step)>& progress) {
  const std::string path = DatabasePath(mode, options);
  const int64_t known = SchemaKnown();
  const int64_t found = db::FileWatcher(path, SystemClock()).SchemaVersion();
  if (found > known) {
    throw Refusal(Problem::kValidationFailed, db::OfNewerProgram(path, found, known));
  }
  Trial trial{.damage = LookAt(path, found < known)};
  if (!trial.damage.empty()) accept_damage(trial.damage);
  // Before it is opened, which may itself change something. One of an older version has none that
  // this program can count.
  const auto count = [](db::Snapshot& snapshot) { return events::TotalOfChanges(snapshot); };
  if (found == known) trial.changes = db::FileWatcher(path, SystemClock()).Read(count);
  {
    metrics::Registry metrics;
    Heartbeats heartbeats(SystemClock());
    db::SpaceSettings space_settings = SpaceOf(options);
    space_settings.ballast_bytes = 0;  // the server makes and keeps the ballast
    db::DiskSpace space(std::move(space_settings), metrics);
    http::AnswerBudget answer_budget;
    Environment environment(mode,
                            {.options = options,
                             .clock = SystemClock(),
                             .space = space,
                             .answer_budget = answer_budget,
                             .heartbeats = heartbeats,
                             .metrics = metrics},
                            progress);
    environment.database().Read([&](db::Snapshot& snapshot) {
      if (found < known) trial.changes = count(snapshot);
      Read(snapshot, trial);
    });
  }
  trial.notes = integrity::ZoneTroubles(path, integrity::FileState::kInUse, SystemClock());
  if (found == known) return trial;
  // The upgrade has made rows that this program can check.
  integrity::Findings damage = Verify(path);
  if (!damage.empty()) accept_damage(damage);
  Append(std::move(damage), trial.damage);
  return trial;
}

}  // namespace comanda::app
