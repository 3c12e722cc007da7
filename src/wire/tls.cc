#define COMANDA_HOOKS_IMPLEMENTATION
#include "wire/tls.h"

#include <civetweb_hooks.h>
#include <mbedtls/entropy.h>
#include <mbedtls/net_sockets.h>
#include <mbedtls/pk.h>
#include <mbedtls/ssl.h>
#include <mbedtls/ssl_ciphersuites.h>
#include <mbedtls/ssl_ticket.h>
#include <mbedtls/x509_crt.h>
#include <poll.h>
#include <psa/crypto.h>
#include <sys/socket.h>
#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

#include <algorithm>
#include <array>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/time/clock.h"
#include "base/id.h"
#include "base/problem.h"
#include "crypto/hash.h"
#include "wire/problem.h"
#include "wire/response_writer.h"
#include "wire/worker.h"

namespace comanda::wire {
namespace {

constexpr uint32_t kTicketLifetimeS = 24 * 60 * 60;

// The server's order of preference, for both versions: AEAD with ECDHE only. Without instructions
// for AES the list is used from its beginning, with ChaCha20 first; with them from behind
// kChachaSuites, so that ChaCha20 comes last.
constexpr size_t kChachaSuites = 3;
constexpr std::array kSuites = {
    MBEDTLS_TLS1_3_CHACHA20_POLY1305_SHA256,
    MBEDTLS_TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
    MBEDTLS_TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    MBEDTLS_TLS1_3_AES_128_GCM_SHA256,
    MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    MBEDTLS_TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
    MBEDTLS_TLS1_3_AES_256_GCM_SHA384,
    MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
    MBEDTLS_TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
    MBEDTLS_TLS1_3_CHACHA20_POLY1305_SHA256,
    MBEDTLS_TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
    MBEDTLS_TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    0,
};

// The fastest first. A TLS 1.3 client sends a share for the group it prefers, mostly X25519.
constexpr std::array<uint16_t, 4> kGroups = {
    MBEDTLS_SSL_IANA_TLS_GROUP_X25519,
    MBEDTLS_SSL_IANA_TLS_GROUP_SECP256R1,
    MBEDTLS_SSL_IANA_TLS_GROUP_SECP384R1,
    MBEDTLS_SSL_IANA_TLS_GROUP_NONE,
};

const char* protocols[] = {"http/1.1", nullptr};

[[noreturn]] void Refuse(std::string detail) {
  throw Refusal(Problem::kValidationFailed, std::move(detail));
}

// PSA's generator: one for the process, with its own lock.
int Random(void*, unsigned char* out, size_t size) {
  return psa_generate_random(out, size) == PSA_SUCCESS ? 0 : MBEDTLS_ERR_ENTROPY_SOURCE_FAILED;
}

const unsigned char* Bytes(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.c_str());
}

// A certificate with its key, and everything that is made from them. The keys of session tickets
// belong to it: after a change of certificate every client makes one full handshake and sees the
// new certificate.
class Identity {
 public:
  Identity(const crypto::KeyPair& pair, bool aes_instructions) {
    mbedtls_x509_crt_init(&chain_);
    mbedtls_pk_init(&key_);
    mbedtls_ssl_ticket_init(&tickets_);
    mbedtls_ssl_config_init(&config_);
    try {
      ReadPair(pair);
      Configure(aes_instructions);
    } catch (const Refusal&) {
      Free();
      throw;
    }
  }
  Identity(const Identity&) = delete;
  Identity& operator=(const Identity&) = delete;
  ~Identity() { Free(); }

  const mbedtls_ssl_config* config() const { return &config_; }

 private:
  void ReadPair(const crypto::KeyPair& pair) {
    // PEM is recognised by its final NUL.
    if (mbedtls_x509_crt_parse(&chain_, Bytes(pair.certificate_pem),
                               pair.certificate_pem.size() + 1) != 0) {
      Refuse("The certificate is not PEM text, or a part of its chain is damaged.");
    }
    if (mbedtls_pk_parse_key(&key_, Bytes(pair.key_pem), pair.key_pem.size() + 1, nullptr, 0,
                             Random, nullptr) != 0) {
      Refuse("The private key is not PEM text without a password.");
    }
    if (mbedtls_pk_check_pair(&chain_.pk, &key_, Random, nullptr) != 0) {
      Refuse("The private key does not belong to the certificate.");
    }
  }

