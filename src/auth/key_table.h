#pragma once

// All keys of one database in memory, found by their hash. Commands replace rows in a commit's
// publication, so a revocation acts on the very next request.

#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "auth/key.h"

namespace comanda::auth {

// Any thread.
class KeyTable {
 public:
  // The key with that SHA-256, revoked and expired ones included; null where unknown.
  std::shared_ptr<const KeyRecord> Find(std::string_view hash) const;
  // Inserts or replaces by id; keeps the KeyUse of an earlier version.
  void Put(KeyRecord record);
  // Replaces `before` by another version of the same key; false, and nothing is changed, where it
  // is no longer the key's record.
  bool Replace(const std::shared_ptr<const KeyRecord>& before,
               std::shared_ptr<const KeyRecord> after);
  // Replaces everything (at start).
  void Load(std::vector<KeyRecord> records);
  std::vector<std::shared_ptr<const KeyRecord>> All() const;

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const KeyRecord>> by_hash_;  // guarded by mutex_
  std::unordered_map<std::string, std::string> hash_of_id_;                    // guarded by mutex_
};

}  // namespace comanda::auth
