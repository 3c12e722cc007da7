#pragma once

// The other end of a TLS connection that one of our clients opened.

#include <optional>
#include <string>

#include "crypto/certificate.h"

namespace comanda::crypto {

struct Peer {
  std::string tls_version;                     // "TLSv1.3"
  std::optional<CertificateInfo> certificate;  // nothing after a resumed handshake
};

// `ssl` is the mbedtls_ssl_context of a connection whose handshake is done; it comes untyped from
// libraries that speak TLS for us. Throws as Inspect does.
Peer DescribePeer(const void* ssl);

}  // namespace comanda::crypto
