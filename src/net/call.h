#pragma once

// One outgoing HTTP call: what is asked, and what comes of it. Plain values.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "crypto/authorities.h"

namespace comanda::net {

// What a call is for. Each purpose has its own slots, so that slow servers of one purpose never
// keep calls of another waiting.
enum class Purpose : uint8_t { kWebhooks, kDeliveryApps, kOther };

struct PurposeRow {
  Purpose purpose;
  std::string_view name;  // in metrics
  size_t slots;           // transfers at once
};
inline constexpr std::array kPurposes = {
    PurposeRow{Purpose::kWebhooks, "webhooks", 16},
    PurposeRow{Purpose::kDeliveryApps, "delivery_apps", 12},
    PurposeRow{Purpose::kOther, "other", 4},
};

// How a call ended. outcome.cc translates libcurl's codes.
enum class Outcome : uint8_t {
  kAnswered,          // a whole answer came, whatever its status
  kTimeout,           // connect_timeout_ms or timeout_ms passed
  kNameNotFound,      // the resolver knows no address of the host
  kAddressRefused,    // allows_address refused every address of the host
  kConnectionFailed,  // no connection, or it broke, or what came is not HTTP or TLS
  kTlsUntrusted,      // the server's certificate: unknown authority, wrong name, expired
  kTlsPinMismatch,    // the server's key is not the pinned one
  kAnswerTooLarge,    // longer than answer_bytes_max, or too many headers
  kCancelled,         // by Cancel(), a stop token, or because the Network stopped
  kNotStarted,        // too many calls wait, or none of the purpose's slots became free in time
  kInvalidCall,       // the URL or an option cannot be used
};
inline constexpr size_t kOutcomes = static_cast<size_t>(Outcome::kInvalidCall) + 1;
std::string_view Name(Outcome outcome);  // "name_not_found"

// Whether a connection to this address may be made. `address` is numeric as inet_ntop(3) writes it
// ("127.0.0.1", "::ffff:10.0.0.1"), so that every spelling in a URL arrives in one form. Runs on
// the network thread; must not block or throw.
using AddressCheck = std::function<bool(std::string_view address)>;

struct Call {
  Purpose purpose = Purpose::kOther;
  std::string method = "GET";
  std::string url;          // http or https
  std::string unix_socket;  // a path: connect there instead of to the URL's host
  // Who is trusted over https. Null: nobody, so that no https call succeeds without a pin.
  std::shared_ptr<const crypto::Authorities> authorities;
  // "sha256//" and base64 of the hash of the server's public key: then it alone is checked, neither
  // authorities nor the name in the certificate.
  std::string public_key_pin;
  // Asked for each address before it is dialled, and for the address of a connection that is used
  // again. Empty: every address is allowed.
  AddressCheck allows_address;
  std::vector<std::string> headers;  // "Name: value"
  std::string body;
  int64_t connect_timeout_ms = 10'000;  // name, connection and TLS handshake
  int64_t timeout_ms = 10'000;          // the whole, from when the call has its slot
  size_t answer_bytes_max = 16 * 1024 * 1024;
};

// How the connection of a call was secured; empty for plain http.
struct Security {
  std::string tls_version;  // "TLSv1.3"
  std::optional<UtcMs> certificate_ends_at;
};

struct Answer {
  Outcome outcome = Outcome::kAnswered;
  std::string error;  // unless kAnswered: in words, for the log and the technician
  // 0 until the whole head came. Set without kAnswered where only the body failed.
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;  // as they came, in order
  std::string body;                                          // the first answer_bytes_max bytes
  Security security;
  std::string address;  // the numeric address that was connected to
  int64_t duration_ms = 0;

  // The first header of that name, in any case.
  std::optional<std::string_view> Header(std::string_view name) const;
};

}  // namespace comanda::net
