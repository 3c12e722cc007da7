#include "integrity/repair.h"

#include <algorithm>

#include "base/file.h"
#include "base/problem.h"
#include "db/sqlite/table_check.h"
#include "db/sqlite/table_copy.h"

namespace comanda::integrity {
namespace {

[[noreturn]] void RefuseTables(const std::string& path, const std::string& why) {
  throw Refusal(Problem::kValidationFailed,
                path + " cannot be repaired: a table itself is damaged (" + why + ")");
}

}  // namespace

bool MayBeRepaired(const Findings& found) {
  return std::ranges::any_of(found, [](const Finding& one) {
    return one.kind == Kind::kPage || one.kind == Kind::kUnread || one.kind == Kind::kIndex;
  });
}

std::string RepairedPath(const std::string& path) { return path + ".repaired"; }

void RemoveUnfinishedRepair(const std::string& path) {
  for (const char* companion : {"", "-wal", "-shm", "-journal"}) {
    RemoveAll(RepairedPath(path) + companion);
  }
}

Verification::Report MakeSoundCopy(const std::string& path, int64_t schema_known,
                                   const Clock& clock) {
  const std::string copy = RepairedPath(path);
  RemoveUnfinishedRepair(path);
  try {
    db::TakeInLog(path, clock);
    const std::string why = db::FindDamagedTable(path, clock);
    if (!why.empty()) RefuseTables(path, why);
    db::CopyTables(path, copy, clock);
  } catch (const Fault& fault) {
    // A page or a row that makes no sense. Other kinds are about the disk, or another process.
    if (fault.kind != Fault::Kind::kInternal && fault.kind != Fault::Kind::kUnread) throw;
    RefuseTables(path, fault.cause);
  }
  try {
    const bool is_older = IsOfAnOlderVersion(copy, FileState::kFrozen, schema_known, clock);
    Verification::Report report =
        is_older ? VerifyPages(copy, FileState::kFrozen, clock)
                 : VerifyDatabase(copy, FileState::kFrozen, schema_known, clock);
    if (!MayBeRepaired(report.damage)) return report;
    throw Fault(Fault::Kind::kInternal,
                "the copy is damaged, too (" + report.damage.front().what + "): the disk fails");
  } catch (...) {
    RemoveUnfinishedRepair(path);
    throw;
  }
}

}  // namespace comanda::integrity
