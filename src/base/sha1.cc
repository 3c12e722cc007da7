#include "base/sha1.h"

#include <bit>
#include <string>

namespace comanda {
namespace {

constexpr size_t kBlockBytes = 64;
using State = std::array<uint32_t, 5>;

// The message, a one bit, zeros, and its length in bits (FIPS 180-4 5.1.1).
std::string Padded(std::string_view data) {
  std::string message(data);
  message += '\x80';
  while (message.size() % kBlockBytes != kBlockBytes - 8) message += '\0';
  const uint64_t bits = uint64_t{data.size()} * 8;
  for (int shift = 56; shift >= 0; shift -= 8) message += static_cast<char>(bits >> shift & 0xff);
  return message;
}

std::array<uint32_t, 80> Schedule(std::string_view block) {
  std::array<uint32_t, 80> words{};
  for (size_t i = 0; i < kBlockBytes; ++i) {
    words[i / 4] = words[i / 4] << 8 | static_cast<unsigned char>(block[i]);
  }
  for (size_t t = 16; t < words.size(); ++t) {
    words[t] = std::rotl(words[t - 3] ^ words[t - 8] ^ words[t - 14] ^ words[t - 16], 1);
  }
  return words;
}

void Absorb(State& state, std::string_view block) {
  const std::array<uint32_t, 80> words = Schedule(block);
  auto [a, b, c, d, e] = state;
  for (size_t t = 0; t < words.size(); ++t) {
    uint32_t mixed = 0;
    if (t < 20) {
      mixed = ((b & c) | (~b & d)) + 0x5a827999;
    } else if (t < 40) {
      mixed = (b ^ c ^ d) + 0x6ed9eba1;
    } else if (t < 60) {
      mixed = ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
    } else {
      mixed = (b ^ c ^ d) + 0xca62c1d6;
    }
    const uint32_t next = std::rotl(a, 5) + mixed + e + words[t];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  const State added = {a, b, c, d, e};
  for (size_t i = 0; i < state.size(); ++i) state[i] += added[i];
}

}  // namespace

std::array<uint8_t, 20> Sha1(std::string_view data) {
  State state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  const std::string message = Padded(data);
  for (size_t at = 0; at < message.size(); at += kBlockBytes) {
    Absorb(state, std::string_view(message).substr(at, kBlockBytes));
  }
  std::array<uint8_t, 20> digest{};
  for (size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
  }
  return digest;
}

}  // namespace comanda
