#include "base/random.h"

#include <string.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

#include "base/check.h"

namespace comanda {
namespace {

void FillFromSystem(std::span<uint8_t> out) {
  while (!out.empty()) {
    const ssize_t got = ::getrandom(out.data(), out.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    CHECK(got > 0, "the system has a random source");
    out = out.subspan(static_cast<size_t>(got));
  }
}

// What a thread has drawn in advance. Nothing is given twice, nor kept once it is given.
class Advance {
 public:
  void Take(std::span<uint8_t> out) {
    if (left_ < out.size()) {
      FillFromSystem(bytes_);
      left_ = bytes_.size();
    }
    const auto taken = std::span(bytes_).subspan(left_ - out.size(), out.size());
    std::ranges::copy(taken, out.begin());
    ::explicit_bzero(taken.data(), taken.size());
    left_ -= out.size();
  }

 private:
  std::array<uint8_t, 128> bytes_{};
  size_t left_ = 0;
};

}  // namespace

void FillRandom(std::span<uint8_t> out) {
  // A request takes a few bytes for its id, an order for its numbers: a call of the system for each
  // would be dearer than the ids.
  constexpr size_t kFewBytes = 16;
  thread_local Advance advance;
  if (out.size() <= kFewBytes) {
    advance.Take(out);
  } else {
    FillFromSystem(out);
  }
}

uint64_t RandomBelow(uint64_t bound) {
  CHECK(bound > 0, "there is no number below zero to draw");
  // The highest multiple of the bound; draws above it would favour small values.
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  const uint64_t limit = kMax - kMax % bound;
  uint64_t draw = 0;
  do {
    FillRandom({reinterpret_cast<uint8_t*>(&draw), sizeof draw});
  } while (draw >= limit);
  return draw % bound;
}

}  // namespace comanda
