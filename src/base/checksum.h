#pragma once

// The checksum of a record that is stored in columns: CRC-32 over its values in a form that has one
// meaning, in which 1, "1" and null differ and no value can pass for a part of its neighbour. It
// finds every change of up to 32 neighbouring bits, so every flipped bit, and misses one in four
// billion of larger ones.

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace comanda {

class Checksum {
 public:
  explicit Checksum(size_t bytes_expected = 1024) { bytes_.reserve(bytes_expected); }

  Checksum& Add(int64_t value) {
    AddTagged('i', &value, sizeof value);
    return *this;
  }
  Checksum& Add(std::string_view text) {
    const uint64_t size = text.size();
    AddTagged('t', &size, sizeof size);
    bytes_.append(text);
    return *this;
  }
  Checksum& Add(const std::string& text) { return Add(std::string_view(text)); }
  template <typename Value>
  Checksum& Add(const std::optional<Value>& value) {
    if (value) return Add(*value);
    bytes_.push_back('n');
    return *this;
  }

  // As databases keep it: a signed number of 32 bits.
  int64_t Value() const;

 private:
  void AddTagged(char tag, const void* value, size_t size) {
    char bytes[1 + sizeof(int64_t)];
    bytes[0] = tag;
    std::memcpy(bytes + 1, value, size);
    bytes_.append(bytes, 1 + size);
  }

  std::string bytes_;
};

}  // namespace comanda
