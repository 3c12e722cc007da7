#include "net/transfer.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>

#include "base/check.h"
#include "base/time/clock.h"
#include "base/problem.h"
#include "base/text.h"
#include "net/backoff.h"
#include "crypto/peer.h"
#include "net/outcome.h"
#include "net/url.h"

namespace comanda::net {
namespace {

constexpr size_t kHeadersMax = 256;
// A status below is an interim answer (RFC 9110 section 15.2).
constexpr int kFirstFinalStatus = 200;

template <typename Value>
void Set(CURL* handle, CURLoption option, Value value) {
  const CURLcode code = curl_easy_setopt(handle, option, value);
  if (code == CURLE_OK) return;
  throw Fault(Fault::Kind::kUnavailable, std::string("libcurl: ") + curl_easy_strerror(code));
}

// Called during the transfer, since libcurl exposes the TLS context only then. Errors leave the
// result incomplete: they are no reason to lose the answer.
Security DescribeSecurity(CURL* handle) {
  curl_tlssessioninfo* session = nullptr;
  if (curl_easy_getinfo(handle, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || session == nullptr ||
      session->internals == nullptr) {
    return {};
  }
  try {
    crypto::Peer peer = crypto::DescribePeer(session->internals);
    return {.tls_version = std::move(peer.tls_version), .certificate = std::move(peer.certificate)};
  } catch (const std::exception&) {
    return {};
  }
}

// Empty if the address is not IPv4 or IPv6.
std::string NumericAddress(const sockaddr& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes = nullptr;
  if (address.sa_family == AF_INET) {
    bytes = &reinterpret_cast<const sockaddr_in&>(address).sin_addr;
  } else if (address.sa_family == AF_INET6) {
    bytes = &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  } else {
    return {};
  }
  return ::inet_ntop(address.sa_family, bytes, text.data(), text.size()) == nullptr ? ""
                                                                                    : text.data();
}

}  // namespace

std::optional<std::string_view> Answer::Header(std::string_view name) const {
  for (const auto& [header, value] : headers) {
    if (AsciiEqualsIgnoreCase(header, name)) return value;
  }
  return std::nullopt;
}

std::optional<int64_t> Answer::ClockSkewMs(UtcMs now) const {
  const auto date = Header("Date");
  if (!date) return std::nullopt;
  // A date before `now` would be read as no wait: it is read as seen from ten years ago.
  constexpr int64_t kBound = 10LL * 365 * 24 * 3600 * 1000;
  const auto ahead = ReadRetryAfter(*date, now - kBound, 2 * kBound);
  if (!ahead || *ahead == 0 || *ahead == 2 * kBound) return std::nullopt;
  return kBound - *ahead;
}

Transfer::Transfer(Call call, Easy spare)
    : call_(std::move(call)),
      started_ms_(SystemClock().MonotonicMs()),
      handle_(spare != nullptr ? std::move(spare) : Easy(curl_easy_init())) {
  CHECK(call_.timeout_ms > 0 && call_.connect_timeout_ms > 0, "every call has a deadline");
  if (handle_ == nullptr) throw Fault(Fault::Kind::kUnavailable, "libcurl finds no memory");
  SetOptions();
  SetTls();
  SetAddressCheck();
}

Easy Transfer::TakeHandle() {
  curl_easy_reset(handle_.get());
  return std::move(handle_);
}

void Transfer::SetOptions() {
  CURL* handle = handle_.get();
  Set(handle, CURLOPT_ERRORBUFFER, static_cast<char*>(message_));
  Set(handle, CURLOPT_URL, call_.url.c_str());
  Set(handle, CURLOPT_CUSTOMREQUEST, call_.method.c_str());
  if (call_.method == "HEAD") Set(handle, CURLOPT_NOBODY, 1L);
  Set(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  Set(handle, CURLOPT_FOLLOWLOCATION, 0L);
  Set(handle, CURLOPT_NOSIGNAL, 1L);
  SetTimeouts();
  Set(handle, CURLOPT_HEADERFUNCTION, &Transfer::ReceiveHeader);
  Set(handle, CURLOPT_HEADERDATA, static_cast<void*>(this));
  Set(handle, CURLOPT_WRITEFUNCTION, &Transfer::ReceiveBody);
  Set(handle, CURLOPT_WRITEDATA, static_cast<void*>(this));
  if (!call_.unix_socket.empty()) {
    Set(handle, CURLOPT_UNIX_SOCKET_PATH, call_.unix_socket.c_str());
  }
  if (call_.body_timeout_ms > 0) {
    Set(handle, CURLOPT_NOPROGRESS, 0L);
    Set(handle, CURLOPT_XFERINFOFUNCTION, &Transfer::LookAtProgress);
    Set(handle, CURLOPT_XFERINFODATA, static_cast<void*>(this));
  }
  if (!call_.body.empty()) {
    Set(handle, CURLOPT_POSTFIELDS, call_.body.data());
    Set(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call_.body.size()));
  }
  for (const std::string& header : call_.headers) AddHeader(header.c_str());
  // Without this libcurl waits for 100 Continue before it sends a larger body.
  AddHeader("Expect:");
  Set(handle, CURLOPT_HTTPHEADER, headers_.get());
}

// What is left of them: 0 would mean that there is none.
void Transfer::SetTimeouts() {
  const int64_t elapsed_ms = SystemClock().MonotonicMs() - started_ms_;
  const auto left_ms = [&](int64_t timeout_ms) {
    return static_cast<long>(std::max(int64_t{1}, timeout_ms - elapsed_ms));
  };
  Set(handle_.get(), CURLOPT_CONNECTTIMEOUT_MS, left_ms(call_.connect_timeout_ms));
  Set(handle_.get(), CURLOPT_TIMEOUT_MS, left_ms(call_.timeout_ms));
}

void Transfer::DialAt(const std::string& ipv4_address) {
  // Empty: any host and port, and the port of the URL.
  connect_to_.reset(curl_slist_append(nullptr, ("::" + ipv4_address + ":").c_str()));
  if (connect_to_ == nullptr) throw Fault(Fault::Kind::kUnavailable, "libcurl finds no memory");
  Set(handle_.get(), CURLOPT_CONNECT_TO, connect_to_.get());
  SetTimeouts();
}

void Transfer::AddHeader(const char* line) {
  curl_slist* const longer = curl_slist_append(headers_.get(), line);
  if (longer == nullptr) throw Fault(Fault::Kind::kUnavailable, "libcurl finds no memory");
  headers_.release();
  headers_.reset(longer);
}

void Transfer::SetTls() {
  CURL* handle = handle_.get();
  // A resumed handshake has no certificate to compare with a pin.
  Set(handle, CURLOPT_SSL_SESSIONID_CACHE, 0L);
  const bool is_pinned = !call_.public_key_pin.empty();
  if (is_pinned) Set(handle, CURLOPT_PINNEDPUBLICKEY, call_.public_key_pin.c_str());
  if (call_.is_handshake_only) Set(handle, CURLOPT_CONNECT_ONLY, 1L);
  if (is_pinned || call_.is_handshake_only) {
    Set(handle, CURLOPT_SSL_VERIFYPEER, 0L);
    Set(handle, CURLOPT_SSL_VERIFYHOST, 0L);
    return;
  }
  if (call_.authorities == nullptr) return;
  // Not used by libcurl with mbedTLS, but compared when it looks for a connection to use again:
  // one that was opened with other authorities does not match.
  Set(handle, CURLOPT_ISSUERCERT, call_.authorities->fingerprint().c_str());
  Set(handle, CURLOPT_SSL_CTX_FUNCTION, &Transfer::SetUpTls);
  Set(handle, CURLOPT_SSL_CTX_DATA, static_cast<void*>(this));
}

void Transfer::SetAddressCheck() {
  if (!call_.unix_socket.empty()) return;
  CURL* handle = handle_.get();
  Set(handle, CURLOPT_OPENSOCKETFUNCTION, &Transfer::OpenSocket);
  Set(handle, CURLOPT_OPENSOCKETDATA, static_cast<void*>(this));
  // libcurl may use a connection again that a call with another check, or none, has opened.
  Set(handle, CURLOPT_PREREQFUNCTION, &Transfer::BeforeRequest);
  Set(handle, CURLOPT_PREREQDATA, static_cast<void*>(this));
}

Answer Transfer::Finish(CURLcode code) {
  Outcome outcome = OutcomeOf(code);
  std::string error;
  long system_error = 0;
  curl_easy_getinfo(handle_.get(), CURLINFO_OS_ERRNO, &system_error);
  answer_.is_refused = code == CURLE_COULDNT_CONNECT && system_error == ECONNREFUSED;
  if (code != CURLE_OK) error = message_[0] != '\0' ? message_ : curl_easy_strerror(code);
  if (is_too_large_) {
    outcome = Outcome::kAnswerTooLarge;
    error = "the answer is larger than " + std::to_string(call_.answer_bytes_max) +
            " bytes, or has more than " + std::to_string(kHeadersMax) + " headers";
  } else if (is_body_late_) {
    outcome = Outcome::kTimeout;
    error =
        "the body of the answer took more than " + std::to_string(call_.body_timeout_ms) + " ms";
  } else if (code != CURLE_OK && addresses_refused_ > 0 && addresses_dialled_ == 0) {
    outcome = Outcome::kAddressRefused;
    error = "the address " + answer_.address + " is not allowed";
  } else if (outcome == Outcome::kInvalidCall && !Address().empty()) {
    // A peer answered, but in an unsupported protocol.
    outcome = Outcome::kConnectionFailed;
  }
  evidence_ = EvidenceOf(outcome, system_error);
  return Abandon(outcome, std::move(error));
}

Evidence Transfer::EvidenceOf(Outcome outcome, long system_error) const {
  // A captive portal has a certificate of its own.
  if (outcome == Outcome::kTlsUntrusted || outcome == Outcome::kTlsPinMismatch) {
    return Evidence::kNone;
  }
  if (public_dialled_ > 0 && (answer_.is_refused || IsPublicAddress(Address()))) {
    return Evidence::kConnected;
  }
  // A connection that is used again may be dead when its request ends without an answer.
  if (has_head_ && IsPublicAddress(Address())) return Evidence::kConnected;
  if (!Address().empty()) return Evidence::kNone;
  if (public_dialled_ > 0) {
    const bool has_no_route = system_error == ENETUNREACH || system_error == EHOSTUNREACH;
    return has_no_route ? Evidence::kNoRoute : Evidence::kSilence;
  }
  const bool is_lookup = outcome == Outcome::kNameNotFound || outcome == Outcome::kTimeout;
  const bool was_dialled = addresses_dialled_ + addresses_refused_ > 0;
  return is_lookup && !was_dialled && IsPublicName(ParseUrl(call_.url).url.host)
             ? Evidence::kNoRoute
             : Evidence::kNone;
}

Answer Transfer::Abandon(Outcome outcome, std::string error) {
  if (has_head_) answer_.status = Status();
  if (std::string address = Address(); !address.empty()) answer_.address = std::move(address);
  answer_.duration_ms = SystemClock().MonotonicMs() - started_ms_;
  answer_.outcome = outcome;
  answer_.error = std::move(error);
  return std::move(answer_);
}

int Transfer::Status() const {
  long status = 0;
  curl_easy_getinfo(handle_.get(), CURLINFO_RESPONSE_CODE, &status);
  return static_cast<int>(status);
}

std::string Transfer::Address() const {
  const char* address = nullptr;
  curl_easy_getinfo(handle_.get(), CURLINFO_PRIMARY_IP, &address);
  return address == nullptr ? "" : address;
}

// Callbacks of libcurl.

size_t Transfer::ReceiveHeader(char* data, size_t size, size_t count, void* self) noexcept try {
  const std::string_view line(data, size * count);
  return static_cast<Transfer*>(self)->TakeHeaderLine(line) ? line.size() : 0;
} catch (...) {
  return 0;
}

// Called for each line of the head: the status line, headers, the empty line.
bool Transfer::TakeHeaderLine(std::string_view line) {
  // Also the start of the final answer after an interim one (1xx).
  if (line.starts_with("HTTP/")) {
    answer_.headers.clear();
    if (call_.describes_security) answer_.security = DescribeSecurity(handle_.get());
    return true;
  }
  if (Trimmed(line).empty()) {
    if (!has_head_ && Status() >= kFirstFinalStatus) {
      has_head_ = true;
      head_ms_ = SystemClock().MonotonicMs();
    }
    return true;
  }
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return true;
  if (answer_.headers.size() == kHeadersMax) {
    is_too_large_ = true;
    return false;
  }
  answer_.headers.emplace_back(line.substr(0, colon), Trimmed(line.substr(colon + 1)));
  return true;
}

size_t Transfer::ReceiveBody(char* data, size_t size, size_t count, void* self) noexcept try {
  const std::string_view bytes(data, size * count);
  return static_cast<Transfer*>(self)->TakeBody(bytes) ? bytes.size() : 0;
} catch (...) {
  return 0;
}

bool Transfer::TakeBody(std::string_view bytes) {
  const size_t room = call_.answer_bytes_max - answer_.body.size();
  answer_.body.append(bytes.substr(0, room));
  is_too_large_ = bytes.size() > room;
  return !is_too_large_;
}

// A refused address is reported to libcurl as one that cannot be connected to; it tries the next.
curl_socket_t Transfer::OpenSocket(void* self, curlsocktype, curl_sockaddr* address) noexcept try {
  auto& transfer = *static_cast<Transfer*>(self);
  std::string numeric = NumericAddress(address->addr);
  const AddressCheck& allows = transfer.call_.allows_address;
  if (numeric.empty() || (allows && !allows(numeric))) {
    ++transfer.addresses_refused_;
    transfer.answer_.address = std::move(numeric);
    return CURL_SOCKET_BAD;
  }
  ++transfer.addresses_dialled_;
  if (IsPublicAddress(numeric)) ++transfer.public_dialled_;
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
} catch (...) {
  return CURL_SOCKET_BAD;
}

int Transfer::BeforeRequest(void* self, char* remote_address, char*, int, int) noexcept try {
  auto& transfer = *static_cast<Transfer*>(self);
  const AddressCheck& allows = transfer.call_.allows_address;
  if (!allows || allows(remote_address)) {
    if (transfer.call_.is_handshake_only) {
      transfer.answer_.security = DescribeSecurity(transfer.handle_.get());
    }
    return CURL_PREREQFUNC_OK;
  }
  ++transfer.addresses_refused_;
  transfer.addresses_dialled_ = 0;
  transfer.answer_.address = remote_address;
  return CURL_PREREQFUNC_ABORT;
} catch (...) {
  return CURL_PREREQFUNC_ABORT;
}

// Called at least once a second.
int Transfer::LookAtProgress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) noexcept {
  auto& transfer = *static_cast<Transfer*>(self);
  const int64_t since_head_ms = SystemClock().MonotonicMs() - transfer.head_ms_;
  transfer.is_body_late_ = transfer.has_head_ && since_head_ms > transfer.call_.body_timeout_ms;
  return transfer.is_body_late_ ? 1 : 0;
}

CURLcode Transfer::SetUpTls(CURL*, void* ssl_config, void* self) noexcept {
  static_cast<Transfer*>(self)->call_.authorities->TrustIn(ssl_config);
  return CURLE_OK;
}

}  // namespace comanda::net
