#include "http/answer_cache.h"

#include <iterator>
#include <utility>

namespace comanda::http {

Response AnswerCache::Get(const std::string& key, const std::function<Response()>& make) {
  std::unique_lock lock(mutex_);
  for (auto found = index_.find(key); found != index_.end(); found = index_.find(key)) {
    if (found->second->answer) {
      entries_.splice(entries_.begin(), entries_, found->second);
      return *found->second->answer;
    }
    made_.wait(lock);
  }
  const auto entry = entries_.insert(entries_.begin(), {key, nullptr});
  index_.emplace(key, entry);
  lock.unlock();

  std::shared_ptr<Response> answer;
  try {
    answer = std::make_shared<Response>(make());
    // Shared, not copied, by all who get it.
    if (!answer->shared_body) {
      answer->shared_body = std::make_shared<const std::string>(std::move(answer->body));
    }
    answer->body.clear();
  } catch (...) {
    lock.lock();
    index_.erase(key);
    entries_.erase(entry);
    made_.notify_all();
    throw;
  }
  lock.lock();
  Keep(entry, answer);
  made_.notify_all();
  return *answer;
}

void AnswerCache::Keep(Entries::iterator entry, std::shared_ptr<const Response> answer) {
  entry->answer = std::move(answer);
  bytes_ += SizeOf(*entry);
  // From the one not used for longest; those being made stay, and so does this one, for who waits
  // for it.
  for (auto last = std::prev(entries_.end()); bytes_ > bytes_max_ && last != entries_.begin();) {
    const auto old = last--;
    if (!old->answer || old == entry) continue;
    bytes_ -= SizeOf(*old);
    index_.erase(old->key);
    entries_.erase(old);
  }
}

size_t AnswerCache::SizeOf(const Entry& entry) {
  constexpr size_t kOverhead = 512;  // headers, nodes
  return entry.key.size() * 2 + entry.answer->shared_body->size() + kOverhead;
}

}  // namespace comanda::http
