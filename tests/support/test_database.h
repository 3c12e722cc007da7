#pragma once

// A database in a temporary directory, which is deleted with the test, and functions to inspect it.

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/heartbeat.h"
#include "base/metrics.h"
#include "db/database.h"
#include "support/fake_clock.h"
#include "support/waiting.h"

namespace comanda::testing {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "comanda-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline constexpr db::Migration kDishTable = {
    1, "dish", "CREATE TABLE dish (id INTEGER PRIMARY KEY, name TEXT UNIQUE, at INTEGER) STRICT;"};

class TestDatabase {
 public:
  TestDatabase() : TestDatabase(db::Settings{}) {}
  // Settings without path or migrations get those of the test.
  explicit TestDatabase(db::Settings settings) : settings_(std::move(settings)) {
    if (settings_.path.empty()) settings_.path = directory / "live.db";
    if (settings_.migrations.empty()) settings_.migrations = {kDishTable};
    Open();
  }

  db::Database& operator*() { return *database_; }
  db::Database* operator->() { return database_.get(); }
  void Open() {
    database_ = std::make_unique<db::Database>(settings_, clock, heartbeats_, registry);
  }
  void Close() { database_.reset(); }
  db::Settings& settings() { return settings_; }

  int64_t Add(const std::string& name) {
    return database_->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      return tx.RunCounted("INSERT INTO dish (name, at) VALUES ($1, $2)", name, stamp.now);
    });
  }
  std::vector<std::string> Names() {
    return database_->Read([](db::Snapshot& snapshot) { return NamesIn(snapshot); });
  }
  static std::vector<std::string> NamesIn(db::Session& session) {
    return session.FindTexts("SELECT name FROM dish ORDER BY name");
  }

  // Adds `dishes` rows, closes the database, overwrites a page of its file, and opens it again.
  void Damage(int dishes) {
    database_->Write([&](db::Tx& tx, const db::Stamp&) {
      for (int i = 0; i < dishes; ++i) {
        tx.Run("INSERT INTO dish (name) VALUES ($1)", "dish " + std::to_string(i));
      }
    });
    Close();
    constexpr int kPageBytes = 4096;
    std::fstream file(settings_.path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4 * kPageBytes);
    file << std::string(kPageBytes, '\x7f');
    file.close();
    Open();
  }

  // The value of a metric, e.g. "comanda_db_commits_total"; -1 if there is none.
  int64_t Metric(const std::string& name) const {
    const std::string text = registry.Text();
    const size_t line = text.find("\n" + name + "{");
    return line == text.npos ? -1 : std::stoll(text.substr(text.find("} ", line) + 2));
  }
  void AwaitQueued(int64_t jobs) const {
    if (Await([&] { return Metric("comanda_db_queue_jobs") == jobs; })) return;
    throw std::runtime_error(std::to_string(jobs) + " jobs are never queued");
  }

  const Heartbeats& heartbeats() const { return heartbeats_; }

  TemporaryDirectory directory;
  FakeClock clock;
  metrics::Registry registry;

 private:
  Heartbeats heartbeats_{clock};
  db::Settings settings_;
  std::unique_ptr<db::Database> database_;
};

// Blocks the writer with a job until Release(), so that the jobs queued meanwhile form one group.
class BusyWriter {
 public:
  explicit BusyWriter(db::Database& database)
      : thread_([this, &database] {
          database.Write([this](db::Tx&, const db::Stamp&) {
            started_.set_value();
            release_.get_future().wait();
          });
        }) {
    started_.get_future().wait();
  }
  void Release() { release_.set_value(); }

 private:
  std::promise<void> started_;
  std::promise<void> release_;
  std::jthread thread_;
};

}  // namespace comanda::testing
