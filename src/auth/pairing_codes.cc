#include "auth/pairing_codes.h"

#include <utility>

namespace comanda::auth {

std::optional<PairingCode> PairingCodes::Find(std::string_view hash_hex) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_hash_.find(std::string(hash_hex));
  if (found == by_hash_.end()) return std::nullopt;
  return found->second;
}

void PairingCodes::Put(PairingCode code) {
  const std::lock_guard lock(mutex_);
  by_hash_.insert_or_assign(code.hash_hex, std::move(code));
}

void PairingCodes::Load(std::vector<PairingCode> codes) {
  const std::lock_guard lock(mutex_);
  by_hash_.clear();
  for (PairingCode& code : codes) by_hash_.insert_or_assign(code.hash_hex, std::move(code));
}

std::vector<PairingCode> PairingCodes::All() const {
  const std::lock_guard lock(mutex_);
  std::vector<PairingCode> all;
  for (const auto& [hash, code] : by_hash_) all.push_back(code);
  return all;
}

void PairingCodes::Forget(std::string_view hash_hex) {
  const std::lock_guard lock(mutex_);
  by_hash_.erase(std::string(hash_hex));
}

std::optional<int64_t> PairingCodes::TakeAuditRow(int64_t monotonic_ms) {
  if (!rows_.Allows(monotonic_ms)) {
    ++rows_left_out_;
    return std::nullopt;
  }
  return rows_left_out_.exchange(0);
}

}  // namespace comanda::auth
