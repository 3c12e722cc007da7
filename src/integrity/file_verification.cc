#include "integrity/file_verification.h"

#include "base/problem.h"
#include "company/zones.h"
#include "db/read_only.h"
#include "db/sqlite/file_watcher.h"
#include "integrity/file.h"

namespace comanda::integrity {
namespace {

db::FileWatcher Open(const std::string& path, FileState state, const Clock& clock,
                     const db::Onlooker& onlooker) {
  return state == FileState::kFrozen ? db::FileWatcher::OfFrozen(path, clock)
                                     : db::FileWatcher(path, clock, "", onlooker.sharing());
}

}  // namespace

std::optional<Verification::Report> VerifyRows(const std::string& path, FileState state,
                                               int64_t schema_known, const Clock& clock) {
  const db::Onlooker onlooker(path);
  db::FileWatcher watcher = Open(path, state, clock, onlooker);
  if (watcher.SchemaVersion() != schema_known) return std::nullopt;
  Verification verification;
  Verification::Part part;
  const auto next = [&](db::Snapshot& snapshot) { return verification.Next(snapshot, part); };
  while (watcher.Read(next)) continue;
  onlooker.RequireStill();
  return verification.report();
}

Verification::Report VerifyPages(const std::string& path, FileState state, const Clock& clock) {
  Verification::Report report;
  const db::Onlooker onlooker(path);
  report.damage = MeaningOf(Open(path, state, clock, onlooker).CheckFile(), path);
  onlooker.RequireStill();
  return report;
}

bool IsOfAnOlderVersion(const std::string& path, FileState state, int64_t schema_known,
                        const Clock& clock) {
  const db::Onlooker onlooker(path);
  const bool is_older = Open(path, state, clock, onlooker).SchemaVersion() < schema_known;
  onlooker.RequireStill();
  return is_older;
}

Verification::Report VerifyDatabase(const std::string& path, FileState state, int64_t schema_known,
                                    const Clock& clock) {
  Findings of_file = VerifyPages(path, state, clock).damage;
  std::optional<Verification::Report> report;
  try {
    report = VerifyRows(path, state, schema_known, clock);
  } catch (const Fault& fault) {
    const bool is_malformed =
        fault.kind == Fault::Kind::kInternal || fault.kind == Fault::Kind::kUnread;
    if (!is_malformed || of_file.empty()) throw;
    report.emplace();
    of_file.push_back({.kind = of_file.front().kind,
                       .where = path,
                       .what = "orders and events cannot all be read"});
  }
  if (!report) {
    throw Fault(Fault::Kind::kInternal,
                path +
                    " is of another version of the program: start the server once, or verify "
                    "with the program that wrote it");
  }
  for (Finding& finding : of_file) report->damage.push_back(std::move(finding));
  return *std::move(report);
}

std::vector<std::string> ZoneTroubles(const std::string& path, FileState state,
                                      const Clock& clock) {
  try {
    const db::Onlooker onlooker(path);
    db::FileWatcher watcher = Open(path, state, clock, onlooker);
    if (watcher.SchemaVersion() == 0) return {};  // it has no tables yet
    return watcher.Read([](db::Snapshot& snapshot) { return company::ZoneTroubles(snapshot); });
  } catch (const Fault&) {
    return {};
  }
}

}  // namespace comanda::integrity
