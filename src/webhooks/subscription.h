#pragma once

// The nouns of webhooks: a subscription, and a message that is delivered to it (contract section
// 13).

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time/clock.h"
#include "db/company_id.h"
#include "webhooks/kinds.h"
#include "webhooks/signature.h"

namespace comanda::webhooks {

// Of one company (contract section 13, Limits).
inline constexpr size_t kSubscriptionsMax = 20;
// The longest time for which the old secret of a rotation signs, too.
inline constexpr int64_t kGraceMaxMs = 24LL * 60 * 60 * 1000;

// Name and value of what is sent with every message, in the order of the body.
using Headers = std::vector<std::pair<std::string, std::string>>;

// How an attempt ended. The names below are those of the API.
enum class Outcome : uint8_t {
  kAcknowledged,
  kRefusedStatus,
  kTimeout,
  kNameNotFound,
  kAddressRefused,
  kConnectionFailed,
  kTlsUntrusted,
  kTlsPinMismatch,
};
inline constexpr std::array<std::string_view, 8> kOutcomeNames = {
    "acknowledged",    "refused_status",    "timeout",       "name_not_found",
    "address_refused", "connection_failed", "tls_untrusted", "tls_pin_mismatch"};
constexpr std::string_view Name(Outcome outcome) {
  return kOutcomeNames[static_cast<size_t>(outcome)];
}

// Why nothing is sent to a receiver until its owner changes the subscription: it answered 410, or
// it failed for too long (webhooks/schedule.h).
enum class Suspended : uint8_t { kNot, kGone, kFailing };
inline constexpr std::array<std::string_view, 3> kSuspendedNames = {"", "gone", "failing"};
constexpr std::string_view Name(Suspended suspended) {
  return kSuspendedNames[static_cast<size_t>(suspended)];
}

// What a caller sets.
struct Configuration {
  std::string url;
  std::optional<std::string> merchant_id;
  Headers headers;
  std::vector<int> ack_codes;  // empty: any 2xx
  std::optional<std::string> public_key_pin;
  bool is_active = true;

  bool Acknowledges(int status) const;
  bool operator==(const Configuration&) const = default;
};

// What the deliveries have come to. Written by the worker.
struct Progress {
  // All messages of events up to here are settled, or have a row of their own because they are
  // late.
  int64_t settled_seq = 0;
  int64_t sequence = 0;  // the number of the last message up to there
  int64_t events_lost = 0;
  std::optional<Outcome> last_outcome;
  std::optional<int64_t> last_status;
  std::optional<UtcMs> last_delivery_at;  // of the last acknowledgement
  int64_t last_success_ms = 0;            // the same in counted time (events/marks.h)
  int64_t failures_in_a_row = 0;
  // Since the last success: time that the box ran and had a network, and attempts.
  int64_t failing_ms = 0;
  int64_t attempts_failed = 0;
  Suspended suspended = Suspended::kNot;
  std::optional<UtcMs> suspended_at;
};

// A receiver of a company, and what it asked for.
struct Subscription {
  std::string id;
  Configuration configuration;
  Selection selection;
  Secrets secrets;
  std::optional<UtcMs> secret_rotates_until;
  Progress progress;
  // Raised by every change that the worker must take up: by a caller, by the purge.
  int64_t revision = 0;
  UtcMs created_at = 0;
  UtcMs updated_at = 0;

  bool Sends() const { return configuration.is_active && progress.suspended == Suspended::kNot; }
};

// What a subscription is behind, at the moment of reading.
struct Behind {
  int64_t backlog = 0;
  std::optional<UtcMs> oldest_at;
};

}  // namespace comanda::webhooks
