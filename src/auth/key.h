#pragma once

// API keys: their form and what the server knows of one (contract section 3).

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/scopes.h"
#include "base/clock.h"
#include "db/company_id.h"

namespace comanda::auth {

enum class Mode : uint8_t { kLive, kTest };
inline constexpr std::string_view Name(Mode mode) { return mode == Mode::kLive ? "live" : "test"; }

// Rates stand in the configuration (contract section 4).
enum class Tier : uint8_t { kStandard, kPlus, kLan, kUnlimited };
inline constexpr std::array<std::string_view, 4> kTierNames = {"standard", "plus", "lan",
                                                               "unlimited"};
inline constexpr std::string_view Name(Tier tier) { return kTierNames[static_cast<size_t>(tier)]; }

// A new key: <prefix>_live_ + 32 base62 characters + 6 of CRC-32.
std::string MakeKey(std::string_view prefix, Mode mode);
// The whole key for a given 32-character body (for the checksum's test vector).
std::string CompleteKey(std::string_view prefix, Mode mode, std::string_view body);

// The mode that a well-formed key names: right form and checksum, any prefix; nothing where
// mistyped.
std::optional<Mode> ModeOfKey(std::string_view key);

// What changes while a key is used: shared between versions of its record, so that a change of the
// key's name does not refill its bucket. Any thread.
struct KeyUse {
  std::atomic<int64_t> theoretical_arrival_us{0};  // GCRA, monotonic
  std::atomic<int> under_way{0};
  std::mutex mutex;
  UtcMs last_used_at = 0;        // guarded by mutex
  std::string last_used_ip;      // guarded by mutex
  bool last_used_dirty = false;  // guarded by mutex; written to the table now and then
};

// How a key has ended, for good.
enum class Ended : uint8_t { kNot, kRevoked, kExpired };

// An immutable version of a key's row.
struct KeyRecord {
  std::string id;
  db::CompanyId company;
  std::string company_uuid;
  std::string hash;  // 32 bytes, SHA-256 of the whole key
  ScopeSet scopes;
  Tier tier = Tier::kStandard;
  Mode mode = Mode::kLive;
  std::vector<std::string> allowed_cidrs;  // empty: from anywhere
  std::optional<UtcMs> expires_at;
  std::optional<UtcMs> revoked_at;  // may lie ahead: rotation with grace
  // The end of that grace by the monotonic clock, where this process granted it: a clock that is
  // put right meanwhile makes it neither shorter nor longer.
  std::optional<int64_t> grace_until_ms;
  // As written down; no clock brings the key back. `end_is_written` is false where a full disk did
  // not take it yet.
  Ended ended = Ended::kNot;
  bool end_is_written = true;

  // Whether it has ended by now: as written down, else as the clocks say.
  Ended EndedAt(UtcMs settled_now, int64_t monotonic_ms) const;
  std::shared_ptr<KeyUse> use = std::make_shared<KeyUse>();
};

// Who makes a request.
struct Principal {
  std::string actor;  // as status_history and audit name it: "key:<id>" or "local"
  db::CompanyId company;
  std::string company_uuid;
  ScopeSet scopes;
  Tier tier = Tier::kUnlimited;
};

}  // namespace comanda::auth
