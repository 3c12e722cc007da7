#pragma once

// Answers that many clients ask for at once, made once: thirty kitchen displays that are woken by
// one order get one rendered list (contract section 6, long polling). An answer is found by what it
// depends on, the change counter included, so it is never stale; old ones make room.

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "http/message.h"

namespace comanda::http {

// Any thread.
class AnswerCache {
 public:
  explicit AnswerCache(size_t bytes_max) : bytes_max_(bytes_max) {}

  // The answer kept under the key, or the one that make() returns, which is then kept unless it is
  // larger than an eighth of the cache. While one caller makes it, others with the same key wait
  // for it and get its result: the answer, or what make() throws. A failure is not kept: the next
  // caller calls make() again.
  Response Get(const std::string& key, const std::function<Response()>& make);

 private:
  // What comes of one call of make(), for all who wait for it. Guarded by mutex_.
  struct Outcome {
    std::shared_ptr<const Response> answer;
    std::exception_ptr failure;
    bool is_known() const { return answer || failure; }
  };
  struct Entry {
    std::string key;
    std::shared_ptr<Outcome> outcome;
  };
  using Entries = std::list<Entry>;  // the latest used first

  Response Await(std::unique_lock<std::mutex>& lock, Entries::iterator entry);
  void Keep(Entries::iterator entry);
  void Forget(Entries::iterator entry) noexcept;
  static size_t SizeOf(const Entry& entry);

  const size_t bytes_max_;
  std::mutex mutex_;
  std::condition_variable made_;
  Entries entries_;                                           // guarded by mutex_
  std::unordered_map<std::string, Entries::iterator> index_;  // guarded by mutex_
  size_t bytes_ = 0;                                          // guarded by mutex_
};

}  // namespace comanda::http
