#pragma once

// An API key as its row has it; never the key itself (contract section 3).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "auth/key.h"
#include "base/clock.h"

namespace comanda::keys {

inline constexpr size_t kShownPrefixSize = 12;
inline constexpr size_t kShownSuffixSize = 4;

struct Key {
  std::string id;
  std::string name;
  std::string hash_hex;  // SHA-256 of the whole key
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
  std::optional<UtcMs> revoked_at;  // may lie ahead: rotated, with grace

  // Revoked without grace, which no clock that is put back undoes. Nothing changes such a key
  // later.
  bool IsRevokedForGood() const { return revoked_at && *revoked_at <= updated_at; }
  bool IsRevoked(UtcMs now) const {
    return IsRevokedForGood() || (revoked_at && *revoked_at <= now);
  }
  bool IsActive(UtcMs now) const { return !IsRevoked(now) && (!expires_at || *expires_at > now); }
  // When it expires; the end of time where it does not.
  UtcMs End() const { return expires_at.value_or(INT64_MAX); }
};

// What a request wants a key to be; a field that is left out stays as it is, or gets its default.
struct Draft {
  std::optional<std::string> name;
  std::optional<auth::ScopeSet> scopes;
  std::optional<auth::Tier> tier;
  std::optional<std::optional<UtcMs>> expires_at;  // the inner one empty: without an end
  std::optional<std::vector<std::string>> allowed_cidrs;
};

// A new key's text and id, made before the transaction (a command draws nothing random itself).
struct Secret {
  std::string id;
  std::string text;  // the key; shown once
};

}  // namespace comanda::keys
