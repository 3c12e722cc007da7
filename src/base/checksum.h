#pragma once

// A checksum over the columns of one stored record, so that a changed byte in the database is
// noticed when the record is read.
//
// CRC-32 of an unambiguous encoding: each value is preceded by its type, and a text by its length,
// so that 1, "1" and null differ, and moving a character from one column to the next changes the
// result. CRC-32 detects every error burst of up to 32 bits, hence every flipped bit, and misses
// one in 2^32 larger changes. It does not protect against an attacker.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace comanda {

class Checksum {
 public:
  // `bytes_expected` reserves memory; more may be added.
  explicit Checksum(size_t bytes_expected = 1024) { bytes_.reserve(bytes_expected); }

  // The order of the calls is part of the checksum.
  Checksum& Add(int64_t value);
  Checksum& Add(std::string_view text);
  Checksum& Add(const std::string& text) { return Add(std::string_view(text)); }
  template <typename Value>
  Checksum& Add(const std::optional<Value>& value) {
    if (value) return Add(*value);
    bytes_.push_back('n');
    return *this;
  }

  // The CRC as a signed 32-bit number, the form in which the column stores it.
  int64_t Value() const;

 private:
  void AddTagged(char tag, uint64_t value);

  std::string bytes_;
};

}  // namespace comanda
