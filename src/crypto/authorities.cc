#include "crypto/authorities.h"

#include "base/problem.h"
#include "crypto/hash.h"

#include "mbedtls/ssl.h"
#include "mbedtls/x509_crt.h"

namespace comanda::crypto {

struct Authorities::Chain {
  Chain() { mbedtls_x509_crt_init(&first); }
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;
  ~Chain() { mbedtls_x509_crt_free(&first); }
  mbedtls_x509_crt first;
};

Authorities::Authorities(std::string_view pem)
    : fingerprint_(Sha256Hex(pem)), chain_(std::make_unique<Chain>()) {
  // mbedTLS requires a terminating NUL, counted in the length.
  const std::string text(pem);
  const int result = mbedtls_x509_crt_parse(
      &chain_->first, reinterpret_cast<const unsigned char*>(text.c_str()), text.size() + 1);
  // A positive result is the number of certificates that were skipped.
  if (result < 0 || chain_->first.version == 0) {
    throw Invalid("certificate", FieldCode::kInvalidFormat,
                  "no certificate can be read; a PEM file with BEGIN CERTIFICATE is needed");
  }
}

Authorities::~Authorities() = default;

void Authorities::TrustIn(void* ssl_config) const {
  mbedtls_ssl_conf_ca_chain(static_cast<mbedtls_ssl_config*>(ssl_config), &chain_->first, nullptr);
}

}  // namespace comanda::crypto
