#pragma once

// A cache of values made from rows that seldom change (Database::Kept). Each value is stored with
// the Revision of a change counter (db/change_counters.h), taken before its rows were read. It is
// found only with an equal Revision: after a change it is read again. Any thread.
//
// One value of each type and company is kept; a caller may go on using one that was replaced.

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
  using Revision = ChangeCounters::Revision;

  // Null where none is kept, or one of another revision.
  template <typename Value>
  std::shared_ptr<const Value> Find(CompanyId company, Revision revision) const {
    const std::lock_guard lock(mutex_);
    const auto found = values_.find({company, &kType<Value>});
    if (found == values_.end() || found->second.revision != revision) return nullptr;
    return std::static_pointer_cast<const Value>(found->second.value);
  }

  // Replaces the value of that type.
  template <typename Value>
  void Keep(CompanyId company, Revision revision, std::shared_ptr<const Value> value) {
    const std::lock_guard lock(mutex_);
    values_[{company, &kType<Value>}] = {revision, std::move(value)};
  }

 private:
  struct Entry {
    Revision revision;
    std::shared_ptr<const void> value;
  };
  template <typename Value>
  static constexpr char kType = 0;  // its address stands for the type

  mutable std::mutex mutex_;
  std::map<std::pair<CompanyId, const char*>, Entry> values_;  // guarded by mutex_
};

}  // namespace comanda::db
