#pragma once

// Looks whether a database holds what was written to it: every order with all its rows
// (orders/check.h), the event log (events/check.h), the counts, the API keys. Goes through it part
// by part, the newest orders first, so that nothing waits for it and no read transaction is long.
// For `comanda verify`, backups, and the check in the background (integrity/checker.h).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "db/session.h"
#include "db/watcher.h"
#include "events/check.h"
#include "integrity/finding.h"
#include "orders/check.h"

namespace comanda::integrity {

class Verification {
 public:
  struct Report {
    int64_t orders = 0;
    int64_t events = 0;
    Findings damage;
  };
  // What a part leaves to the one who may write.
  struct Part {
    db::CompanyId company;
    std::vector<std::string> damaged_records;   // ids of orders
    std::vector<std::string> without_checksum;  // ids of orders
    bool was_last_of_orders = false;            // of that company
  };

  // The next part; false behind the last one. Fault where the file cannot be read.
  bool Next(db::Session& session, Part& part);
  const Report& report() const { return report_; }
  int64_t orders_in_all() const { return orders_in_all_; }

 private:
  enum class Step : uint8_t { kBegin, kOrders, kCounts, kLog };

  void Begin(db::Session& session);
  void DoStep(db::Session& session, Part& part);
  void NextCompany();
  void NextOrders(db::Session& session, Part& part);
  void NextEvents(db::Session& session);

  Report report_;
  int64_t orders_in_all_ = 0;
  std::vector<db::CompanyId> companies_;
  size_t company_ = 0;  // index in companies_
  Step step_ = Step::kBegin;
  orders::OrderKey order_;
  events::LogPosition event_;
};

// Whether other processes may write the file meanwhile.
enum class FileState : uint8_t { kInUse, kFrozen };

// `schema_known` is the newest schema of this program (db/migrate.h).

// Whether the file is of an older version of the program. Fault where it cannot be read.
bool IsOfAnOlderVersion(const std::string& path, FileState state, int64_t schema_known,
                        const Clock& clock);
// All orders and events of a file at full speed. Nothing where the file is of another version of
// the program. Fault where it cannot be read.
std::optional<Verification::Report> VerifyRows(const std::string& path, FileState state,
                                               int64_t schema_known, const Clock& clock);
// SQLite's own check of all pages and indexes alone, of a file of any version.
Verification::Report VerifyPages(const std::string& path, FileState state, const Clock& clock);
// Both. Fault also where the file is of another version. Rows that cannot be read for a page that
// is malformed are a finding.
Verification::Report VerifyDatabase(const std::string& path, FileState state, int64_t schema_known,
                                    const Clock& clock);

}  // namespace comanda::integrity
