#pragma once

// The keys of one database in memory, found by their hash. A command replaces a record when its
// transaction has committed, before it answers, so that a revocation affects the very next request.

#include <atomic>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "auth/key.h"

namespace comanda::auth {

// Any thread. Lookups share a lock; changes take it exclusively.
class KeyTable {
 public:
  // The key with this SHA-256 (32 bytes), even if it has ended; null if unknown.
  std::shared_ptr<const KeyRecord> Find(std::string_view hash) const;
  // Inserts the record, or replaces the one with the same id, whose KeyUse is kept.
  void Put(KeyRecord record);
  // Compare and swap: replaces `before` by `after`, another version of the same key. Returns false
  // and changes nothing if `before` is not the current record.
  bool Replace(const std::shared_ptr<const KeyRecord>& before,
               std::shared_ptr<const KeyRecord> after);
  // Says that there are keys that could not be read: one that is not found may be one of them.
  void NoteUnreadable() { is_complete_ = false; }
  bool is_complete() const { return is_complete_; }
  // Replaces all records. Called at start.
  void Load(std::vector<KeyRecord> records);
  // A snapshot of all records, in no particular order.
  std::vector<std::shared_ptr<const KeyRecord>> All() const;

 private:
  std::atomic<bool> is_complete_{true};
  mutable std::shared_mutex mutex_;
  // Guarded by mutex_.
  std::unordered_map<std::string, std::shared_ptr<const KeyRecord>> by_hash_;
  // Guarded by mutex_.
  std::unordered_map<std::string, std::string> hash_of_id_;
};

}  // namespace comanda::auth
