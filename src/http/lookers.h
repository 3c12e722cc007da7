#pragma once

// Whether somebody looks at the orders of a company: a key has asked for its orders or its events,
// and was answered, within the last minutes of this process. A delivery app is not told that the
// restaurant is open when nobody would see its orders.

#include <cstdint>
#include <map>
#include <mutex>

#include "db/session.h"

namespace comanda::http {

// Any thread.
class Lookers {
 public:
  static constexpr int64_t kLookingMs = 5 * 60'000;

  void Note(db::CompanyId company, int64_t now_ms) {
    const std::lock_guard lock(mutex_);
    seen_ms_[company.value] = now_ms;
  }
  bool AreThere(db::CompanyId company, int64_t now_ms) const {
    const std::lock_guard lock(mutex_);
    const auto seen = seen_ms_.find(company.value);
    return seen != seen_ms_.end() && now_ms - seen->second < kLookingMs;
  }

 private:
  mutable std::mutex mutex_;
  std::map<int64_t, int64_t> seen_ms_;  // guarded by mutex_; by company, monotonic
};

}  // namespace comanda::http
