#pragma once

// What was made from rows that seldom change, so that not every request reads them again
// (Database::Kept). Each value has the mark of the counter that was read before its rows: with
// another mark it is not found, and is made anew. Any thread.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "db/change_counters.h"
#include "db/session.h"

namespace comanda::db {

class KeptValues {
 public:
  using Mark = ChangeCounters::Mark;

  template <typename Value>
  std::shared_ptr<const Value> Find(CompanyId company, Mark mark) const {
    const std::lock_guard lock(mutex_);
    const auto found = values_.find({company, &kType<Value>});
    if (found == values_.end() || found->second.mark != mark) return nullptr;
    return std::static_pointer_cast<const Value>(found->second.value);
  }

  template <typename Value>
  void Keep(CompanyId company, Mark mark, std::shared_ptr<const Value> value) {
    const std::lock_guard lock(mutex_);
    values_[{company, &kType<Value>}] = {mark, std::move(value)};
  }

 private:
  struct Entry {
    Mark mark;
    std::shared_ptr<const void> value;
  };
  template <typename Value>
  static constexpr char kType = 0;  // its address stands for the type

  mutable std::mutex mutex_;
  std::map<std::pair<CompanyId, const char*>, Entry> values_;  // guarded by mutex_
};

}  // namespace comanda::db
