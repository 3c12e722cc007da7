#pragma once

// A cache of answers, for clients that ask for the same at once: thirty kitchen displays that one
// order wakes get one list, rendered once (contract section 6, long polling). The key of an entry
// contains everything that the answer depends on, the change counter included, so that an entry is
// never stale. The least recently used entries are evicted.

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "http/response.h"

namespace comanda::http {

// Thread-safe.
class AnswerCache {
 public:
  // `bytes_max`: of all cached answers together.
  explicit AnswerCache(size_t bytes_max) : bytes_max_(bytes_max) {}

  // The cached answer, or the one that make() returns, which is cached unless it is larger than an
  // eighth of the cache. While one thread runs make(), others that ask for the same key block, and
  // get its result: the answer, or what make() throws. A failure is not cached.
  // Blocks for as long as make() runs.
  Response Get(const std::string& key, const std::function<Response()>& make);

 private:
  // The result of one call of make(). Guarded by mutex_.
  struct Outcome {
    std::shared_ptr<const Response> answer;
    std::exception_ptr failure;
    bool is_known() const { return answer || failure; }
  };
  struct Entry {
    std::string key;
    std::shared_ptr<Outcome> outcome;
  };
  using Entries = std::list<Entry>;  // the most recently used first

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
