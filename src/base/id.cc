#include "base/id.h"

#include <algorithm>
#include <atomic>

#include "base/random.h"
#include "base/text.h"

namespace comanda {
namespace {

constexpr size_t kTextSize = 36;

bool IsDashAt(size_t i) { return i == 8 || i == 13 || i == 18 || i == 23; }

// The counter that orders the ids of one millisecond (RFC 9562 section 6.2, method 1): 42 bits in
// rand_a and the front of rand_b. It keeps counting for the life of the process, so that ids stay
// in order even if threads pass slightly different times. Its highest bit starts as 0, which leaves
// room for 2^41 ids before it wraps.
constexpr int kCounterBits = 42;

uint64_t NextCount() {
  static std::atomic<uint64_t> counter{RandomBelow(uint64_t{1} << (kCounterBits - 1))};
  return counter.fetch_add(1, std::memory_order_relaxed) & ((uint64_t{1} << kCounterBits) - 1);
}

// The last 32 bits, drawn once: they distinguish two processes whose clocks and counters coincide.
std::array<uint8_t, 4> DrawTail() {
  std::array<uint8_t, 4> tail;
  FillRandom(tail);
  return tail;
}

int HexValue(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

}  // namespace

std::string NewId(UtcMs now) {
  const uint64_t time = static_cast<uint64_t>(std::max<UtcMs>(now, 0));
  const uint64_t count = NextCount();
  IdBytes bytes{};
  for (size_t i = 0; i < 6; ++i) bytes[i] = static_cast<uint8_t>(time >> (40 - 8 * i));
  bytes[6] = static_cast<uint8_t>(count >> 38);
  bytes[7] = static_cast<uint8_t>(count >> 30);
  bytes[8] = static_cast<uint8_t>(count >> 24 & 0x3f);
  bytes[9] = static_cast<uint8_t>(count >> 16);
  bytes[10] = static_cast<uint8_t>(count >> 8);
  bytes[11] = static_cast<uint8_t>(count);
  static const std::array<uint8_t, 4> tail = DrawTail();
  std::ranges::copy(tail, bytes.begin() + 12);
  return FormatId(bytes, 7);
}

std::optional<std::string> ParseId(std::string_view text) {
  if (text.size() != kTextSize) return std::nullopt;
  std::string id = AsciiLower(text);
  for (size_t i = 0; i < id.size(); ++i) {
    const char c = id[i];
    const bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    if (IsDashAt(i) ? c != '-' : !hex) return std::nullopt;
  }
  return id;
}

IdBytes BytesOfId(std::string_view lower_case_id) {
  IdBytes bytes{};
  size_t nibble = 0;
  for (const char c : lower_case_id) {
    if (c == '-') continue;
    bytes[nibble / 2] = static_cast<uint8_t>(bytes[nibble / 2] << 4 | HexValue(c));
    ++nibble;
  }
  return bytes;
}

std::string FormatId(IdBytes bytes, uint8_t version) {
  constexpr std::string_view kHex = "0123456789abcdef";
  bytes[6] = static_cast<uint8_t>((bytes[6] & 0x0f) | version << 4);
  bytes[8] = static_cast<uint8_t>((bytes[8] & 0x3f) | 0x80);
  std::string text(kTextSize, '-');
  size_t at = 0;
  for (const uint8_t byte : bytes) {
    if (IsDashAt(at)) ++at;
    text[at++] = kHex[byte >> 4];
    text[at++] = kHex[byte & 15];
  }
  return text;
}

}  // namespace comanda
