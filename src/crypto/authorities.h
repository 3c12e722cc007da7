#pragma once

// The certificate authorities that our own TLS clients trust.
//
// libcurl's CURLOPT_CAINFO parses the PEM file again for every new connection (Debian's bundle: 5.7
// ms and 540 KiB each). An Authorities object is parsed once and shared by all connections instead.

#include <memory>
#include <string>
#include <string_view>

namespace comanda::crypto {

class Authorities {
 public:
  // Certificates that mbedTLS does not understand are left out, as in any system's bundle. Refusal
  // (kValidationFailed) where none can be read.
  explicit Authorities(std::string_view pem);
  Authorities(const Authorities&) = delete;
  Authorities& operator=(const Authorities&) = delete;
  ~Authorities();

  // SHA-256 (hex) of the PEM text: equal for equal sets.
  const std::string& fingerprint() const { return fingerprint_; }

  // Makes these the trusted authorities of a connection before its handshake. `ssl_config` is its
  // mbedtls_ssl_config; it comes untyped from libraries that speak TLS for us. This object must
  // live until the handshake is done. Handshakes with the same Authorities run on one thread only:
  // mbedTLS caches numbers in the public keys that it verifies with.
  void TrustIn(void* ssl_config) const;

 private:
  struct Chain;  // mbedtls_x509_crt
  std::string fingerprint_;
  std::unique_ptr<Chain> chain_;
};

}  // namespace comanda::crypto
