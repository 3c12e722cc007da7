#include "http/answer_cache.h"

#include <iterator>
#include <utility>

namespace comanda::http {
namespace {

// Moves the body to where all requests that get the answer share it.
std::shared_ptr<const Response> Share(Response made) {
  if (!made.shared_body) {
    made.shared_body = std::make_shared<const std::string>(std::exchange(made.body, {}));
  }
  return std::make_shared<const Response>(std::move(made));
}

}  // namespace

Response AnswerCache::Get(const std::string& key, const std::function<Response()>& make) {
  std::unique_lock lock(mutex_);
  const auto found = index_.find(key);
  if (found != index_.end()) return Await(lock, found->second);
  const auto outcome = std::make_shared<Outcome>();
  const auto entry = entries_.insert(entries_.begin(), {key, outcome});
  try {
    index_.emplace(key, entry);
  } catch (...) {
    entries_.erase(entry);
    throw;
  }
  lock.unlock();

  std::shared_ptr<const Response> answer;
  std::exception_ptr failure;
  try {
    answer = Share(make());
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  outcome->answer = answer;
  outcome->failure = failure;
  answer ? Keep(entry) : Forget(entry);
  lock.unlock();
  made_.notify_all();
  if (failure) std::rethrow_exception(failure);
  return *answer;
}

Response AnswerCache::Await(std::unique_lock<std::mutex>& lock, Entries::iterator entry) {
  entries_.splice(entries_.begin(), entries_, entry);
  const std::shared_ptr<Outcome> outcome = entry->outcome;  // the entry may go meanwhile
  made_.wait(lock, [&] { return outcome->is_known(); });
  if (outcome->failure) std::rethrow_exception(outcome->failure);
  return *outcome->answer;
}

void AnswerCache::Keep(Entries::iterator entry) {
  constexpr size_t kAnswersAtLeast = 8;
  const size_t size = SizeOf(*entry);
  if (size > bytes_max_ / kAnswersAtLeast) {
    Forget(entry);
    return;
  }
  bytes_ += size;
  // Evicts from the least recently used entry on; entries that are being made stay.
  for (auto last = std::prev(entries_.end()); bytes_ > bytes_max_ && last != entries_.begin();) {
    const auto old = last--;
    if (!old->outcome->answer || old == entry) continue;
    bytes_ -= SizeOf(*old);
    Forget(old);
  }
}

void AnswerCache::Forget(Entries::iterator entry) noexcept {
  index_.erase(entry->key);
  entries_.erase(entry);
}

size_t AnswerCache::SizeOf(const Entry& entry) {
  constexpr size_t kOverhead = 512;  // headers, nodes
  return entry.key.size() * 2 + entry.outcome->answer->shared_body->size() + kOverhead;
}

}  // namespace comanda::http
