#include "base/random.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace comanda {
namespace {

TEST(Random, StaysBelowItsBoundAndReachesEveryValue) {
  std::array<int, 5> seen{};
  for (int i = 0; i < 2000; ++i) {
    const uint64_t value = RandomBelow(seen.size());
    ASSERT_LT(value, seen.size());
    ++seen[value];
  }
  for (const int count : seen) EXPECT_GT(count, 200);
}

TEST(Random, KnowsTheSmallestAndTheLargestBound) {
  EXPECT_EQ(RandomBelow(1), 0U);
  EXPECT_LT(RandomBelow(std::numeric_limits<uint64_t>::max()),
            std::numeric_limits<uint64_t>::max());
}

TEST(Random, FillsEveryByte) {
  std::array<uint8_t, 64> any{};
  for (int i = 0; i < 20; ++i) {
    std::array<uint8_t, 64> bytes{};
    FillRandom(bytes);
    for (size_t at = 0; at < bytes.size(); ++at)
      any[at] = static_cast<uint8_t>(any[at] | bytes[at]);
  }
  for (const uint8_t byte : any) EXPECT_NE(byte, 0);
}

TEST(Random, GivesNothingTwice) {
  std::set<std::array<uint8_t, 8>> seen;
  std::mutex mutex;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 1'000; ++n) {
        std::array<uint8_t, 8> bytes{};
        FillRandom(bytes);
        const std::lock_guard lock(mutex);
        EXPECT_TRUE(seen.insert(bytes).second);
      }
    });
  }
  threads.clear();
  EXPECT_EQ(seen.size(), 4'000U);
}

}  // namespace
}  // namespace comanda
