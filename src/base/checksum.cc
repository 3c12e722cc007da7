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
  AddBytes(text);
  return *this;
}

Checksum& Checksum::AddNull() {
  AddBytes("n");
  return *this;
}

void Checksum::AddTagged(char tag, uint64_t value) {
  char bytes[1 + sizeof value];
  bytes[0] = tag;
  std::memcpy(bytes + 1, &value, sizeof value);
  AddBytes({bytes, sizeof bytes});
}

void Checksum::AddBytes(std::string_view bytes) {
  if (bytes.size() > buffer_.size() - size_) {
    sum_ = Crc32({buffer_.data(), size_}, sum_);
    size_ = 0;
  }
  if (bytes.size() > buffer_.size()) {
    sum_ = Crc32(bytes, sum_);
  } else {
    bytes.copy(buffer_.data() + size_, bytes.size());
    size_ += bytes.size();
  }
}

int64_t Checksum::Value() const {
  return static_cast<int32_t>(Crc32({buffer_.data(), size_}, sum_));
}

}  // namespace comanda
