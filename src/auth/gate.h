#pragma once

// Who may come in: credentials, then rate, then scope (contract section 1, order of checks). Plain
// values in; no HTTP types.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "auth/key.h"
#include "auth/key_table.h"
#include "auth/rate_limit.h"
#include "base/clock.h"

namespace comanda::auth {

struct GateSettings {
  Mode mode = Mode::kLive;
  Rate standard{100};
  Rate plus{600};
  Rate lan{3000};
};

// As they came; empty optional where the header is missing.
struct Credentials {
  std::optional<std::string_view> authorization;
  std::optional<std::string_view> api_key;
};

// Counts one request of a key as under way while it lives.
class Permit {
 public:
  Permit(std::shared_ptr<const KeyRecord> key, RateState rate);
  Permit(Permit&&) noexcept = default;
  Permit& operator=(Permit&&) noexcept;
  ~Permit();

  const KeyRecord& key() const { return *key_; }
  Principal principal() const;
  // Between Suspend() and Resume() it does not count: a waiting long poll (contract section 4).
  void Suspend();
  void Resume();
  RateState rate;  // for the headers; retry_after_s above 0: the request is refused with 429

 private:
  std::shared_ptr<const KeyRecord> key_;
};

class Gate {
 public:
  Gate(GateSettings settings, KeyTable& keys, const Clock& clock);

  // Identifies the key. Refusal: conflicting_credentials, unauthorized, key_revoked, key_expired,
  // wrong_environment, address_not_allowed, rate_limit_exceeded (20 unknown keys a minute from one
  // address: further unknown keys; a valid key is never affected).
  std::shared_ptr<const KeyRecord> Identify(const Credentials& credentials,
                                            std::string_view client_address);
  // Takes one request from the key's bucket and one place under way. Never throws: the caller sends
  // the rate headers also with the 429.
  Permit Admit(std::shared_ptr<const KeyRecord> key);
  // A 304 and an empty long poll cost nothing: gives one request back.
  void Refund(Permit& permit);

  // insufficient_scope with a detail that names the scope.
  static void RequireScope(const ScopeSet& scopes, Scope scope);

  // Called with no argument before a request is refused because its key's time is up, and that is
  // not written down yet. To be set before the first request; must not throw.
  void SetWriteDownEnds(std::function<void()> write) { write_down_ends_ = std::move(write); }

  KeyTable& keys() { return keys_; }
  Mode mode() const { return settings_.mode; }

 private:
  struct FailureTable;
  Rate RateOf(Tier tier) const;
  GateSettings settings_;
  KeyTable& keys_;
  const Clock& clock_;
  std::shared_ptr<FailureTable> failures_;
  std::function<void()> write_down_ends_;
};

}  // namespace comanda::auth
