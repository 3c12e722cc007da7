#pragma once

// Answers that many clients ask for at once, made once: thirty kitchen displays that are woken by
// one order get one rendered list (contract section 6, long polling). An answer is found by what it
// depends on, the change counter included, so it is never stale; old ones make room.

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "http/response.h"

namespace comanda::http {

// Any thread.
class AnswerCache {
 public:
  explicit AnswerCache(size_t bytes_max) : bytes_max_(bytes_max) {}

  // The answer kept under the key, or the one that make() returns, which is then kept. While one
  // caller makes it, others with the same key wait for it; where make() throws, the next of them
  // tries.
  Response Get(const std::string& key, const std::function<Response()>& make);

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const Response> answer;  // null while it is being made
  };
  using Entries = std::list<Entry>;  // the latest used first

  void Keep(Entries::iterator entry, std::shared_ptr<const Response> answer);
  static size_t SizeOf(const Entry& entry);

  const size_t bytes_max_;
  std::mutex mutex_;
  std::condition_variable made_;
  Entries entries_;                                           // guarded by mutex_
  std::unordered_map<std::string, Entries::iterator> index_;  // guarded by mutex_
  size_t bytes_ = 0;                                          // guarded by mutex_
};

}  // namespace comanda::http
