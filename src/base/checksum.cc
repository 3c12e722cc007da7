#include "base/checksum.h"

#include <bit>

#include "base/gzip.h"

namespace comanda {

// Numbers are hashed in the machine's byte order. A database must read the same on both
// architectures that we build for.
static_assert(std::endian::native == std::endian::little);

int64_t Checksum::Value() const { return static_cast<int32_t>(Crc32(bytes_)); }

}  // namespace comanda
