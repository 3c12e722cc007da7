#pragma once

// A cache of values made from rows that seldom change (Database::Kept). Each value is stored with
// the Mark of a change counter (db/change_counters.h), taken before its rows were read. It is found
// only with an equal Mark: after a change it is read again. Any thread.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "db/change_counters.h"
#include "db/company_id.h"

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
