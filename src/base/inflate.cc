#include "base/inflate.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace comanda {
namespace {

constexpr size_t kHeaderBytes = 10;
constexpr size_t kTrailerBytes = 8;
constexpr int kCodeBitsMax = 15;
constexpr size_t kLiteralsMax = 288;
constexpr unsigned kEndOfBlock = 256;

// Lowest bit first.
class Bits {
 public:
  explicit Bits(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  // At most 16.
  unsigned Take(unsigned count) {
    while (held_count_ < count) {
      held_ |= unsigned{NextByte()} << held_count_;
      held_count_ += 8;
    }
    const unsigned value = held_ & ((1u << count) - 1u);
    held_ >>= count;
    held_count_ -= count;
    return value;
  }

  // Never more than the rest of a byte is held between calls.
  void DropRestOfByte() { held_ = held_count_ = 0; }

  uint8_t NextByte() {
    CHECK(at_ < bytes_.size(), "a compressed file does not end in the middle");
    return bytes_[at_++];
  }

 private:
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
  unsigned held_ = 0;
  unsigned held_count_ = 0;
};

// RFC 1951 section 3.2.2: codes of one length are consecutive, in the order of their symbols.
class Code {
 public:
  explicit Code(std::span<const uint8_t> lengths) {
    for (const uint8_t length : lengths) ++counts_[length];
    counts_[0] = 0;
    std::array<uint16_t, kCodeBitsMax + 1> next{};
    for (size_t i = 1; i < kCodeBitsMax; ++i) {
      next[i + 1] = static_cast<uint16_t>(next[i] + counts_[i]);
    }
    for (size_t symbol = 0; symbol < lengths.size(); ++symbol) {
      if (lengths[symbol] != 0) symbols_[next[lengths[symbol]]++] = static_cast<uint16_t>(symbol);
    }
  }

  unsigned Read(Bits& bits) const {
    unsigned code = 0;
    unsigned first = 0;
    unsigned index = 0;
    for (size_t length = 1; length <= kCodeBitsMax; ++length) {
      code |= bits.Take(1);
      const unsigned count = counts_[length];
      if (code < first + count) return symbols_[index + code - first];
      index += count;
      first = (first + count) << 1;
      code <<= 1;
    }
    CHECK(false, "every code of a compressed file is in its table");
    return 0;
  }

