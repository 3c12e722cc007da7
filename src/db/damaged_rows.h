#pragma once

// What is known to be damaged in a database: rows that are not what was written to them. Each is
// logged once, when it is found; /readyz and a metric show how many there are. Everything else in
// the file is read and written as ever.

#include <cstddef>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/time/clock.h"
#include "base/metrics.h"
#include "db/company_id.h"

namespace comanda::db {

// Any thread.
class DamagedRows {
 public:
  static constexpr size_t kMax = 10'000;  // more are logged and not counted

  // `file` and `labels` are those of db::Settings.
  DamagedRows(std::string file, const std::string& labels, metrics::Registry& metrics);

  // `row` names it and says what is wrong.
  void Note(const std::string& row);
  // Keeps what a check of the whole database has found, and forgets what Note() was told before.
  void Replace(const std::vector<std::string>& rows);

  // The stored record of an order is damaged and can be made again from the order's rows: a
  // background thread takes it from here.
  struct Record {
    CompanyId company;
    std::string order_id;
    auto operator<=>(const Record&) const = default;
  };
  void NoteRecord(const Record& record);
  std::vector<Record> TakeRecords();

  // How far the background check has come since the start.
  void SetProgress(int64_t orders_checked, int64_t orders);
  // The background check has come through all rows at that time.
  void SetChecked(UtcMs at);
  // "35 % of the orders are checked", "all orders are checked".
  std::string Progress() const;

  size_t count() const;
  std::string First() const;  // one of them, or empty

 private:
  const std::string file_;
  mutable std::mutex mutex_;
  std::set<std::string> rows_;  // guarded by mutex_
  std::set<Record> records_;    // guarded by mutex_
  double progress_ = 0;         // guarded by mutex_; 1: all orders were checked
  metrics::Gauge gauge_;
  UtcMs checked_at_ = 0;  // guarded by mutex_; 0: not since the start
  metrics::Gauge progress_gauge_;
  metrics::Gauge checked_gauge_;
};

}  // namespace comanda::db
