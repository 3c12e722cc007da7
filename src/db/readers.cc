#include "db/readers.h"

#include "base/check.h"

#include <chrono>

namespace comanda::db {
namespace {

constexpr std::chrono::seconds kWaitMax{5};

}  // namespace

std::unique_ptr<Connection> ReaderPool::Acquire() {
  std::unique_ptr<Connection> connection = AcquireConnection();
  try {
    connection->ClearTrouble();
    connection->Execute("BEGIN");
    connection->RequireTransaction(true);
  } catch (...) {
    connection.reset();
    GiveUpPlace();
    throw;
  }
  return connection;
}

std::unique_ptr<Connection> ReaderPool::AcquireConnection() {
  {
    std::unique_lock lock(mutex_);
    const bool free = returned_.wait_for(
        lock, kWaitMax, [&] { return !idle_.empty() || open_ < settings_.readers_max; });
    if (!free) {
      throw Fault(Fault::Kind::kUnavailable,
                  "all " + std::to_string(settings_.readers_max) + " readers are busy");
    }
    if (!idle_.empty()) {
      // The one used last: its cache is warm, and those on top of the need stay untouched.
      std::unique_ptr<Connection> connection = std::move(idle_.back());
      idle_.pop_back();
      return connection;
    }
    ++open_;
  }
  try {
    return std::make_unique<Connection>(settings_.path, Connection::Role::kReader, settings_.vfs,
                                        clock_);
  } catch (...) {
    GiveUpPlace();
    throw;
  }
}

void ReaderPool::Release(std::unique_ptr<Connection> connection) noexcept {
  CHECK(!connection->AnyRunning(), "no Rows outlives the function given to Read()");
  const bool failing = connection->trouble() >= Trouble::kFull;
  if (settings_.suspect && !connection->suspicious_sql().empty()) {
    settings_.suspect(connection->suspicious_sql());
  }
  if (failing || !connection->Rollback()) {
    connection.reset();
    GiveUpPlace();
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(connection));
  }
  returned_.notify_one();
}

void ReaderPool::CloseIdle() noexcept {
  const std::lock_guard lock(mutex_);
  open_ -= static_cast<int>(idle_.size());
  idle_.clear();
}

void ReaderPool::GiveUpPlace() noexcept {
  {
    const std::lock_guard lock(mutex_);
    --open_;
  }
  returned_.notify_one();
}

}  // namespace comanda::db
