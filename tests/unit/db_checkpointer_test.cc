#include "db/sqlite/checkpointer.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <memory>
#include <string>
#include <latch>
#include <stop_token>
#include <thread>

#include "base/metrics.h"
#include "engine/connection.h"
#include "engine/library.h"
#include "support/test_database.h"

namespace comanda::db {
namespace {

using Mode = Checkpointer::Mode;

// A file with pages of that size, written to by one connection that a checkpointer follows.
class Log {
 public:
  explicit Log(int page_bytes = 4096) {
    settings_.path = directory_ / "live.db";
    RequireLibrary();
    sqlite3* file = nullptr;
    sqlite3_open(settings_.path.c_str(), &file);
    const std::string make =
        "PRAGMA page_size = " + std::to_string(page_bytes) + "; CREATE TABLE line (text BLOB);";
    sqlite3_exec(file, make.c_str(), nullptr, nullptr, nullptr);
    sqlite3_close(file);
    connection_ = Open(Connection::Role::kWriter);
    checkpointer.Follow(*connection_);
  }

  // A commit of a little more than 100 kB.
  void Grow() { connection_->RunScript("INSERT INTO line VALUES (zeroblob(100000))"); }
  // Grows until a checkpoint is due.
  Mode GrowUntilDue() {
    while (true) {
      Grow();
      if (const auto due = checkpointer.WhenGrown()) return *due;
    }
  }
  // A read transaction, which needs what is in the log now.
  std::unique_ptr<Connection> Read() {
    Grow();
    auto reader = Open(Connection::Role::kReader);
    reader->Execute("BEGIN");
    reader->Integer("SELECT count(*) FROM line");
    return reader;
  }
  Trouble Run(Mode mode) { return checkpointer.Run(*connection_, mode); }
  int64_t bytes() const {
    return static_cast<int64_t>(std::filesystem::file_size(settings_.path + "-wal"));
  }
  std::unique_ptr<Connection> Open(Connection::Role role) {
    return std::make_unique<Connection>(settings_.path, role, "", clock_);
  }

 private:
  testing::TemporaryDirectory directory_;
  testing::FakeClock clock_;
  metrics::Registry registry_;
  Settings settings_;

 public:
  Checkpointer checkpointer{settings_, registry_};

 private:
  std::unique_ptr<Connection> connection_;
};

TEST(DbCheckpointer, AsksForACheckpointAfterTheSameBytesWhateverThePagesAre) {
  for (const int page_bytes : {1024, 2048, 4096, 8192}) {
    Log log(page_bytes);
    EXPECT_EQ(log.GrowUntilDue(), Mode::kPassive);
    EXPECT_GT(log.bytes(), Checkpointer::kCheckpointBytes) << page_bytes;
    EXPECT_LT(log.bytes(), Checkpointer::kCheckpointBytes + 300'000) << page_bytes;
  }
}

TEST(DbCheckpointer, LetsTheLogStartOverWhenNobodyReads) {
  Log log;
  for (int round = 0; round < 4; ++round) {
    EXPECT_EQ(log.Run(log.GrowUntilDue()), Trouble::kNone);
    EXPECT_EQ(log.checkpointer.WhenGrown(), std::nullopt) << "asked for once";
  }
  EXPECT_LT(log.bytes(), Checkpointer::kCheckpointBytes + 300'000);
}

TEST(DbCheckpointer, WaitsForReadersOnlyWhenTheLogIsLong) {
  Log log;
  const auto reader = log.Read();

  Mode due = log.GrowUntilDue();
  while (due == Mode::kPassive) {
    EXPECT_LT(log.bytes(), Checkpointer::kRestartBytes + 400'000);
    EXPECT_EQ(log.Run(due), Trouble::kNone) << "a reader in the way is no failure";
    due = log.GrowUntilDue();
  }
  EXPECT_EQ(due, Mode::kRestart);
  EXPECT_GT(log.bytes(), Checkpointer::kRestartBytes);
  EXPECT_EQ(log.Run(due), Trouble::kNone);

  reader->Rollback();
  EXPECT_EQ(log.Run(Mode::kRestart), Trouble::kNone);
  log.Grow();
  EXPECT_EQ(log.checkpointer.WhenGrown(), std::nullopt) << "the log has started over";
}

TEST(DbCheckpointer, TriesAgainNowAndThenWhileAReaderGoesOn) {
  Log log;
  const auto reader = log.Read();
  while (log.GrowUntilDue() == Mode::kPassive) continue;
  for (int i = 0; i < 5; ++i) {
    const int64_t before = log.bytes();
    EXPECT_EQ(log.GrowUntilDue(), Mode::kRestart);
    EXPECT_GE(log.bytes() - before, Checkpointer::kRetryBytes);
    EXPECT_LT(log.bytes() - before, Checkpointer::kRetryBytes + 300'000);
    EXPECT_EQ(log.Run(Mode::kRestart), Trouble::kNone);
    EXPECT_FALSE(log.checkpointer.is_waiting());
  }
  reader->Rollback();
}

// Another thread ends its read when the log waits, as a check does.
TEST(DbCheckpointer, AReaderThatEndsWhenTheLogWaitsLetsItStartOver) {
  Log log;
  const auto reader = log.Read();
  while (log.GrowUntilDue() == Mode::kPassive) continue;
  std::latch looks(1);
  std::jthread check([&](const std::stop_token& stop) {
    looks.count_down();
    while (!log.checkpointer.is_waiting() && !stop.stop_requested()) std::this_thread::yield();
    reader->Rollback();
  });
  looks.wait();  // on a slow machine it would begin to look when the log waits no more
  EXPECT_EQ(log.Run(Mode::kRestart), Trouble::kNone);
  check.request_stop();
  check.join();
  log.Grow();
  EXPECT_EQ(log.checkpointer.WhenGrown(), std::nullopt) << "the log has started over";
}

TEST(DbCheckpointer, TruncatesAGrownLogOnceNobodyWrites) {
  Log log;
  log.Grow();
  log.checkpointer.WhenGrown();
  EXPECT_EQ(log.checkpointer.WhenIdle(Checkpointer::kTruncateIdleMs), std::nullopt) << "short";

  log.Run(log.GrowUntilDue());
  EXPECT_EQ(log.checkpointer.WhenIdle(Checkpointer::kTruncateIdleMs - 1), std::nullopt);
  ASSERT_EQ(log.checkpointer.WhenIdle(Checkpointer::kTruncateIdleMs), Mode::kTruncate);
  EXPECT_EQ(log.Run(Mode::kTruncate), Trouble::kNone);
  EXPECT_EQ(log.bytes(), 0);
  EXPECT_EQ(log.checkpointer.WhenIdle(Checkpointer::kTruncateIdleMs), std::nullopt) << "done";
}

}  // namespace
}  // namespace comanda::db
