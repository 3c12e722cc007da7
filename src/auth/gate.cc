#include "auth/gate.h"

#include <algorithm>
#include <list>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/address.h"
#include "base/check.h"
#include "base/problem.h"
#include "base/text.h"
#include "crypto/hash.h"

namespace comanda::auth {
namespace {

// Unknown keys and codes that one client may send within kWindowMs.
constexpr int kFailuresMax = 20;
constexpr int64_t kWindowMs = 60'000;
constexpr size_t kClientsMax = 4096;
constexpr int kUnreadableRetryS = 60;

constexpr std::string_view kHowTo =
    "send Authorization: Bearer <key>, or X-API-Key: <key>, with a key of this company";

// The token after "Bearer"; nothing for another scheme.
std::optional<std::string_view> BearerToken(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer";
  if (authorization.size() <= kScheme.size() || authorization[kScheme.size()] != ' ' ||
      !AsciiEqualsIgnoreCase(authorization.substr(0, kScheme.size()), kScheme)) {
    return std::nullopt;
  }
  std::string_view token = authorization.substr(kScheme.size());
  token.remove_prefix(std::min(token.find_first_not_of(' '), token.size()));
  return token;
}

std::string_view OneKey(const Credentials& credentials) {
  std::optional<std::string_view> bearer;
  if (credentials.authorization) bearer = BearerToken(*credentials.authorization);
  if (bearer && credentials.api_key && *bearer != *credentials.api_key) {
    throw Refusal(Problem::kConflictingCredentials,
                  "Authorization and X-API-Key carry different keys; send one of them.");
  }
  if (credentials.api_key) return *credentials.api_key;
  if (bearer) return *bearer;
  if (credentials.authorization) {
    throw Refusal(Problem::kUnauthorized,
                  "The scheme of Authorization is not Bearer; " + std::string(kHowTo) + ".");
  }
  throw Refusal(Problem::kUnauthorized, "No API key was sent; " + std::string(kHowTo) + ".");
}

void CheckAddress(const KeyRecord& key, std::string_view client_address) {
  if (key.allowed_cidrs.empty()) return;
  const std::optional<Address> address = ParseAddress(client_address);
  const auto contains = [&](const std::string& text) {
    const std::optional<AddressRange> range = AddressRange::Parse(text);
    return range && range->Contains(*address);
  };
  if (address && std::ranges::any_of(key.allowed_cidrs, contains)) return;
  throw Refusal(Problem::kAddressNotAllowed,
                "The key may not be used from " + std::string(client_address) +
                    "; its allowed_cidrs do not contain that address.");
}

// Of an expired key.
std::string DescribeEnd(const KeyRecord& key, UtcMs settled_now) {
  if (key.idle_days && !(key.expires_at && *key.expires_at <= settled_now)) {
    return "The API key ended because it was not used for " + std::to_string(*key.idle_days) +
           " days; let the device in again.";
  }
  return "The API key expired at " + FormatInstant(key.expires_at.value_or(settled_now)) +
         "; use another one.";
}

}  // namespace

// Counts requests with unknown keys and codes by client. The window of a client starts with its
// first failure. At most kClientsMax clients; the oldest window is dropped. Any thread.
struct Gate::FailureTable {
  struct Entry {
    std::string client;
    int64_t since_ms;
    int count;
  };

  // Counts one failure. Returns the seconds to wait if there were too many, else 0.
  int Count(std::string client, int64_t now_ms) {
    std::lock_guard lock(mutex);
    while (!entries.empty() &&
           (now_ms - entries.front().since_ms >= kWindowMs || entries.size() >= kClientsMax)) {
      by_client.erase(entries.front().client);
      entries.pop_front();
    }
    auto known = by_client.find(client);
    if (known == by_client.end()) {
      entries.push_back({client, now_ms, 0});
      known = by_client.emplace(std::move(client), std::prev(entries.end())).first;
    }
    Entry& entry = *known->second;
    if (entry.count >= kFailuresMax) {
      return static_cast<int>((entry.since_ms + kWindowMs - now_ms + 999) / 1000);
    }
    ++entry.count;
    return 0;
  }

