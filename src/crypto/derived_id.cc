#include "crypto/derived_id.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "base/check.h"
#include "base/id.h"
#include "base/problem.h"

#include "mbedtls/sha1.h"

namespace comanda::crypto {

std::string DerivedId(std::string_view namespace_id, std::string_view name) {
  const std::optional<std::string> parsed = ParseId(namespace_id);
  if (!parsed) throw Fault(Fault::Kind::kDamaged, "the id of a company is no UUID");
  const IdBytes space = BytesOfId(*parsed);
  std::string hashed(space.begin(), space.end());
  hashed += name;
  std::array<uint8_t, 20> digest{};
  const int result = mbedtls_sha1(reinterpret_cast<const unsigned char*>(hashed.data()),
                                  hashed.size(), digest.data());
  CHECK(result == 0, "hashing memory cannot fail");
  IdBytes bytes{};
  std::copy_n(digest.begin(), bytes.size(), bytes.begin());
  return FormatId(bytes, 5);
}

}  // namespace comanda::crypto
