#pragma once

// What every room that sends messages has: a worker (events/worker.h), an inbox in which the
// network thread leaves answers for it, a count of what other threads have changed, and the words
// in which its state is shown.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/heartbeat.h"
#include "base/metrics.h"
#include "events/worker.h"

namespace comanda::outbox {

// Of a worker whose calls block.
struct NoAnswers {};

// `Answered`: what became of one call.
template <typename Answered = NoAnswers>
class Courier {
 public:
  // Starts the thread and its first pass. What `work` uses must outlive the courier, or Stop() is
  // called before.
  Courier(events::WorkerSettings settings, Heartbeats& heartbeats, metrics::Registry& registry,
          events::Worker::Work work) {
    worker_.emplace(std::move(settings), heartbeats, registry, std::move(work));
    {
      const std::lock_guard lock(inbox_->mutex);
      inbox_->worker = &*worker_;
    }
    worker_->Wake();  // an answer may have come before
  }
  ~Courier() { Stop(); }
  Courier(const Courier&) = delete;
  Courier& operator=(const Courier&) = delete;

  // Ends the thread: blocks until its pass has ended. Answers that come later wake nobody; those
  // that came are still in the inbox. Not on the worker's thread.
  void Stop() {
    {
      const std::lock_guard lock(inbox_->mutex);
      inbox_->worker = nullptr;
    }
    worker_.reset();
  }

  // Begins a pass soon. Any thread.
  void Wake() { worker_->Wake(); }

  // To be called when a transaction has changed what the worker has read. Any thread.
  void NoteChange() {
    ++changes_;
    Wake();
  }
  int64_t changes() const { return changes_; }

  // Takes an answer and wakes the worker; for the network thread. It may outlive the courier.
  std::function<void(Answered)> Inbox() const {
    return [inbox = inbox_](Answered answered) {
      const std::lock_guard lock(inbox->mutex);
      inbox->answers.push_back(std::move(answered));
      if (inbox->worker != nullptr) inbox->worker->Wake();
    };
  }
  // The answers that came since the last call. Any thread.
  std::vector<Answered> TakeAnswers() {
    const std::lock_guard lock(inbox_->mutex);
    return std::exchange(inbox_->answers, {});
  }

  // The sentence for /readyz; empty: nothing is wrong. Any thread.
  void Say(std::string words) {
    const std::lock_guard lock(mutex_);
    words_ = std::move(words);
  }
  std::string words() const {
    const std::lock_guard lock(mutex_);
    return words_;
  }

 private:
  struct Shared {
    std::mutex mutex;
    std::vector<Answered> answers;     // guarded by mutex
    events::Worker* worker = nullptr;  // guarded by mutex; null: nobody is woken
  };

  const std::shared_ptr<Shared> inbox_ = std::make_shared<Shared>();
  std::atomic<int64_t> changes_{0};
  mutable std::mutex mutex_;
  std::string words_;  // guarded by mutex_
  std::optional<events::Worker> worker_;
};

}  // namespace comanda::outbox
