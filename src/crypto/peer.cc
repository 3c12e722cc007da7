#include "crypto/peer.h"

#include <array>

#include "base/problem.h"

#include "mbedtls/pem.h"
#include "mbedtls/ssl.h"

namespace comanda::crypto {
namespace {

constexpr size_t kPemBytesMax = 32 * 1024;

std::string Pem(const mbedtls_x509_crt& certificate) {
  std::array<unsigned char, kPemBytesMax> text{};
  size_t bytes = 0;
  const int result = mbedtls_pem_write_buffer(
      "-----BEGIN CERTIFICATE-----\n", "-----END CERTIFICATE-----\n", certificate.raw.p,
      certificate.raw.len, text.data(), text.size(), &bytes);
  if (result != 0) {
    throw Invalid("certificate", FieldCode::kOutOfRange, "the server's certificate is too large");
  }
  return reinterpret_cast<const char*>(text.data());
}

}  // namespace

Peer DescribePeer(const void* ssl) {
  const auto& context = *static_cast<const mbedtls_ssl_context*>(ssl);
  Peer peer;
  peer.tls_version = mbedtls_ssl_get_version(&context);
  if (const mbedtls_x509_crt* certificate = mbedtls_ssl_get_peer_cert(&context)) {
    peer.certificate = Inspect(Pem(*certificate));
  }
  return peer;
}

}  // namespace comanda::crypto
