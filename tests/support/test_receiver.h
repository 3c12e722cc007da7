#pragma once

// A server for tests of net/: passes each connection to a function of the test, which may answer,
// send slowly, hang or close. Plain, or TLS with a given certificate.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/random.h"
#include "crypto/certificate.h"
#include "crypto/hash.h"

#include "mbedtls/net_sockets.h"
#include "mbedtls/pk.h"
#include "mbedtls/ssl.h"
#include "mbedtls/x509_crt.h"

namespace comanda::testing {

class TestReceiver;

// One accepted connection, on a thread of its own.
class ReceiverConnection {
 public:
  ReceiverConnection(int socket, const std::atomic<bool>& stopping)
      : socket_(socket), stopping_(stopping) {}
  virtual ~ReceiverConnection() { ::close(socket_); }

  // The next request, head and body; empty where the client has closed or the server stops.
  std::string Next() {
    std::string request;
    while (true) {
      const size_t end = request.find("\r\n\r\n");
      if (end != request.npos && request.size() >= end + 4 + BodyBytes(request)) return request;
      if (!ReadMore(request)) return {};
    }
  }
  // False where the client has closed.
  virtual bool Write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }
  // True until the client closes or the server stops.
  bool IsOpen() { return !stopping_ && !ClientClosed(); }
  void Pause(int64_t ms) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(ms);
    while (!stopping_ && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  void Hang() {
    while (IsOpen()) Pause(5);
  }

 protected:
  virtual ssize_t Read(char* to, size_t bytes) { return ::recv(socket_, to, bytes, 0); }
  virtual bool HasBuffered() { return false; }
  bool WaitReadable() {
    while (!stopping_) {
      if (HasBuffered()) return true;
      pollfd one{.fd = socket_, .events = POLLIN, .revents = 0};
      if (::poll(&one, 1, 20) > 0) return true;
    }
    return false;
  }
  const int socket_;

 private:
  static size_t BodyBytes(const std::string& request) {
    const size_t at = request.find("Content-Length: ");
    return at == request.npos ? 0 : std::stoul(request.substr(at + 16));
  }
  bool ReadMore(std::string& to) {
    if (!WaitReadable()) return false;
    std::array<char, 4096> bytes;
    const ssize_t count = Read(bytes.data(), bytes.size());
    if (count <= 0) return false;
    to.append(bytes.data(), static_cast<size_t>(count));
    return true;
  }
  bool ClientClosed() {
    char byte = 0;
    return ::recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
  }

  const std::atomic<bool>& stopping_;
};

class TlsReceiverConnection final : public ReceiverConnection {
 public:
  TlsReceiverConnection(int socket, const std::atomic<bool>& stopping,
                        const crypto::KeyPair& identity)
      : ReceiverConnection(socket, stopping) {
    mbedtls_ssl_config_init(&config_);
    mbedtls_ssl_init(&ssl_);
    mbedtls_x509_crt_init(&chain_);
    mbedtls_pk_init(&key_);
    const auto bytes = [](const std::string& text) {
      return reinterpret_cast<const unsigned char*>(text.c_str());
    };
    mbedtls_x509_crt_parse(&chain_, bytes(identity.certificate_pem),
                           identity.certificate_pem.size() + 1);
    mbedtls_pk_parse_key(&key_, bytes(identity.key_pem), identity.key_pem.size() + 1, nullptr, 0,
                         Random, nullptr);
    mbedtls_ssl_config_defaults(&config_, MBEDTLS_SSL_IS_SERVER, MBEDTLS_SSL_TRANSPORT_STREAM,
                                MBEDTLS_SSL_PRESET_DEFAULT);
    mbedtls_ssl_conf_rng(&config_, Random, nullptr);
    mbedtls_ssl_conf_own_cert(&config_, &chain_, &key_);
    mbedtls_ssl_setup(&ssl_, &config_);
    mbedtls_ssl_set_bio(&ssl_, this, Send, Receive, nullptr);
  }
  ~TlsReceiverConnection() override {
    mbedtls_ssl_free(&ssl_);
    mbedtls_ssl_config_free(&config_);
    mbedtls_x509_crt_free(&chain_);
    mbedtls_pk_free(&key_);
  }
  bool Shake() { return mbedtls_ssl_handshake(&ssl_) == 0; }
  bool Write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const int sent = mbedtls_ssl_write(
          &ssl_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }

 protected:
  ssize_t Read(char* to, size_t bytes) override {
    return mbedtls_ssl_read(&ssl_, reinterpret_cast<unsigned char*>(to), bytes);
  }
  bool HasBuffered() override { return mbedtls_ssl_check_pending(&ssl_) != 0; }

 private:
  static int Random(void*, unsigned char* out, size_t size) {
    FillRandom({out, size});
    return 0;
  }
  static int Send(void* self, const unsigned char* data, size_t size) {
    const int socket = static_cast<TlsReceiverConnection*>(self)->socket_;
    const ssize_t sent = ::send(socket, data, size, MSG_NOSIGNAL);
    return sent > 0 ? static_cast<int>(sent) : MBEDTLS_ERR_SSL_CONN_EOF;
  }
  static int Receive(void* self, unsigned char* to, size_t size) {
    auto& connection = *static_cast<TlsReceiverConnection*>(self);
    if (!connection.WaitReadable()) return MBEDTLS_ERR_SSL_CONN_EOF;
    const ssize_t count = ::recv(connection.socket_, to, size, 0);
    return count > 0 ? static_cast<int>(count) : MBEDTLS_ERR_SSL_CONN_EOF;
  }

  mbedtls_ssl_config config_;
  mbedtls_ssl_context ssl_;
  mbedtls_x509_crt chain_;
  mbedtls_pk_context key_;
};

class TestReceiver {
 public:
  using Behaviour = std::function<void(ReceiverConnection&)>;

  explicit TestReceiver(Behaviour behaviour, std::optional<crypto::KeyPair> identity = {})
      : behaviour_(std::move(behaviour)), identity_(std::move(identity)) {
    crypto::Initialise();
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
    ::listen(listener_, 256);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread([this] { Accept(); });
  }
  ~TestReceiver() {
    stopping_ = true;
    thread_.join();
    connections_.clear();
    ::close(listener_);
  }

  int port() const { return port_; }
  std::string Url(const std::string& host = "127.0.0.1") const {
    return (identity_ ? "https://" : "http://") + host + ":" + std::to_string(port_) + "/hook";
  }
  int accepted() const { return accepted_; }

 private:
  void Accept() {
    while (!stopping_) {
      pollfd one{.fd = listener_, .events = POLLIN, .revents = 0};
      if (::poll(&one, 1, 10) <= 0) continue;
      const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0) continue;
      ++accepted_;
      connections_.emplace_back([this, socket] { Serve(socket); });
    }
  }
  void Serve(int socket) {
    if (!identity_) {
      ReceiverConnection connection(socket, stopping_);
      behaviour_(connection);
      return;
    }
    TlsReceiverConnection connection(socket, stopping_, *identity_);
    if (connection.Shake()) behaviour_(connection);
  }

  const Behaviour behaviour_;
  const std::optional<crypto::KeyPair> identity_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> accepted_{0};
  std::atomic<bool> stopping_{false};
  std::vector<std::jthread> connections_;  // the accepting thread's, then the destructor's
  std::jthread thread_;
};

}  // namespace comanda::testing