 private:
  std::array<uint16_t, kCodeBitsMax + 1> counts_{};
  std::array<uint16_t, kLiteralsMax> symbols_{};
};

void CopyStored(Bits& bits, std::string& out) {
  bits.DropRestOfByte();
  unsigned length = bits.NextByte();
  length |= unsigned{bits.NextByte()} << 8;
  bits.NextByte();  // the length again, inverted
  bits.NextByte();
  for (; length > 0; --length) out += static_cast<char>(bits.NextByte());
}

// RFC 1951 section 3.2.5.
void CopyCoded(Bits& bits, const Code& literals, const Code& distances, std::string& out) {
  constexpr std::array<uint16_t, 29> kLengthBase = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                                    15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                                    67, 83, 99, 115, 131, 163, 195, 227, 258};
  constexpr std::array<uint8_t, 29> kLengthBits = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                                   2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
  constexpr std::array<uint16_t, 30> kDistanceBase = {
      1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
      193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
  constexpr unsigned kFirstLength = kEndOfBlock + 1;

  for (;;) {
    const unsigned symbol = literals.Read(bits);
    if (symbol == kEndOfBlock) return;
    if (symbol < kEndOfBlock) {
      out += static_cast<char>(symbol);
      continue;
    }
    CHECK(symbol - kFirstLength < kLengthBase.size(), "a length has one of 29 symbols");
    size_t length = kLengthBase[symbol - kFirstLength];
    length += bits.Take(kLengthBits[symbol - kFirstLength]);
    const unsigned far = distances.Read(bits);
    CHECK(far < kDistanceBase.size(), "a distance has one of 30 symbols");
    size_t distance = kDistanceBase[far];
    if (far >= 4) distance += bits.Take(far / 2 - 1);
    CHECK(distance <= out.size(), "a repetition is of what was before");
    for (; length > 0; --length) out += out[out.size() - distance];
  }
}

// RFC 1951 section 3.2.6.
void CopyFixed(Bits& bits, std::string& out) {
  std::array<uint8_t, kLiteralsMax> literals;
  std::fill_n(literals.begin(), 144, uint8_t{8});
  std::fill_n(literals.begin() + 144, 112, uint8_t{9});
  std::fill_n(literals.begin() + 256, 24, uint8_t{7});
  std::fill_n(literals.begin() + 280, 8, uint8_t{8});
  std::array<uint8_t, 30> distances;
  distances.fill(5);
  CopyCoded(bits, Code(literals), Code(distances), out);
}

// RFC 1951 section 3.2.7: the codes stand before the data, coded themselves.
void CopyDynamic(Bits& bits, std::string& out) {
  constexpr std::array<uint8_t, 19> kOrder = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                              11, 4,  12, 3, 13, 2, 14, 1, 15};
  constexpr size_t kDistancesMax = 32;
  const size_t literal_count = bits.Take(5) + 257;
  const size_t distance_count = bits.Take(5) + 1;
  const size_t length_count = bits.Take(4) + 4;
  CHECK(literal_count <= kLiteralsMax, "there are no more literals");
  std::array<uint8_t, kOrder.size()> length_lengths{};
  for (size_t i = 0; i < length_count; ++i) {
    length_lengths[kOrder[i]] = static_cast<uint8_t>(bits.Take(3));
  }
  const Code length_code(length_lengths);

  std::array<uint8_t, kLiteralsMax + kDistancesMax> lengths{};
  const size_t total = literal_count + distance_count;
  size_t at = 0;
  while (at < total) {
    const unsigned symbol = length_code.Read(bits);
    uint8_t value = 0;
    size_t times = 1;
    if (symbol < 16) {
      value = static_cast<uint8_t>(symbol);
    } else if (symbol == 16) {
      CHECK(at > 0, "a repetition is of the length before");
      value = lengths[at - 1];
      times = bits.Take(2) + 3;
    } else {
      times = symbol == 17 ? bits.Take(3) + 3 : bits.Take(7) + 11;
    }
    CHECK(at + times <= total, "there are as many lengths as announced");
    std::fill_n(lengths.begin() + static_cast<std::ptrdiff_t>(at), times, value);
    at += times;
  }
  const std::span<const uint8_t> all(lengths);
  CopyCoded(bits, Code(all.first(literal_count)), Code(all.subspan(literal_count, distance_count)),
            out);
}

size_t SizeAtEnd(std::span<const uint8_t> file) {
  size_t size = 0;
  for (size_t i = 1; i <= 4; ++i) size = size << 8 | file[file.size() - i];
  return size;
}

}  // namespace

std::string Gunzip(std::span<const uint8_t> file) {
  CHECK(file.size() > kHeaderBytes + kTrailerBytes, "a compressed file has a head and an end");
  CHECK(file[0] == 0x1f && file[1] == 0x8b && file[2] == 8 && file[3] == 0,
        "a compressed file is as gzip -n makes it");
  const size_t size = SizeAtEnd(file);
  std::string out;
  out.reserve(size);
  Bits bits(file.subspan(kHeaderBytes, file.size() - kHeaderBytes - kTrailerBytes));
  bool last = false;
  while (!last) {
    last = bits.Take(1) == 1;
    const unsigned kind = bits.Take(2);
    CHECK(kind < 3, "a block is stored, or has fixed or own codes");
    if (kind == 0) {
      CopyStored(bits, out);
    } else if (kind == 1) {
      CopyFixed(bits, out);
    } else {
      CopyDynamic(bits, out);
    }
  }
  CHECK(out.size() == size, "a compressed file is as long as its end says");
  return out;
}

}  // namespace comanda
