#include "http/body_budget.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/problem.h"
#include "support/waiting.h"

namespace comanda::http {
namespace {

constexpr size_t kMebibyte = 1024 * 1024;
constexpr size_t kHalf = BodyBudget::kAtOnceMax / 2;

TEST(HttpBodyBudget, LetsLargeBodiesWaitForTheirTurn) {
  BodyBudget budget;
  BodyBudget::Lease first = budget.Wait(kHalf);
  const BodyBudget::Lease second = budget.Wait(kHalf);
  std::atomic<bool> released = false;
  std::jthread later([&, waiting = ::gettid()] {
    EXPECT_TRUE(testing::AwaitBlocked(waiting));
    released = true;
    first = {};
  });
  const BodyBudget::Lease third = budget.Wait(kHalf);
  EXPECT_TRUE(released);
}

TEST(HttpBodyBudget, LetsNoSmallBodyWait) {
  BodyBudget budget;
  const BodyBudget::Lease large = budget.Wait(8 * kMebibyte);
  const BodyBudget::Lease small = budget.Wait(BodyBudget::kUncountedMax);
}

TEST(HttpBodyBudget, RefusesWhatDoesNotGetItsTurn) {
  BodyBudget budget;
  const BodyBudget::Lease large = budget.Wait(8 * kMebibyte);
  try {
    const BodyBudget::Lease another = budget.Wait(kMebibyte);
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.problem, Problem::kServiceUnavailable);
    EXPECT_EQ(refusal.retry_after_s, 1);
  }
}

TEST(HttpBodyBudget, GivesEverythingBack) {
  BodyBudget budget;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        BodyBudget::Lease one = budget.Wait(kHalf);
        const BodyBudget::Lease moved = std::move(one);
      }
    });
  }
  threads.clear();
  const BodyBudget::Lease first = budget.Wait(kHalf), second = budget.Wait(kHalf);
}

}  // namespace
}  // namespace comanda::http
