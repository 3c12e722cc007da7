#pragma once

// The pairing codes of one database in memory, found by their hash (contract section 3). A guessed
// code is refused from memory: it costs neither a read nor a write of the database. Whether a code
// is accepted is decided by its row alone, in the transaction that makes the key
// (keys/pairing.h).

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/line_limit.h"
#include "db/company_id.h"

namespace comanda::auth {

enum class CodeState : uint8_t { kOpen, kUsed, kExpired };

struct PairingCode {
  std::string id;
  // SHA-256 of the code's text, hexadecimal.
  std::string hash_hex;
  db::CompanyId company;
  // Monotonic time: setting the clock changes the life of a code neither way.
  int64_t ends_at_ms = 0;
  // A code that is open here has expired from ends_at_ms on.
  CodeState stored = CodeState::kOpen;
  // False while `stored` is ahead of the row, e.g. because the disk was full.
  bool end_is_written = true;
  // Of a code that was used since the start: the key that was made, and the device's address.
  std::string key_id, key_name;
  std::string taken_from;

  CodeState At(int64_t monotonic_ms) const {
    return stored == CodeState::kOpen && monotonic_ms >= ends_at_ms ? CodeState::kExpired : stored;
  }
};

// Any thread.
class PairingCodes {
 public:
  // Nothing for a code that was never made, or ended long ago.
  std::optional<PairingCode> Find(std::string_view hash_hex) const;
  // Inserts the code, or replaces the one with its hash.
  void Put(PairingCode code);
  // Replaces all codes. Called at start.
  void Load(std::vector<PairingCode> codes);
  std::vector<PairingCode> All() const;
  void Forget(std::string_view hash_hex);

  // Bounds the rows of the audit log that refused codes cause, at 20 a minute: nothing if there is
  // to be no row, else how many were left out before.
  std::optional<int64_t> TakeAuditRow(int64_t monotonic_ms);

 private:
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::unordered_map<std::string, PairingCode> by_hash_;
  std::atomic<int64_t> rows_left_out_ = 0;
  LineLimit rows_{20, 60'000};
};

}  // namespace comanda::auth