  void Configure(bool aes_instructions) {
    int result = mbedtls_ssl_config_defaults(
        &config_, MBEDTLS_SSL_IS_SERVER, MBEDTLS_SSL_TRANSPORT_STREAM, MBEDTLS_SSL_PRESET_DEFAULT);
    CHECK(result == 0, "TLS has its defaults");
    mbedtls_ssl_conf_rng(&config_, Random, nullptr);
    mbedtls_ssl_conf_authmode(&config_, MBEDTLS_SSL_VERIFY_NONE);
    mbedtls_ssl_conf_min_tls_version(&config_, MBEDTLS_SSL_VERSION_TLS1_2);
    mbedtls_ssl_conf_max_tls_version(&config_, MBEDTLS_SSL_VERSION_TLS1_3);
    mbedtls_ssl_conf_ciphersuites(&config_,
                                  kSuites.data() + (aes_instructions ? kChachaSuites : 0));
    mbedtls_ssl_conf_groups(&config_, kGroups.data());
    result = mbedtls_ssl_conf_alpn_protocols(&config_, protocols);
    CHECK(result == 0, "the protocol list is sound");
    result = mbedtls_ssl_ticket_setup(&tickets_, Random, nullptr, MBEDTLS_CIPHER_AES_256_GCM,
                                      kTicketLifetimeS);
    CHECK(result == 0, "ticket keys can be made");
    mbedtls_ssl_conf_session_tickets_cb(&config_, mbedtls_ssl_ticket_write,
                                        mbedtls_ssl_ticket_parse, &tickets_);
    if (mbedtls_ssl_conf_own_cert(&config_, &chain_, &key_) != 0) {
      Refuse("The certificate cannot be used for TLS.");
    }
  }

  void Free() {
    mbedtls_ssl_config_free(&config_);
    mbedtls_ssl_ticket_free(&tickets_);
    mbedtls_pk_free(&key_);
    mbedtls_x509_crt_free(&chain_);
  }

  mbedtls_x509_crt chain_;
  mbedtls_pk_context key_;
  mbedtls_ssl_ticket_context tickets_;
  mbedtls_ssl_config config_;
};

std::shared_ptr<const Identity> MakeIdentity(const crypto::KeyPair& pair, bool aes_instructions) {
  crypto::Initialise();
  return std::make_shared<const Identity>(pair, aes_instructions);
}

}  // namespace

bool HasAesInstructions() {
#if defined(__aarch64__)
  return (getauxval(AT_HWCAP) & HWCAP_AES) != 0;
#else
  return __builtin_cpu_supports("aes") != 0;
#endif
}

struct Tls::Impl {
  bool aes_instructions;
  std::mutex mutex;
  std::shared_ptr<const Identity> current;  // guarded by mutex
  std::mutex untrusted;  // held while a handshake of an untrusted client is computed
};

Tls::Tls(const crypto::KeyPair& certificate, bool aes_instructions)
    : impl_(std::make_unique<Impl>()) {
  impl_->aes_instructions = aes_instructions;
  impl_->current = MakeIdentity(certificate, aes_instructions);
}

Tls::~Tls() = default;

void Tls::Replace(const crypto::KeyPair& certificate) {
  std::shared_ptr<const Identity> next = MakeIdentity(certificate, impl_->aes_instructions);
  const std::lock_guard lock(impl_->mutex);
  impl_->current.swap(next);
}

