#include "crypto/hash.h"

#include <algorithm>
#include <mutex>
#include <new>

#include "base/check.h"
#include "base/problem.h"

#include "mbedtls/base64.h"
#include "mbedtls/md.h"
#include "mbedtls/sha256.h"
#include "mbedtls/ssl.h"
#include "mbedtls/version.h"
#include "psa/crypto.h"

namespace comanda::crypto {
void Initialise() {
  static std::once_flag once;
  std::call_once(once, [] {
    CHECK(psa_crypto_init() == PSA_SUCCESS, "TLS 1.3 cannot work without the PSA key store");
    // mbedTLS builds this list at its first use, without a lock: a second connection starting at
    // that moment could read a half-built list.
    mbedtls_ssl_list_ciphersuites();
  });
}

Sha256Digest Sha256(std::string_view data) {
  Sha256Digest digest{};
  const int result = mbedtls_sha256(reinterpret_cast<const unsigned char*>(data.data()),
                                    data.size(), digest.data(), 0);
  CHECK(result == 0, "hashing memory cannot fail");
  return digest;
}

Sha256Digest HmacSha256(std::string_view key, std::string_view data) {
  Sha256Digest digest{};
  const int result = mbedtls_md_hmac(mbedtls_md_info_from_type(MBEDTLS_MD_SHA256),
                                     reinterpret_cast<const unsigned char*>(key.data()), key.size(),
                                     reinterpret_cast<const unsigned char*>(data.data()),
                                     data.size(), digest.data());
  if (result != 0) throw std::bad_alloc();
  return digest;
}

std::string Hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out(bytes.size() * 2, '0');
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    out[2 * i] = kDigits[byte >> 4];
    out[2 * i + 1] = kDigits[byte & 15];
  }
  return out;
}

std::string Base64(std::span<const uint8_t> bytes) {
  // mbedTLS writes a null byte behind the text, which is the string's own.
  std::string text((bytes.size() + 2) / 3 * 4, '\0');
  size_t written = 0;
  const int result = mbedtls_base64_encode(reinterpret_cast<unsigned char*>(text.data()),
                                           text.size() + 1, &written, bytes.data(), bytes.size());
  CHECK(result == 0 && written == text.size(), "the buffer has the size of the encoding");
  return text;
}

std::string Base64UrlOf(std::string_view base64) {
  std::string url(base64.substr(0, base64.find('=')));
  std::ranges::replace(url, '+', '-');
  std::ranges::replace(url, '/', '_');
  return url;
}

std::string FromBase64(std::string_view text) {
  std::string bytes(text.size(), '\0');
  size_t written = 0;
  const int result =
      mbedtls_base64_decode(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), &written,
                            reinterpret_cast<const unsigned char*>(text.data()), text.size());
  if (result != 0) throw Fault(Fault::Kind::kDamaged, "a text that is to be base64 is none");
  bytes.resize(written);
  return bytes;
}

std::string LibraryVersion() {
  std::array<char, 16> text{};
  mbedtls_version_get_string(text.data());
  return text.data();
}

}  // namespace comanda::crypto
