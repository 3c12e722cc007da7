#pragma once

// An API key as stored (contract section 3). The text of the key is never stored, only its hash.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "auth/key.h"
#include "base/time/clock.h"

namespace comanda::keys {

// How many characters of a key are stored in clear, so that people recognise it.
inline constexpr size_t kShownPrefixSize = 12;
inline constexpr size_t kShownSuffixSize = 4;

struct Key {
  std::string id;
  std::string name;
  // SHA-256 of the key's text, hexadecimal.
  std::string hash_hex;
  std::string key_prefix;
  std::string last_four;
  auth::Mode mode = auth::Mode::kLive;
  auth::ScopeSet scopes;
  auth::Tier tier = auth::Tier::kStandard;
  std::vector<std::string> allowed_cidrs;
  UtcMs created_at = 0;
  UtcMs updated_at = 0;
  std::optional<UtcMs> last_used_at;
  std::optional<std::string> last_used_ip;
  std::optional<UtcMs> expires_at;
  std::optional<auth::Role> role;
  // The key ends when it was not used for so long.
  std::optional<int64_t> idle_days;
  // In the future during the grace period of a rotated key.
  std::optional<UtcMs> revoked_at;
  // Stored when a key is revoked without grace, and when its grace period or its validity is first
  // seen to be over. Nothing undoes it, except a later `expires_at` for an expired key.
  auth::Ended ended = auth::Ended::kNot;

  // `settled_now` is settled time (base/time/clock.h).
  bool IsRevoked(UtcMs settled_now) const {
    return ended == auth::Ended::kRevoked || (revoked_at && *revoked_at <= settled_now);
  }
  bool IsActive(UtcMs settled_now) const {
    return ended == auth::Ended::kNot && !IsRevoked(settled_now) &&
           (!expires_at || *expires_at > settled_now);
  }
  // The expiry; the largest time if the key does not expire.
  UtcMs End() const { return expires_at.value_or(INT64_MAX); }
};

// The wishes of a request to create or change a key. A missing field gets its default, or stays
// unchanged.
struct Draft {
  std::optional<std::string> name;
  std::optional<auth::ScopeSet> scopes;
  std::optional<auth::Tier> tier;
  // Inner nothing: the key does not expire.
  std::optional<std::optional<UtcMs>> expires_at;
  // Inner nothing: the key may be idle.
  std::optional<std::optional<int64_t>> idle_days;
  std::optional<std::vector<std::string>> allowed_cidrs;
};

// Characters of a name.
inline constexpr size_t kNameMax = 200;

// What a role grants (auth/roles.h) to a device.
struct Grant {
  auth::Role role = auth::Role::kKitchen;
  std::string name;
  std::vector<std::string> allowed_cidrs;
};

// Id and text of a new key. Made before the transaction, because a command must be repeatable and
// draws no random numbers.
struct Secret {
  std::string id;
  // The key itself; shown once, never stored.
  std::string text;
};

}  // namespace comanda::keys