// What CivetWeb's calls of TLS are redirected to (third_party/civetweb/hooks.h), on worker threads.
// Nothing here throws.
struct TlsHooks {
  static int Setup(mbedtls_ssl_context* ssl) {
    Worker& worker = ThisWorker();
    Tls::Impl& impl = *worker.tls->impl_;
    std::shared_ptr<const Identity> identity;
    {
      const std::lock_guard lock(impl.mutex);
      identity = impl.current;
    }
    const int result = mbedtls_ssl_setup(ssl, identity->config());
    worker.tls_identity.reset();
    if (result == 0) worker.tls_identity = std::move(identity);  // else the handshake fails
    return result;
  }

  static int Handshake(mbedtls_ssl_context* ssl) {
    pollfd wanted{*static_cast<int*>(ssl->MBEDTLS_PRIVATE(p_bio)), 0, 0};
    Worker& worker = ThisWorker();
    worker.connection = worker.admission->Find(wanted.fd);
    if (worker.connection == nullptr || worker.tls_identity == nullptr ||
        !worker.admission->Enter(*worker.connection, ConnectionState::kHandshake)) {
      return MBEDTLS_ERR_SSL_INTERNAL_ERROR;
    }
    mbedtls_ssl_set_bio(ssl, worker.connection, Send, Receive, nullptr);
    for (;;) {
      const int result = InTurn([&] { return mbedtls_ssl_handshake(ssl); });
      if (result == 0) {
        worker.admission->Enter(*worker.connection, ConnectionState::kHead);
        return 0;
      }
      if (result != MBEDTLS_ERR_SSL_WANT_READ && result != MBEDTLS_ERR_SSL_WANT_WRITE) {
        worker.admission->CountHandshakeFailure(false);
        AnswerPlainHttp(worker);
        return result;
      }
      wanted.events = result == MBEDTLS_ERR_SSL_WANT_READ ? POLLIN : POLLOUT;
      if (worker.admission->Poll(*worker.connection, wanted, -1) < 0) {
        worker.admission->CountHandshakeFailure(worker.connection->deadline_passed);
        return MBEDTLS_ERR_SSL_TIMEOUT;
      }
    }
  }

