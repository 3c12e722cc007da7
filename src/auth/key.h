#pragma once

// API keys: their textual form, and what the server keeps in memory about each (contract section
// 3).

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/roles.h"
#include "auth/scopes.h"
#include "base/time/clock.h"
#include "db/company_id.h"

namespace comanda::auth {

// The kind of data that a key gives access to: the live address or the sandbox. It is part of the
// key's text.
enum class Mode : uint8_t { kLive, kTest };
inline constexpr std::string_view Name(Mode mode) { return mode == Mode::kLive ? "live" : "test"; }

// The class of rate limit of a key (contract section 4). The rates are settings.
enum class Tier : uint8_t { kStandard, kPlus, kLan, kUnlimited };
// Names in JSON, indexed by Tier.
inline constexpr std::array<std::string_view, 4> kTierNames = {"standard", "plus", "lan",
                                                               "unlimited"};
inline constexpr std::string_view Name(Tier tier) { return kTierNames[static_cast<size_t>(tier)]; }

// A new random key: <prefix>_live_ or <prefix>_test_, 32 base62 characters, and a checksum of 6
// base62 characters (CRC-32 of everything before it).
std::string MakeKey(std::string_view prefix, Mode mode);
// The key with a given body of 32 characters; for the test vector of the contract.
std::string CompleteKey(std::string_view prefix, Mode mode, std::string_view body);

// The mode in the text of a key of any prefix; nothing if its form or its checksum is wrong.
// Recognises a mistyped key without a lookup.
std::optional<Mode> ModeOfKey(std::string_view key);

// The state that changes with each use of a key. The versions of a KeyRecord share it, so that
// renaming a key does not refill its rate limit. Any thread.
struct KeyUse {
  // State of the rate limit (auth/rate_limit.h), monotonic time in us.
  std::atomic<int64_t> theoretical_arrival_us{0};
  // Requests in progress.
  std::atomic<int> under_way{0};
  // The last use in monotonic time, for KeyRecord::idle_days. Of a key that was not used since the
  // start: as long before the start as the stored use was by settled time (base/time/ends.h, rule
  // 1).
  std::atomic<int64_t> used_at_ms{0};
  std::mutex mutex;
  // Guarded by mutex.
  UtcMs last_used_at = 0;
  // Guarded by mutex.
  std::string last_used_ip;
  // Guarded by mutex. True if the last use is not stored yet (keys::FlushLastUsed).
  bool last_used_dirty = false;
};

// How a key has ended. An ended key never works again, unless it expired and gets a later expiry.
enum class Ended : uint8_t { kNot, kRevoked, kExpired };

// An immutable version of one key. A change of the key replaces the record in the KeyTable;
// requests in progress keep the version they started with.
struct KeyRecord {
  std::string id;
  db::CompanyId company;
  std::string company_uuid;
  // SHA-256 of the key, 32 bytes.
  std::string hash;
  std::string name;
  ScopeSet scopes;
  Tier tier = Tier::kStandard;
  Mode mode = Mode::kLive;
  std::optional<Role> role;
  // Ranges that the key may be used from; empty: anywhere.
  std::vector<std::string> allowed_cidrs;
  std::optional<UtcMs> expires_at;
  // The key ends when it was not used for so long.
  std::optional<int64_t> idle_days;
  // In the future during the grace period of a rotated key.
  std::optional<UtcMs> revoked_at;
  // The end of the grace period in monotonic time, if this process granted it: setting the clock
  // changes its length neither way.
  std::optional<int64_t> grace_until_ms;
  // The end as noted in memory. Once set, no change of the clock undoes it.
  Ended ended = Ended::kNot;
  // False while `ended` is not stored yet, e.g. because the disk was full.
  bool end_is_written = true;

  // Whether the key has ended: as noted, else by the given times (base/time/clock.h).
  Ended EndedAt(UtcMs settled_now, int64_t monotonic_ms) const;
  // When it will have been idle for too long, in monotonic time.
  std::optional<int64_t> IdleEndMs() const;
  std::shared_ptr<KeyUse> use = std::make_shared<KeyUse>();
};

// The identity under which a request acts: a key, or the local command line.
struct Principal {
  // As status_history and the audit log name it: "key:<id>" or "local".
  std::string actor;
  db::CompanyId company;
  std::string company_uuid;
  ScopeSet scopes;
  Tier tier = Tier::kUnlimited;
  std::optional<Role> role;
  // Of the key; "local".
  std::string name;
};

}  // namespace comanda::auth
