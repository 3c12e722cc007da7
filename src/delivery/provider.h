#pragma once

// A provider: a delivery app, and how it is asked whether the restaurant's store is open and for
// its orders. Providers are data (provider_file.h): those built in, and those of DIR/providers.d.
// Plain values.
//
// The texts of a provider are templates: ${name} stands for a credential, for a value of the
// company's country, or for the token (rules.h, Expand).

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time/clock.h"

namespace comanda::delivery {

// The state of a store in an app (contract section 12).
enum class StoreStatus : uint8_t { kOpen, kPaused, kClosed, kUnknown };
inline constexpr std::array<std::string_view, 4> kStoreStatusNames = {"OPEN", "PAUSED", "CLOSED",
                                                                      "UNKNOWN"};
constexpr std::string_view Name(StoreStatus status) {
  return kStoreStatusNames[static_cast<size_t>(status)];
}

// Why it is not open, or not known (contract section 12): a closed list. An app's own words go to
// the log.
enum class Reason : uint8_t {
  kNone,
  kNoCredentials,
  kNotSupported,
  kTimeout,
  kAuthFailed,
  kRateLimited,
  kError,
  kOutOfHours,
  kPaused,
  kBlocked,
};
// Empty for kNone.
inline constexpr std::array<std::string_view, 10> kReasonNames = {
    "",      "no_credentials", "not_supported", "timeout", "auth_failed", "rate_limited",
    "error", "out_of_hours",   "paused",        "blocked"};
constexpr std::string_view Name(Reason reason) { return kReasonNames[static_cast<size_t>(reason)]; }

// A row of GET /v1/stores/status.
struct StatusRow {
  std::string provider_name;
  StoreStatus status = StoreStatus::kUnknown;
  Reason reason = Reason::kNone;
  // Until when the store is paused or closed, where the app says so.
  std::optional<UtcMs> until = {};
  // When the app was asked; nothing: it was not.
  std::optional<UtcMs> checked_at = {};
};

// A scalar of JSON, as rules compare them: the kind and the text must be equal, so that 1 is not
// "1". Numbers keep all their digits: ids of 19 digits are compared exactly.
struct Scalar {
  enum class Kind : uint8_t { kNull, kBoolean, kNumber, kText } kind = Kind::kNull;
  std::string text = {};
  bool operator==(const Scalar&) const = default;
};

// A condition on a JSON value.
struct Predicate {
  enum class Op : uint8_t {
    kTrue,     // always
    kInHours,  // the restaurant's own hours say that it is open; without hours always
    kEq,       // the value at `path` is values[0]
    kNe,       // there is a value at `path`, and it is not values[0]
    kIn,       // it is one of `values`
    kPrefix,   // it is a text that begins with values[0]
    kExists,   // there is one
    kFuture,   // it is a time (RFC 3339) that has not come yet
    kAny,      // parts[0] holds for one of the values at `path`
    kAll,      // for each of them, and there is one
    kAnd,
    kOr,
    kNot,
  };
  Op op = Op::kTrue;
  // A JSON Pointer (RFC 6901), where a segment * stands for every member and ${name} is expanded.
  std::string path = {};
  std::vector<Scalar> values = {};
  std::vector<Predicate> parts = {};

  bool operator==(const Predicate&) const = default;
};

// What a state of the app means here: the first rule whose condition holds decides.
struct Rule {
  Predicate condition;
  StoreStatus then = StoreStatus::kUnknown;
  Reason reason = Reason::kNone;
  std::string words_from = {};  // a pointer to the app's own words, for the log; empty: none
  std::string until_from = {};  // a pointer to a time; empty: none

  bool operator==(const Rule&) const = default;
};

// A call to the app, as templates.
struct CallTemplate {
  std::string method = "GET";
  std::string url;  // https; values in it are percent-encoded
  std::vector<std::pair<std::string, std::string>> headers = {};
  // One of these at most.
  std::vector<std::pair<std::string, std::string>> form = {};  // x-www-form-urlencoded
  std::vector<std::pair<std::string, std::string>> json = {};  // an object of texts
  std::string raw_json = {};                                   // values in it are escaped as JSON
  Predicate body_ok = {};  // errors inside an answer with status 200: this must hold

