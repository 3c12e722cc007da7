#include "db/readers.h"

#include <algorithm>
#include <chrono>
#include <exception>

#include "base/check.h"
#include "engine/connection.h"

namespace comanda::db {
namespace {

constexpr std::chrono::seconds kWaitMax{5};
// Longer than a query may take.
constexpr std::chrono::milliseconds kEndMax{Connection::kQueryMaxMs + 1'000};

}  // namespace

ReaderPool::ReaderPool(const Settings& settings, const Clock& clock)
    : settings_(settings), clock_(clock) {}

ReaderPool::~ReaderPool() = default;

std::unique_ptr<Connection> ReaderPool::Acquire(Readers reader) {
  std::unique_ptr<Connection> connection = AcquireConnection(reader);
  try {
    connection->BeginReading();
    connection->RequireTransaction(true);
  } catch (...) {
    connection.reset();
    GiveUpPlace(reader);
    throw;
  }
  return connection;
}

// With the mutex.
bool ReaderPool::IsFree(Readers reader) const {
  if (is_ending_ || (idle_.empty() && open_ >= settings_.readers_max)) return false;
  const int shared_max = std::max(settings_.readers_max - settings_.readers_for_orders, 1);
  return reader == Readers::kOrders || shared_ < shared_max;
}

std::unique_ptr<Connection> ReaderPool::AcquireConnection(Readers reader) {
  Sharing sharing = Sharing::kShared;
  {
    std::unique_lock lock(mutex_);
    const bool free = returned_.wait_for(lock, kWaitMax, [&] { return IsFree(reader); });
    if (!free) {
      throw Fault(Fault::Kind::kUnavailable,
                  "all " + std::to_string(settings_.readers_max) + " readers are busy");
    }
    if (reader == Readers::kShared) ++shared_;
    if (!idle_.empty()) {
      // The one used last: its cache is warm, and those on top of the need stay untouched.
      std::unique_ptr<Connection> connection = std::move(idle_.back());
      idle_.pop_back();
      if (connection->IsUsable()) return connection;
    } else {
      ++open_;
    }
    if (is_alone_) sharing = Sharing::kAlone;
  }
  try {
    return std::make_unique<Connection>(settings_, Connection::Role::kReader, clock_, sharing);
  } catch (...) {
    GiveUpPlace(reader);
    throw;
  }
}

void ReaderPool::Release(std::unique_ptr<Connection> connection, Readers reader) noexcept {
  CHECK(!connection->AnyRunning(), "no Rows outlives the function given to Read()");
  const bool failing = connection->trouble() >= Trouble::kFull;
  if (settings_.suspect && connection->met_damage()) settings_.suspect();
  if (failing || !connection->Rollback()) {
    connection.reset();
    GiveUpPlace(reader);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(connection));
    if (reader == Readers::kShared) --shared_;
  }
  returned_.notify_all();  // one alone might be a reader that may not use it
}

void ReaderPool::CloseIdle() noexcept {
  const std::lock_guard lock(mutex_);
  open_ -= static_cast<int>(idle_.size());
  idle_.clear();
}

bool ReaderPool::is_alone() const {
  const std::lock_guard lock(mutex_);
  return is_alone_;
}

bool ReaderPool::EndAlone(const std::function<void()>& open) {
  std::unique_lock lock(mutex_);
  is_ending_ = true;
  open_ -= static_cast<int>(idle_.size());
  idle_.clear();
  const bool has_ended = returned_.wait_for(lock, kEndMax, [&] {
    open_ -= static_cast<int>(idle_.size());
    idle_.clear();
    return open_ == 0;
  });
  std::exception_ptr failure;
  if (has_ended) {
    try {
      open();
      is_alone_ = false;
    } catch (...) {
      failure = std::current_exception();
    }
  }
  is_ending_ = false;
  lock.unlock();
  returned_.notify_all();
  if (failure) std::rethrow_exception(failure);
  return has_ended;
}

void ReaderPool::GiveUpPlace(Readers reader) noexcept {
  {
    const std::lock_guard lock(mutex_);
    --open_;
    if (reader == Readers::kShared) --shared_;
  }
  returned_.notify_all();
}

}  // namespace comanda::db