  // Who speaks HTTP without TLS is told to use https, and nothing of the request is read but its
  // first word and whether it is a browser's. Does not wait: a client whose buffer is full gets
  // part of the answer.
  static void AnswerPlainHttp(const Worker& worker) {
    Connection& connection = *worker.connection;
    const std::string_view sent(reinterpret_cast<const char*>(connection.ahead.data()),
                                connection.ahead_end);
    const std::string_view method = sent.substr(0, sent.find(' '));
    constexpr std::array<std::string_view, 7> kMethods = {"GET",   "HEAD",   "POST",   "PUT",
                                                          "PATCH", "DELETE", "OPTIONS"};
    if (std::ranges::find(kMethods, method) == kMethods.end()) return;
    try {
      const std::string answer = PlainHttpAnswer(sent.find("text/html") != sent.npos, worker);
      // What is unread when the socket is closed would make the kernel discard the answer.
      std::array<unsigned char, 4 * 1024> rest;
      static_cast<void>(::recv(connection.fd, rest.data(), rest.size(), MSG_DONTWAIT));
      static_cast<void>(
          ::send(connection.fd, answer.data(), answer.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
    } catch (const std::bad_alloc&) {
    }
  }

  static std::string PlainHttpAnswer(bool is_browser, const Worker& worker) {
    const std::string request_id = NewId(SystemClock().Now());
    Response response = ProblemResponse(
        Refusal(Problem::kHttpsRequired,
                "This port speaks https alone: put https:// in front of the same address."),
        worker.errors_base, "/", request_id);
    if (is_browser) {
      response.content_type = "text/html; charset=utf-8";
      response.body =
          "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Use https</title>\n"
          "<p>This port speaks https alone: put <b>https://</b> in front of the same address.</p>\n"
          "</html>\n";
    }
    std::string text;
    text += AppendResponse(text, response,
                           {.close = true, .now = SystemClock().Now(), .request_id = request_id});
    return text;
  }

  static int Send(void* connection, const unsigned char* data, size_t size) {
    mbedtls_net_context socket{static_cast<Connection*>(connection)->fd};
    return mbedtls_net_send(&socket, data, size);
  }

  // mbedTLS asks for the first five bytes of a record and then for its rest. Small records are read
  // with one system call: what is more than was asked for is kept in Connection::ahead.
  static int Receive(void* context, unsigned char* out, size_t size) {
    Connection& connection = *static_cast<Connection*>(context);
    mbedtls_net_context socket{connection.fd};
    if (connection.ahead_begin == connection.ahead_end) {
      if (size >= connection.ahead.size()) return mbedtls_net_recv(&socket, out, size);
      const int got = mbedtls_net_recv(&socket, connection.ahead.data(), connection.ahead.size());
      if (got <= 0) return got;
      connection.ahead_begin = 0;
      connection.ahead_end = static_cast<size_t>(got);
    }
    const size_t taken = std::min(size, connection.ahead_end - connection.ahead_begin);
    std::copy_n(connection.ahead.begin() + connection.ahead_begin, taken, out);
    connection.ahead_begin += taken;
    return static_cast<int>(taken);
  }

  // Waits for the rest of a record, within the connection's deadline: CivetWeb would take a record
  // that came in pieces for a time-out.
  static int Read(mbedtls_ssl_context* ssl, unsigned char* buffer, size_t size) {
    const Worker& worker = ThisWorker();
    for (;;) {
      const int result = InTurn([&] { return mbedtls_ssl_read(ssl, buffer, size); });
      if (result != MBEDTLS_ERR_SSL_WANT_READ || worker.connection->deadline_ms == 0) return result;
      pollfd wanted{worker.connection->fd, POLLIN, 0};
      if (worker.admission->Poll(*worker.connection, wanted, -1) < 0) {
        return MBEDTLS_ERR_SSL_TIMEOUT;
      }
    }
  }

  static int Write(mbedtls_ssl_context* ssl, const unsigned char* data, size_t size) {
    return InTurn([&] { return mbedtls_ssl_write(ssl, data, size); });
  }

  // Handshakes of unauthenticated clients from untrusted sources run one at a time, so that a flood
  // of them uses at most one core: a handshake costs a client nothing and the box a millisecond,
  // ten on a small one. `compute` does not wait for the client.
  template <typename Compute>
  static int InTurn(Compute compute) {
    const Worker& worker = ThisWorker();
    std::unique_lock turn(worker.tls->impl_->untrusted, std::defer_lock);
    if (worker.connection->is_unauthenticated && worker.connection->is_from_untrusted) turn.lock();
    return compute();
  }

  static void Free(mbedtls_ssl_context* ssl) {
    mbedtls_ssl_free(ssl);
    ThisWorker().tls_identity.reset();
  }
};

}  // namespace comanda::wire

using comanda::wire::TlsHooks;

// CivetWeb's own configuration stays empty: each connection is set up with ours.
extern "C" int comanda_tls_parse_key_file(mbedtls_pk_context*, const char*, const char*,
                                          int (*)(void*, unsigned char*, size_t), void*) {
  return 0;
}

extern "C" int comanda_tls_parse_crt_file(mbedtls_x509_crt*, const char*) { return 0; }

extern "C" int comanda_tls_conf_own_cert(mbedtls_ssl_config*, mbedtls_x509_crt*,
                                         mbedtls_pk_context*) {
  return 0;
}

extern "C" int comanda_tls_setup(mbedtls_ssl_context* ssl, const mbedtls_ssl_config*) {
  return TlsHooks::Setup(ssl);
}

extern "C" int comanda_tls_handshake(mbedtls_ssl_context* ssl) { return TlsHooks::Handshake(ssl); }

extern "C" void comanda_tls_free(mbedtls_ssl_context* ssl) { TlsHooks::Free(ssl); }

extern "C" int comanda_tls_read(mbedtls_ssl_context* ssl, unsigned char* buffer, size_t size) {
  return TlsHooks::Read(ssl, buffer, size);
}

extern "C" int comanda_tls_write(mbedtls_ssl_context* ssl, const unsigned char* buffer,
                                 size_t size) {
  return TlsHooks::Write(ssl, buffer, size);
}
