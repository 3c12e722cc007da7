#pragma once

// One outgoing HTTP call: the request (Call) and its result (Answer). Plain values.

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

#include "base/time/clock.h"
#include "crypto/authorities.h"
#include "crypto/certificate.h"

namespace comanda::net {

// The purpose of a call. Each purpose has a fixed number of slots (simultaneous transfers), so that
// slow servers of one purpose cannot delay the calls of another.
enum class Purpose : uint8_t { kWebhooks, kDeliveryApps, kCloud, kOther };

struct PurposeRow {
  Purpose purpose;
  // The label in metrics.
  std::string_view name;
  size_t slots;
};
inline constexpr std::array kPurposes = {
    PurposeRow{Purpose::kWebhooks, "webhooks", 16},
    PurposeRow{Purpose::kDeliveryApps, "delivery_apps", 12},
    PurposeRow{Purpose::kCloud, "cloud", 2},
    PurposeRow{Purpose::kOther, "other", 4},
};

// How a call ended. outcome.cc translates the codes of libcurl.
enum class Outcome : uint8_t {
  // A complete answer arrived, whatever its status.
  kAnswered,
  // connect_timeout_ms or timeout_ms elapsed.
  kTimeout,
  // The resolver knows no address for the host name.
  kNameNotFound,
  // allows_address returned false for every address of the host.
  kAddressRefused,
  // The connection could not be made, or broke, or the peer did not speak HTTP or TLS.
  kConnectionFailed,
  // The certificate of the server is of an unknown authority, for another name, or expired.
  kTlsUntrusted,
  // The server's public key is not the pinned one.
  kTlsPinMismatch,
  // The answer exceeded answer_bytes_max, or had too many headers.
  kAnswerTooLarge,
  // Ended by Cancel(), a stop token, or the destructor of Network.
  kCancelled,
  // Too many calls were waiting, or no slot became free in time.
  kNotStarted,
  // The URL or an option is unusable.
  kInvalidCall,
};
inline constexpr size_t kOutcomes = static_cast<size_t>(Outcome::kInvalidCall) + 1;
// As "name_not_found".
std::string_view Name(Outcome outcome);

// Decides whether a connection to an address may be made. `address` is numeric in the one form that
// inet_ntop(3) writes ("127.0.0.1", "::ffff:10.0.0.1"), however the URL spelled it. Runs on the
// network thread: it must neither block nor throw.
using AddressCheck = std::function<bool(std::string_view address)>;

// A request. Timeouts are in ms.
struct Call {
  Purpose purpose = Purpose::kOther;
  std::string method = "GET";
  // http or https.
  std::string url;
  // Path of a Unix socket to connect to, instead of the host of the URL.
  std::string unix_socket;
  // The certificate authorities to trust for https. Null: none, so an https call succeeds only with
  // a pin.
  std::shared_ptr<const crypto::Authorities> authorities;
  // "sha256//" and the base64 hash of the server's public key. With a pin, neither the authorities
  // nor the name in the certificate are checked.
  std::string public_key_pin;
  // Ends with kAnswered and without a status once the TLS handshake is complete, so that a person
  // can compare the certificate in Answer::security. It is not verified, so no request is sent.
  bool is_handshake_only = false;
  // Called before each connection attempt, and for the peer of a reused connection. Empty: every
  // address is allowed.
  AddressCheck allows_address;
  // "Name: value".
  std::vector<std::string> headers;
  std::string body;
  // Covers name resolution, connection and TLS handshake.
  int64_t connect_timeout_ms = 10'000;
  // Covers the whole call, from when it gets its slot.
  int64_t timeout_ms = 10'000;
  // Covers the body of the answer, from the end of its head; a second is the finest measure. 0: no
  // bound but timeout_ms.
  int64_t body_timeout_ms = 0;
  size_t answer_bytes_max = 16 * 1024 * 1024;
  // Whether Answer::security is wanted: the certificate is parsed for each answer.
  bool describes_security = false;
};

// How the connection was secured; empty for plain http, and where the call does not ask for it.
struct Security {
  // As "TLSv1.3".
  std::string tls_version;
  std::optional<crypto::CertificateInfo> certificate;
};

// The result of a call.
struct Answer {
  Outcome outcome = Outcome::kAnswered;
  // Of kConnectionFailed: the address answered that nothing listens at the port.
  bool is_refused = false;
  // What went wrong, for the log and the technician; empty if kAnswered.
  std::string error;
  // 0 until the complete head arrived. Also set if only the body failed.
  int status = 0;
  // In the order of arrival.
  std::vector<std::pair<std::string, std::string>> headers;
  // At most answer_bytes_max bytes.
  std::string body;
  Security security;
  // The numeric address of the peer.
  std::string address;
  int64_t duration_ms = 0;

  // The first header of that name, case-insensitive.
  std::optional<std::string_view> Header(std::string_view name) const;
  // The wall clock here minus that of the server, ms, by the header Date, which counts whole
  // seconds. Nothing without a date, or where it is more than ten years away.
  std::optional<int64_t> ClockSkewMs(UtcMs now) const;
};

}  // namespace comanda::net
