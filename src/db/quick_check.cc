#include "db/quick_check.h"

#include "db/connection.h"
#include "db/session.h"

#include <sqlite3.h>

namespace comanda::db {
namespace {

constexpr int kProgressSteps = 10'000;  // well under a millisecond

}  // namespace

std::string QuickCheck(const Settings& settings, const Clock& clock, std::function<bool()> go_on) {
  Connection connection(settings.path, Connection::Role::kService, settings.vfs, clock);
  const auto on_progress = [](void* ask) noexcept -> int {
    return (*static_cast<std::function<bool()>*>(ask))() ? 0 : 1;
  };
  sqlite3_progress_handler(connection.handle(), kProgressSteps, on_progress, &go_on);
  std::string problems;
  Session session(connection);
  try {
    for (Rows rows = session.Query("PRAGMA quick_check(20)"); rows.Next();) {
      if (rows.View(0) != "ok") problems += rows.Text(0) + "\n";
    }
  } catch (const Fault& fault) {
    if (!go_on()) return "";
    if (connection.trouble() != Trouble::kDamaged) throw;
    problems += fault.cause + "\n";
  }
  return problems;
}

}  // namespace comanda::db