  bool operator==(const CallTemplate&) const = default;
};

// How a token is got.
struct TokenSource {
  CallTemplate call;
  bool is_in_query = false;     // the app wants secrets in URLs
  std::string access;           // a pointer to the token
  std::string expires_in = {};  // a pointer to its life in seconds; empty: default_ttl_s
  std::string expires_at = {};  // a pointer to its end in seconds since 1970
  int64_t default_ttl_s = 600;
  int64_t renew_before_s = 60;

  bool operator==(const TokenSource&) const = default;
};

// A signature of calls: the header `header` holds Base64(HMAC-SHA256(key, text)), where the
// text is the URL without its query, the query sorted by name and the body as canonical JSON (RFC
// 8785), joined by "&"; what is empty is left out. The body is sent in that form.
struct SignatureSource {
  std::string header;
  std::string key;  // a template

  bool operator==(const SignatureSource&) const = default;
};

// How the state is asked for.
struct StatusSource {
  CallTemplate call;
  std::optional<SignatureSource> signature = {};
  std::vector<int> ok_http = {200};
  std::vector<int> pending_http = {};          // accepted, the result comes later: ask again
  std::vector<int64_t> pending_retry_ms = {};  // the waits before the repetitions
  Predicate body_reauth = {Predicate::Op::kNot, "", {}, {{}}};  // the token is refused in a 200
  std::vector<Rule> rules;

  bool operator==(const StatusSource&) const = default;
};

// The protocol in which an app is asked for its orders (order_source.h).
enum class Dialect : uint8_t { kIfood, kOpenDelivery, kKeeta, kRappi };
inline constexpr std::array<std::string_view, 4> kDialectNames = {"ifood", "open_delivery", "keeta",
                                                                  "rappi"};

// How the app is asked for its orders.
struct OrdersSource {
  Dialect dialect = Dialect::kOpenDelivery;
  std::string base;  // a template: https, without a slash at its end
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::optional<TokenSource> token = {};          // where it is not Provider::token
  std::optional<SignatureSource> signature = {};  // of every call but that for the token

  bool operator==(const OrdersSource&) const = default;
};

struct Limits {
  int64_t connect_ms = 2'000;
  int64_t total_ms = 4'000;
  int64_t fresh_s = 15;  // an answer is good for that long: the app's own floor, if it has one
  int64_t bytes_max = 256 * 1024;

  bool operator==(const Limits&) const = default;
};

struct CredentialField {
  std::string name;
  bool is_secret = false;

  bool operator==(const CredentialField&) const = default;
};

// Who has seen that the file is right: from public documents alone, or by calls that were made.
enum class Evidence : uint8_t { kDocuments, kSandbox, kProduction };
inline constexpr std::array<std::string_view, 3> kEvidenceNames = {"documents", "sandbox",
                                                                   "production"};
constexpr std::string_view Name(Evidence evidence) {
  return kEvidenceNames[static_cast<size_t>(evidence)];
}

struct Provider {
  std::string name;  // as GET /v1/stores/status shows it: "ifood"
  std::string display_name;
  std::vector<std::string> countries;  // ISO 3166-1 alpha-2
  std::string docs = {};
  Evidence evidence = Evidence::kDocuments;
  std::string evidence_date = {};  // "2026-11-20"
  std::vector<std::string> hosts = {};
  // Variables that depend on the company's country: {"PE": {"domain": "api.example.pe"}}.
  std::map<std::string, std::map<std::string, std::string>> by_country = {};
  std::vector<CredentialField> credentials = {};
  std::optional<TokenSource> token = {};
  std::optional<StatusSource> status = {};  // nothing: it cannot be asked
  std::optional<OrdersSource> orders = {};  // nothing: it cannot be asked for orders
  Limits limits = {};
  std::string file = {};  // of DIR/providers.d; empty: built in

  bool IsIn(std::string_view country) const {
    return std::ranges::find(countries, country) != countries.end();
  }
  bool operator==(const Provider&) const = default;
};

}  // namespace comanda::delivery
