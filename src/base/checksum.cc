#include "base/checksum.h"

#include <bit>
#include <cstring>

#include "base/gzip.h"

namespace comanda {

// Numbers are hashed in the machine's byte order. A database must read the same on both
// architectures that we build for.
static_assert(std::endian::native == std::endian::little);

Checksum& Checksum::Add(int64_t value) {
  AddTagged('i', static_cast<uint64_t>(value));
  return *this;
}

Checksum& Checksum::Add(std::string_view text) {
  AddTagged('t', text.size());
  bytes_.append(text);
  return *this;
}

void Checksum::AddTagged(char tag, uint64_t value) {
  char bytes[1 + sizeof value];
  bytes[0] = tag;
  std::memcpy(bytes + 1, &value, sizeof value);
  bytes_.append(bytes, sizeof bytes);
}

int64_t Checksum::Value() const { return static_cast<int32_t>(Crc32(bytes_)); }

}  // namespace comanda
