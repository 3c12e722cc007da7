#pragma once

// The certificate authorities that the program trusts as a TLS client.
//
// With CURLOPT_CAINFO libcurl parses the PEM file again for every connection (Debian's bundle: 5.7
// ms and 540 KiB each time). An Authorities object is parsed once and shared by all connections.

#include <memory>
#include <string>
#include <string_view>

namespace comanda::crypto {

class Authorities {
 public:
  // Parses a PEM bundle. Certificates that mbedTLS does not support are skipped, since every system
  // bundle has some. Throws Refusal(kValidationFailed) if none is left.
  explicit Authorities(std::string_view pem);
  Authorities(const Authorities&) = delete;
  Authorities& operator=(const Authorities&) = delete;
  ~Authorities();

  // SHA-256 of the PEM text in hexadecimal. Equal sets have equal fingerprints.
  const std::string& fingerprint() const { return fingerprint_; }

  // Makes these the trusted authorities of a connection before its handshake. `ssl_config` is the
  // mbedtls_ssl_config of the connection; libcurl hands it over untyped. This object must outlive
  // the handshake. Handshakes that share one Authorities object must run on one thread: mbedTLS
  // caches precomputed values in the public keys that it verifies with.
  void TrustIn(void* ssl_config) const;

 private:
  // Wraps the mbedtls_x509_crt.
  struct Chain;
  std::string fingerprint_;
  std::unique_ptr<Chain> chain_;
};

}  // namespace comanda::crypto