  std::mutex mutex;
  // Guarded by mutex; sorted by start of the window, oldest first.
  std::list<Entry> entries;
  // Guarded by mutex.
  std::unordered_map<std::string, std::list<Entry>::iterator> by_client;
};

Permit::Permit(std::shared_ptr<const KeyRecord> key, RateState state)
    : rate(state), key_(std::move(key)) {
  key_->use->under_way.fetch_add(1, std::memory_order_relaxed);
}

Permit& Permit::operator=(Permit&& other) noexcept {
  std::swap(rate, other.rate);
  std::swap(key_, other.key_);
  return *this;
}

Permit::~Permit() {
  if (key_) key_->use->under_way.fetch_sub(1, std::memory_order_relaxed);
}

void Permit::Suspend() { key_->use->under_way.fetch_sub(1, std::memory_order_relaxed); }

void Permit::Resume() { key_->use->under_way.fetch_add(1, std::memory_order_relaxed); }

Principal Permit::principal() const {
  return {.actor = "key:" + key_->id,
          .company = key_->company,
          .company_uuid = key_->company_uuid,
          .scopes = key_->scopes,
          .tier = key_->tier,
          .role = key_->role,
          .name = key_->name};
}

Gate::Gate(GateSettings settings, KeyTable& keys, const Clock& clock)
    : settings_(settings),
      keys_(keys),
      clock_(clock),
      failures_(std::make_shared<FailureTable>()) {}

std::shared_ptr<const KeyRecord> Gate::Identify(const Credentials& credentials,
                                                std::string_view client_address) {
  const std::string_view text = OneKey(credentials);
  const std::optional<Mode> mode = ModeOfKey(text);
  if (mode && *mode != settings_.mode) {
    throw Refusal(Problem::kWrongEnvironment,
                  "This is a " + std::string(Name(*mode)) + " key, and this address serves " +
                      std::string(Name(settings_.mode)) + " data; use the other address or key.");
  }

  std::shared_ptr<const KeyRecord> key;
  if (mode) {
    const crypto::Sha256Digest digest = crypto::Sha256(text);
    key = keys_.Find({reinterpret_cast<const char*>(digest.data()), digest.size()});
  }
  if (!key && mode && !keys_.is_complete()) {
    Refusal refusal(Problem::kServiceUnavailable,
                    "The keys cannot be read, since the box's database is damaged (/readyz says "
                    "more): this one may be valid.");
    refusal.retry_after_s = kUnreadableRetryS;
    throw refusal;
  }
  if (!key) {
    CountUnknown(client_address, "keys");
    throw Refusal(Problem::kUnauthorized,
                  mode
                      ? "The API key is not known here; check that it was copied from this company."
                      : "The API key is mistyped or cut off (its checksum does not fit); copy it "
                        "again.");
  }

  const Ended ended = key->EndedAt(clock_.SettledNow(), clock_.MonotonicMs());
  if (ended != Ended::kNot && key->ended == Ended::kNot && write_down_ends_) write_down_ends_();
  if (ended == Ended::kRevoked) {
    throw Refusal(Problem::kKeyRevoked, "The API key was revoked; use another one.");
  }
  if (ended == Ended::kExpired) {
    throw Refusal(Problem::kKeyExpired, DescribeEnd(*key, clock_.SettledNow()));
  }
  CheckAddress(*key, client_address);

  KeyUse& use = *key->use;
  std::lock_guard lock(use.mutex);
  use.last_used_at = clock_.Now();
  use.last_used_ip = client_address;
  use.last_used_dirty = true;
  use.used_at_ms.store(clock_.MonotonicMs(), std::memory_order_relaxed);
  return key;
}

void Gate::CountUnknown(std::string_view client_address, std::string_view what) {
  const int wait_s = failures_->Count(ClientOf(client_address), clock_.MonotonicMs());
  if (wait_s == 0) return;
  Refusal refusal(Problem::kRateLimitExceeded,
                  "Too many unknown " + std::string(what) +
                      " came from this address; check what is sent and try again later.");
  refusal.retry_after_s = wait_s;
  throw refusal;
}

Permit Gate::Admit(std::shared_ptr<const KeyRecord> key) {
  KeyUse& use = *key->use;
  const Tier tier = key->tier;
  const int64_t now_us = clock_.MonotonicMs() * 1000;
  Permit permit(std::move(key), TakeToken(use.theoretical_arrival_us, RateOf(tier), now_us));
  const bool admitted = permit.rate.retry_after_s == 0;
  if (admitted && use.under_way.load(std::memory_order_relaxed) > UnderWayMax(tier)) {
    permit.rate = ReturnToken(use.theoretical_arrival_us, RateOf(tier), now_us);
    permit.rate.retry_after_s = 1;
    permit.rate.reset_s = 1;
  }
  return permit;
}

void Gate::Refund(Permit& permit) {
  permit.rate = ReturnToken(permit.key().use->theoretical_arrival_us, RateOf(permit.key().tier),
                            clock_.MonotonicMs() * 1000);
}

void Gate::RequireScope(const ScopeSet& scopes, Scope scope) {
  if (scopes.Has(scope)) return;
  Refusal refusal(Problem::kInsufficientScope,
                  "The key lacks the scope " + std::string(Name(scope)) + ".");
  refusal.required_scope = Name(scope);
  throw refusal;
}

Rate Gate::RateOf(Tier tier) const {
  switch (tier) {
    case Tier::kStandard:
      return settings_.standard;
    case Tier::kPlus:
      return settings_.plus;
    case Tier::kLan:
      return settings_.lan;
    case Tier::kUnlimited:
      return {};
  }
  CHECK(false, "every tier has a rate");
}

}  // namespace comanda::auth
