#include "db/migrate.h"

#include "base/check.h"
#include "base/log.h"

namespace comanda::db {
namespace {

constexpr int64_t kApplicationId = 0x434d4441;  // "CMDA", in the file's header

[[noreturn]] void Refuse(const std::string& why) { throw Fault(Fault::Kind::kInternal, why); }

bool IsNew(Connection& writer) {
  return writer.Integer("SELECT count(*) FROM sqlite_schema") == 0 &&
         writer.Integer("PRAGMA user_version") == 0;
}

void ClaimFile(Connection& writer, const std::string& path) {
  const int64_t owner = writer.Integer("PRAGMA application_id");
  if (owner == kApplicationId) return;
  if (owner != 0 || !IsNew(writer)) Refuse(path + " is the database of another program");
  writer.RunScript("PRAGMA application_id = " + std::to_string(kApplicationId));
}

void Apply(Connection& writer, const Migration& migration) {
  writer.Execute("BEGIN IMMEDIATE");
  try {
    writer.RunScript(migration.sql);
    const std::string broken = writer.Text("PRAGMA foreign_key_check");
    if (!broken.empty()) Refuse("rows of " + broken + " point at nothing");
    writer.RunScript("PRAGMA user_version = " + std::to_string(migration.number));
    writer.Execute("COMMIT");
  } catch (...) {
    writer.Rollback();
    throw;
  }
}

void ApplyOrExplain(Connection& writer, const Migration& migration, const std::string& path) {
  // A migration may rebuild a table that others point at; in a transaction this cannot be set.
  writer.Execute("PRAGMA foreign_keys = OFF");
  try {
    Apply(writer, migration);
  } catch (const Fault& fault) {
    throw Fault(fault.kind, "migration " + std::to_string(migration.number) + " (" +
                                std::string(migration.name) + ") of " + path +
                                " failed, the file is unchanged: " + fault.cause);
  }
  writer.Execute("PRAGMA foreign_keys = ON");
}

}  // namespace

void Migrate(Connection& writer, const Settings& settings) {
  const std::string& path = settings.path;
  const bool is_new = IsNew(writer);
  ClaimFile(writer, path);
  const int64_t found = writer.Integer("PRAGMA user_version");
  const int64_t known = settings.migrations.empty() ? 0 : settings.migrations.back().number;
  if (found > known) {
    Refuse(path + " has schema version " + std::to_string(found) +
           ", this program knows versions up to " + std::to_string(known) +
           ": it was used by a newer program, install that one");
  }
  int expected = 1;
  for (const Migration& migration : settings.migrations) {
    CHECK(migration.number == expected, "migrations are numbered 1, 2, 3 without a gap");
    ++expected;
    if (migration.number <= found) continue;
    if (!is_new) {
      CopyDatabase(writer, path + ".before-" + std::to_string(migration.number), settings.vfs);
    }
    ApplyOrExplain(writer, migration, path);
    log::Notice("database migrated",
                {{"file", path}, {"version", migration.number}, {"name", migration.name}});
  }
}

}  // namespace comanda::db
