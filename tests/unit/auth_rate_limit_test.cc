#include "auth/rate_limit.h"

#include <gtest/gtest.h>

namespace comanda::auth {
namespace {

constexpr Rate kStandard{100};
constexpr int64_t kSecond = 1'000'000;
constexpr int64_t kNow = 500 * kSecond;

TEST(AuthRateLimit, HoldsOneMinutesQuota) {
  std::atomic<int64_t> arrival{0};
  for (int i = 0; i < 100; ++i) {
    const RateState state = TakeToken(arrival, kStandard, kNow);
    ASSERT_EQ(state.retry_after_s, 0) << i;
    EXPECT_EQ(state.remaining, 99 - i);
    EXPECT_EQ(state.limit, 100);
  }
  const RateState refused = TakeToken(arrival, kStandard, kNow);
  EXPECT_EQ(refused.retry_after_s, 1);
  EXPECT_EQ(refused.reset_s, refused.retry_after_s);
  EXPECT_EQ(refused.remaining, 0);
}

TEST(AuthRateLimit, RefillsContinuously) {
  std::atomic<int64_t> arrival{0};
  for (int i = 0; i < 100; ++i) TakeToken(arrival, kStandard, kNow);
  EXPECT_GT(TakeToken(arrival, kStandard, kNow + kSecond / 2).retry_after_s, 0);
  EXPECT_EQ(TakeToken(arrival, kStandard, kNow + 6 * kSecond / 10).retry_after_s, 0);
  EXPECT_GT(TakeToken(arrival, kStandard, kNow + 6 * kSecond / 10).retry_after_s, 0);
  EXPECT_EQ(TakeToken(arrival, kStandard, kNow + 120 * kSecond).remaining, 99);
}

TEST(AuthRateLimit, SaysWhenTheBucketIsFull) {
  std::atomic<int64_t> arrival{0};
  EXPECT_EQ(TakeToken(arrival, kStandard, kNow).reset_s, 1);
  for (int i = 0; i < 49; ++i) TakeToken(arrival, kStandard, kNow);
  EXPECT_EQ(TakeToken(arrival, kStandard, kNow).reset_s, 31);
}

TEST(AuthRateLimit, TakesNothingWhenItRefuses) {
  std::atomic<int64_t> arrival{0};
  for (int i = 0; i < 150; ++i) TakeToken(arrival, kStandard, kNow);
  EXPECT_EQ(TakeToken(arrival, kStandard, kNow + 6 * kSecond / 10).retry_after_s, 0);
}

TEST(AuthRateLimit, GivesBack) {
  std::atomic<int64_t> arrival{0};
  for (int i = 0; i < 100; ++i) TakeToken(arrival, kStandard, kNow);
  EXPECT_EQ(ReturnToken(arrival, kStandard, kNow).remaining, 1);
  EXPECT_EQ(TakeToken(arrival, kStandard, kNow).retry_after_s, 0);
  EXPECT_GT(TakeToken(arrival, kStandard, kNow).retry_after_s, 0);
}

TEST(AuthRateLimit, NeverRefusesWithoutARate) {
  std::atomic<int64_t> arrival{0};
  for (int i = 0; i < 10'000; ++i) ASSERT_EQ(TakeToken(arrival, {}, kNow).retry_after_s, 0);
  EXPECT_EQ(TakeToken(arrival, {}, kNow).limit, 0);
}

}  // namespace
}  // namespace comanda::auth
