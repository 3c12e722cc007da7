#include "base/random.h"

#include <sys/random.h>

#include <cerrno>
#include <limits>

#include "base/check.h"

namespace comanda {
void FillRandom(std::span<uint8_t> out) {
  while (!out.empty()) {
    const ssize_t got = ::getrandom(out.data(), out.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    CHECK(got > 0, "the system has a random source");
    out = out.subspan(static_cast<size_t>(got));
  }
}

uint64_t RandomBelow(uint64_t bound) {
  CHECK(bound > 0, "there is no number below zero to draw");
  // Draws at or above the highest multiple of the bound are rejected: they would favour small
  // values.
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  const uint64_t limit = kMax - kMax % bound;
  uint64_t draw = 0;
  do {
    FillRandom({reinterpret_cast<uint8_t*>(&draw), sizeof draw});
  } while (draw >= limit);
  return draw % bound;
}

}  // namespace comanda
