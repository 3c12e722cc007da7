#pragma once

// A checksum over the columns of one stored record, so that a changed byte in the database is
// noticed when the record is read.
//
// CRC-32 of an unambiguous encoding: each value is preceded by its type, and a text by its length,
// so that 1, "1" and null differ, and moving a character from one column to the next changes the
// result. CRC-32 detects every error burst of up to 32 bits, hence every flipped bit, and misses
// one in 2^32 larger changes. It does not protect against an attacker.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace comanda {

class Checksum {
 public:
  // The order of the calls is part of the checksum.
  Checksum& Add(int64_t value);
  Checksum& Add(std::string_view text);
  Checksum& Add(const std::string& text) { return Add(std::string_view(text)); }
  template <typename Value>
  Checksum& Add(const std::optional<Value>& value) {
    if (value) return Add(*value);
    return AddNull();
  }

  // The CRC as a signed 32-bit number, the form in which the column stores it.
  int64_t Value() const;

 private:
  Checksum& AddNull();
  void AddTagged(char tag, uint64_t value);
  void AddBytes(std::string_view bytes);

  uint32_t sum_ = 0;              // of what was in the buffer before
  std::array<char, 512> buffer_;  // short values, which are faster to sum together
  size_t size_ = 0;               // of the buffer's content
};

}  // namespace comanda
