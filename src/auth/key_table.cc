#include "auth/key_table.h"

#include <mutex>
#include <utility>

namespace comanda::auth {

std::shared_ptr<const KeyRecord> KeyTable::Find(std::string_view hash) const {
  const std::string wanted(hash);
  std::shared_lock lock(mutex_);
  const auto it = by_hash_.find(wanted);
  return it == by_hash_.end() ? nullptr : it->second;
}

void KeyTable::Put(KeyRecord record) {
  std::unique_lock lock(mutex_);
  if (const auto known = hash_of_id_.find(record.id); known != hash_of_id_.end()) {
    if (const auto earlier = by_hash_.find(known->second); earlier != by_hash_.end()) {
      record.use = earlier->second->use;
      by_hash_.erase(earlier);
    }
  }
  hash_of_id_[record.id] = record.hash;
  std::string hash = record.hash;
  by_hash_[std::move(hash)] = std::make_shared<const KeyRecord>(std::move(record));
}

bool KeyTable::Replace(const std::shared_ptr<const KeyRecord>& before,
                       std::shared_ptr<const KeyRecord> after) {
  std::unique_lock lock(mutex_);
  const auto found = by_hash_.find(before->hash);
  if (found == by_hash_.end() || found->second != before) return false;
  found->second = std::move(after);
  return true;
}

void KeyTable::Load(std::vector<KeyRecord> records) {
  {
    std::unique_lock lock(mutex_);
    by_hash_.clear();
    hash_of_id_.clear();
  }
  for (KeyRecord& record : records) Put(std::move(record));
}

std::vector<std::shared_ptr<const KeyRecord>> KeyTable::All() const {
  std::shared_lock lock(mutex_);
  std::vector<std::shared_ptr<const KeyRecord>> all;
  all.reserve(by_hash_.size());
  for (const auto& [hash, record] : by_hash_) all.push_back(record);
  return all;
}

}  // namespace comanda::auth
