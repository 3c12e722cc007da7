#include "net/client.h"

#include <ares.h>
#include <curl/curl.h>
#include <unistd.h>

#include <array>
#include <exception>

#include "base/text.h"
#include "crypto/peer.h"

namespace comanda::net {
namespace {

constexpr size_t kHeadersMax = 256;

struct Receiver {
  CURL* handle;
  size_t bytes_max;
  Answer answer;
};

size_t Receive(char* data, size_t size, size_t count, void* user) {
  auto& receiver = *static_cast<Receiver*>(user);
  const size_t bytes = size * count;
  std::string& body = receiver.answer.body;
  if (body.size() + bytes > receiver.bytes_max) return 0;  // libcurl ends the call
  body.append(data, bytes);
  return bytes;
}

// libcurl shows the TLS context only while the call is under way. What cannot be read of it is no
// reason to lose the answer.
Security DescribeSecurity(CURL* handle) {
  curl_tlssessioninfo* session = nullptr;
  if (curl_easy_getinfo(handle, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || session == nullptr ||
      session->internals == nullptr) {
    return {};
  }
  try {
    const crypto::Peer peer = crypto::DescribePeer(session->internals);
    Security security{.tls_version = peer.tls_version, .certificate_ends_at = {}};
    if (peer.certificate) security.certificate_ends_at = peer.certificate->not_after;
    return security;
  } catch (const std::exception&) {
    return {};
  }
}

// One line of the head at a time: the status line, headers, the empty line.
size_t ReceiveHeader(char* data, size_t size, size_t count, void* user) {
  auto& receiver = *static_cast<Receiver*>(user);
  const std::string_view line(data, size * count);
  if (line.starts_with("HTTP/")) {  // a 1xx may come before the answer
    receiver.answer.headers.clear();
    receiver.answer.security = DescribeSecurity(receiver.handle);
    return line.size();
  }
  const size_t colon = line.find(':');
  if (colon != std::string_view::npos) {
    if (receiver.answer.headers.size() == kHeadersMax) return 0;
    receiver.answer.headers.emplace_back(line.substr(0, colon), Trimmed(line.substr(colon + 1)));
  }
  return line.size();
}

struct EasyDeleter {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct HeadersDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

std::unique_ptr<curl_slist, HeadersDeleter> HeaderList(const Call& call) {
  std::unique_ptr<curl_slist, HeadersDeleter> list;
  for (const std::string& header : call.headers) {
    list.reset(curl_slist_append(list.release(), header.c_str()));
  }
  // Without this libcurl waits for a 100 Continue on larger bodies.
  list.reset(curl_slist_append(list.release(), "Expect:"));
  return list;
}

void Configure(CURL* handle, const Call& call, Receiver& receiver) {
  curl_easy_setopt(handle, CURLOPT_URL, call.url.c_str());
  curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, call.method.c_str());
  if (call.method == "HEAD") curl_easy_setopt(handle, CURLOPT_NOBODY, 1L);
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(call.timeout_ms));
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, Receive);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &receiver);
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, ReceiveHeader);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, &receiver);
  if (!call.ca_file.empty()) curl_easy_setopt(handle, CURLOPT_CAINFO, call.ca_file.c_str());
  if (!call.unix_socket.empty()) {
    curl_easy_setopt(handle, CURLOPT_UNIX_SOCKET_PATH, call.unix_socket.c_str());
  }
  if (!call.body.empty()) {
    curl_easy_setopt(handle, CURLOPT_POSTFIELDS, call.body.data());
    curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(call.body.size()));
  }
}

}  // namespace

std::optional<std::string_view> Answer::Header(std::string_view name) const {
  for (const auto& [header, value] : headers) {
    if (AsciiEqualsIgnoreCase(header, name)) return value;
  }
  return std::nullopt;
}

struct Session::Handle {
  std::unique_ptr<CURL, EasyDeleter> easy;
};

Session::Session() : handle_(std::make_unique<Handle>()) {
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (initialised == CURLE_OK) handle_->easy.reset(curl_easy_init());
}

Session::~Session() = default;

Answer Session::Send(const Call& call) {
  CURL* handle = handle_->easy.get();
  if (handle == nullptr) return {.error = "libcurl could not be initialised"};

  Receiver receiver{.handle = handle, .bytes_max = call.answer_bytes_max, .answer = {}};
  const auto headers = HeaderList(call);
  char message[CURL_ERROR_SIZE] = "";
  curl_easy_reset(handle);  // the options of the call before; connections stay open
  Configure(handle, call, receiver);
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, message);

  const CURLcode code = curl_easy_perform(handle);
  if (code != CURLE_OK) {
    return {.error = message[0] != '\0' ? message : curl_easy_strerror(code)};
  }
  long status = 0;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  receiver.answer.status = static_cast<int>(status);
  return std::move(receiver.answer);
}

Answer Send(const Call& call) { return Session().Send(call); }

std::optional<std::string> FindSystemAuthorities() {
  constexpr std::array kPlaces = {
      "/etc/ssl/certs/ca-certificates.crt",  // Debian, Alpine, Arch
      "/etc/pki/tls/certs/ca-bundle.crt",    // Fedora, RHEL
      "/etc/ssl/ca-bundle.pem",              // openSUSE
      "/etc/ssl/cert.pem",
  };
  for (const char* place : kPlaces) {
    if (::access(place, R_OK) == 0) return place;
  }
  return std::nullopt;
}

std::string LibraryVersion() { return curl_version_info(CURLVERSION_NOW)->version; }

std::string ResolverVersion() { return ares_version(nullptr); }

}  // namespace comanda::net
