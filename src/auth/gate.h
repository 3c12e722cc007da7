#pragma once

// Access control for a request: authentication, then the rate limit, then the scope (contract
// section 1, Order of checks). Takes plain values; knows no HTTP types.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "auth/device_requests.h"
#include "auth/key.h"
#include "auth/key_table.h"
#include "auth/pairing_codes.h"
#include "auth/rate_limit.h"
#include "base/time/clock.h"

namespace comanda::auth {

// The mode of keys that this address serves, and the rate of each tier.
struct GateSettings {
  Mode mode = Mode::kLive;
  Rate standard{100};
  Rate plus{600};
  Rate lan{3000};
};

// The values of the headers Authorization and X-API-Key as received; nothing if the header is
// missing.
struct Credentials {
  std::optional<std::string_view> authorization;
  std::optional<std::string_view> api_key;
};

// An authenticated request in progress. While it exists it counts towards the limit of simultaneous
// requests of its key (UnderWayMax).
class Permit {
 public:
  // Counts the request as in progress until destroyed.
  Permit(std::shared_ptr<const KeyRecord> key, RateState rate);
  Permit(Permit&&) noexcept = default;
  Permit& operator=(Permit&&) noexcept;
  ~Permit();

  const KeyRecord& key() const { return *key_; }
  // The identity under which the request acts.
  Principal principal() const;
  // A waiting long poll does not count towards that limit (contract section 4): call Suspend()
  // before the wait and Resume() after it.
  void Suspend();
  void Resume();
  // For the RateLimit-* headers. If retry_after_s is above 0, the request must be refused with 429.
  RateState rate;

 private:
  std::shared_ptr<const KeyRecord> key_;
};

// Any thread may call any method, except SetWriteDownEnds(). `keys` and `clock` must outlive the
// gate.
class Gate {
 public:
  Gate(GateSettings settings, KeyTable& keys, const Clock& clock);

  // Authenticates a request: finds the record of its key, and notes its use. Throws Refusal:
  // kConflictingCredentials, kUnauthorized, kKeyRevoked, kKeyExpired, kWrongEnvironment,
  // kAddressNotAllowed, and kRateLimitExceeded for an unknown key from a client that has sent more
  // than 20 of them within a minute. Requests with a valid key are never affected by that limit.
  std::shared_ptr<const KeyRecord> Identify(const Credentials& credentials,
                                            std::string_view client_address);
  // Takes one request from the key's rate limit, and counts it as in progress. Does not throw: the
  // caller sends the RateLimit-* headers with a 429 too.
  Permit Admit(std::shared_ptr<const KeyRecord> key);
  // Gives the request back to the rate limit: a 304 and an empty long poll are free (contract
  // section 4).
  void Refund(Permit& permit);

  // Counts a request with an unknown key or pairing code from that client. Throws
  // Refusal(kRateLimitExceeded) if more than 20 came within a minute; `what` names them: "keys".
  void CountUnknown(std::string_view client_address, std::string_view what);

  // Throws Refusal(kInsufficientScope) that names the scope.
  static void RequireScope(const ScopeSet& scopes, Scope scope);

  // Sets a function that stores which keys have ended (keys::WriteDownEnds). Identify() calls it
  // before it refuses a key whose end is not stored yet. Call before the first request; `write`
  // must not throw.
  void SetWriteDownEnds(std::function<void()> write) { write_down_ends_ = std::move(write); }

  KeyTable& keys() { return keys_; }
  PairingCodes& pairing_codes() { return pairing_codes_; }
  const PairingCodes& pairing_codes() const { return pairing_codes_; }
  DeviceRequests& device_requests() { return device_requests_; }
  Mode mode() const { return settings_.mode; }

 private:
  // Counts requests with unknown keys and codes, by client; defined in gate.cc.
  struct FailureTable;
  // The rate that the settings give that tier.
  Rate RateOf(Tier tier) const;
  GateSettings settings_;
  KeyTable& keys_;
  PairingCodes pairing_codes_;
  DeviceRequests device_requests_;
  const Clock& clock_;
  std::shared_ptr<FailureTable> failures_;
  std::function<void()> write_down_ends_;
};

}  // namespace comanda::auth
