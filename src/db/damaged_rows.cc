#include "db/damaged_rows.h"

#include <algorithm>

#include "base/log.h"

namespace comanda::db {

DamagedRows::DamagedRows(std::string file, const std::string& labels, metrics::Registry& metrics)
    : file_(std::move(file)),
      gauge_(
          metrics, "comanda_db_damaged_rows", "Rows known to be damaged; the log names them.",
          [this] { return static_cast<double>(count()); }, labels),
      progress_gauge_(
          metrics, "comanda_db_check_progress",
          "Part of the orders that the background check has read since the start, up to 1.",
          [this] {
            const std::lock_guard lock(mutex_);
            return progress_;
          },
          labels),
      checked_gauge_(
          metrics, "comanda_db_checked_timestamp_seconds",
          "When the background check last came through all rows; 0: not since the start.",
          [this] {
            const std::lock_guard lock(mutex_);
            return static_cast<double>(checked_at_ / 1000);
          },
          labels) {}

void DamagedRows::Note(const std::string& row) {
  {
    const std::lock_guard lock(mutex_);
    if (rows_.contains(row)) return;
    if (rows_.size() < kMax) rows_.insert(row);
  }
  log::Error("a row is damaged", {{"file", file_}, {"row", row}});
}

void DamagedRows::Replace(const std::vector<std::string>& rows) {
  for (const std::string& row : rows) Note(row);
  const std::lock_guard lock(mutex_);
  rows_ = {rows.begin(), rows.begin() + static_cast<ptrdiff_t>(std::min(rows.size(), kMax))};
}

void DamagedRows::NoteRecord(const Record& record) {
  const std::lock_guard lock(mutex_);
  if (records_.size() < kMax && records_.insert(record).second) {
    log::Error("the stored record of an order is damaged, and made again",
               {{"file", file_}, {"order", record.order_id}});
  }
}

std::vector<DamagedRows::Record> DamagedRows::TakeRecords() {
  const std::lock_guard lock(mutex_);
  std::vector<Record> records(records_.begin(), records_.end());
  records_.clear();
  return records;
}

void DamagedRows::SetProgress(int64_t orders_checked, int64_t orders) {
  const double progress = orders_checked < orders
                              ? static_cast<double>(orders_checked) / static_cast<double>(orders)
                              : 1;
  const std::lock_guard lock(mutex_);
  progress_ = std::max(progress_, progress);
}

void DamagedRows::SetChecked(UtcMs at) {
  const std::lock_guard lock(mutex_);
  checked_at_ = at;
}

std::string DamagedRows::Progress() const {
  const std::lock_guard lock(mutex_);
  if (progress_ >= 1) return "all orders are checked";
  return std::to_string(static_cast<int>(progress_ * 100)) + " % of the orders are checked";
}

size_t DamagedRows::count() const {
  const std::lock_guard lock(mutex_);
  return rows_.size();
}

std::string DamagedRows::First() const {
  const std::lock_guard lock(mutex_);
  return rows_.empty() ? "" : *rows_.begin();
}

}  // namespace comanda::db
