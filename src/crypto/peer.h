#pragma once

// The server at the other end of a TLS connection that the program opened as a client.

#include <optional>
#include <string>

#include "crypto/certificate.h"

namespace comanda::crypto {

struct Peer {
  // As "TLSv1.3".
  std::string tls_version;
  // Nothing after a resumed handshake, in which the server sends no certificate.
  std::optional<CertificateInfo> certificate;
};

// `ssl` is the mbedtls_ssl_context of a connection whose handshake is complete; libcurl hands it
// over untyped. Throws Refusal(kValidationFailed) if the certificate cannot be parsed.
Peer DescribePeer(const void* ssl);

}  // namespace comanda::crypto
