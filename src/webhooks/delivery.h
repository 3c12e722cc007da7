#pragma once

// A message on its way to a receiver, and what became of it (contract section 13, Delivery).

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"
#include "outbox/lane.h"
#include "webhooks/subscription.h"

namespace comanda::webhooks {

// One try to deliver the message, and how it ended.
struct Attempt {
  UtcMs at = 0;
  Outcome outcome = Outcome::kConnectionFailed;
  std::optional<int64_t> status;
  int64_t duration_ms = 0;
  std::string address;  // empty: none was reached
  std::string answer;   // the first 4 kB of the body, or what went wrong
  std::optional<int64_t> clock_skew_s;
};
inline constexpr size_t kAttemptsKept = 10;

// What became of a message. Late and waiting ones are unsettled: the position of their subscription
// has passed them, so each has a row of its own.
enum class State : uint8_t {
  kDelivered,
  kLate,     // failed, and is tried again
  kWaiting,  // behind a late one with the same key
  kDead,
};
inline constexpr std::array<std::string_view, 4> kStateNames = {"delivered", "late", "waiting",
                                                                "dead"};
constexpr std::string_view Name(State state) { return kStateNames[static_cast<size_t>(state)]; }

using outbox::kNeverFailed;

// A message for one subscription.
struct Delivery {
  std::string id;
  int64_t seq = 0;  // of the event; 0: a test
  Kind kind = Kind::kTest;
  std::string event_id;  // of the message
  std::string subject_type, subject_id;
  int64_t subject_version = 0;
  std::optional<int64_t> sequence;
  State state = State::kWaiting;
  std::vector<Attempt> attempts;  // the last ones
  outbox::Failing failing;
  std::optional<UtcMs> next_attempt_at;
  UtcMs created_at = 0;  // of the event
  std::optional<UtcMs> settled_at;

  // Messages with the same key go one after another: an order's and its ticket's, those of the
  // catalogue, an app's.
  std::string Key() const {
    if (subject_type == "product") return subject_type;
    return (subject_type == "ticket" ? "order" : subject_type) + ' ' + subject_id;
  }
  // Keeps the last kAttemptsKept.
  void Add(Attempt attempt) {
    attempts.push_back(std::move(attempt));
    if (attempts.size() > kAttemptsKept) attempts.erase(attempts.begin());
  }
};

// The record of a delivery. `shows_answer`: what the receiver answered, which is for keys with
// webhooks:write alone.
std::string Render(const Delivery& delivery, bool shows_answer);
// The attempts as a row stores them.
std::string StoredAttempts(const std::vector<Attempt>& attempts);
// Reads what StoredAttempts() wrote.
std::vector<Attempt> ParseAttempts(std::string_view stored);

}  // namespace comanda::webhooks
