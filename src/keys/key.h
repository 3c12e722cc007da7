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
  // Written down when the key is revoked without grace, and when it is first seen that its grace or
  // its time is over. Nothing undoes it but another `expires_at` for a key that has expired.
  auth::Ended ended = auth::Ended::kNot;

  // `settled_now`: by the settled clock (base/clock.h).
  bool IsRevoked(UtcMs settled_now) const {
    return ended == auth::Ended::kRevoked || (revoked_at && *revoked_at <= settled_now);
  }
  bool IsActive(UtcMs settled_now) const {
    return ended == auth::Ended::kNot && !IsRevoked(settled_now) &&
           (!expires_at || *expires_at > settled_now);
  }
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
