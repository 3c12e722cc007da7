#include "db/sqlite/checkpointer.h"

#include "base/log.h"

#include <sqlite3.h>

#include <algorithm>

namespace comanda::db {
namespace {

int Native(Checkpointer::Mode mode) {
  switch (mode) {
    case Checkpointer::Mode::kPassive:
      return SQLITE_CHECKPOINT_PASSIVE;
    case Checkpointer::Mode::kRestart:
      return SQLITE_CHECKPOINT_RESTART;
    case Checkpointer::Mode::kTruncate:
      return SQLITE_CHECKPOINT_TRUNCATE;
  }
  return SQLITE_CHECKPOINT_PASSIVE;
}

}  // namespace

Checkpointer::Checkpointer(const Settings& settings, metrics::Registry& metrics)
    : file_(settings.FileName()),
      checkpoints_(metrics, "comanda_db_checkpoints_total", "Checkpoints of the log.",
                   settings.MetricLabels()),
      pages_gauge_(
          metrics, "comanda_db_wal_pages", "Pages in the write-ahead log.",
          [this] { return static_cast<double>(pages_.load(std::memory_order_relaxed)); },
          settings.MetricLabels()) {}

void Checkpointer::Follow(Connection& connection) {
  page_bytes_ = connection.Integer("PRAGMA page_size");
  sqlite3_wal_hook(connection.handle(), &Checkpointer::OnCommit, this);
}

std::optional<Checkpointer::Mode> Checkpointer::WhenGrown() {
  const int pages = pages_;
  largest_ = std::max(largest_, pages);
  if (pages < tried_at_) tried_at_ = 0;  // the last commit wrote from the start of the log
  const bool is_long = pages >= PagesIn(kRestartBytes);
  if (pages - tried_at_ < PagesIn(is_long ? kRetryBytes : kCheckpointBytes)) return std::nullopt;
  tried_at_ = pages;
  return is_long ? Mode::kRestart : Mode::kPassive;
}

std::optional<Checkpointer::Mode> Checkpointer::WhenIdle(int64_t idle_ms) const {
  if (idle_ms < kTruncateIdleMs || largest_ < PagesIn(kCheckpointBytes)) return std::nullopt;
  return Mode::kTruncate;
}

Trouble Checkpointer::Run(Connection& connection, Mode mode) {
  connection.ClearTrouble();
  sqlite3* handle = connection.handle();
  is_waiting_ = mode != Mode::kPassive;
  const bool is_too_long = pages_ >= PagesIn(kLongBytes);
  sqlite3_busy_timeout(handle, is_too_long ? kReadersWaitLongMs : kReadersWaitMs);
  const int code = sqlite3_wal_checkpoint_v2(handle, "main", Native(mode), nullptr, nullptr);
  sqlite3_busy_timeout(handle, Connection::kBusyMs);
  is_waiting_ = false;
  checkpoints_.Add();
  try {
    if (code != SQLITE_OK && code != SQLITE_BUSY) connection.Fail(code, "checkpoint");
  } catch (const Fault& fault) {
    log::Warning("checkpoint failed", {{"file", file_}, {"cause", fault.cause}});
    return connection.trouble();
  }
  if (code == SQLITE_OK && mode == Mode::kTruncate) pages_ = largest_ = 0;
  return Trouble::kNone;
}

int Checkpointer::OnCommit(void* self, sqlite3*, const char*, int pages) noexcept {
  static_cast<Checkpointer*>(self)->pages_ = pages;
  return SQLITE_OK;
}

}  // namespace comanda::db
