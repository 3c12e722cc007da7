#include "http/answer_budget.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace comanda::http {
namespace {

using Lease = AnswerBudget::Lease;

constexpr size_t kUnit = 100 * 1024;
std::string Body(size_t units) { return std::string(units * kUnit, 'x'); }

TEST(HttpAnswerBudget, GivesEachKeyItsShareAndAllTheirs) {
  AnswerBudget budget({.all = 10 * kUnit, .of_one_key = 4 * kUnit});
  const std::string three = Body(3), two = Body(2), one = Body(1);
  Lease a(budget, "a"), also_a(budget, "a"), b(budget, "b"), c(budget, "c"), d(budget, "d");
  const std::string three_b = Body(3), three_c = Body(3);
  EXPECT_TRUE(a.TryHold(three));
  EXPECT_FALSE(also_a.TryHold(two)) << "the key would have five";
  EXPECT_TRUE(also_a.TryHold(one));
  EXPECT_TRUE(b.TryHold(three_b));
  EXPECT_TRUE(c.TryHold(three_c));
  EXPECT_FALSE(d.TryHold(two)) << "all would have twelve";
  EXPECT_EQ(budget.bytes(), 10 * kUnit);
}

TEST(HttpAnswerBudget, GivesBackWhatALeaseHeldWhenItEnds) {
  AnswerBudget budget({.all = 3 * kUnit, .of_one_key = 3 * kUnit});
  const std::string body = Body(3), other = Body(3);
  for (int i = 0; i < 100; ++i) {
    Lease lease(budget, "a");
    ASSERT_TRUE(lease.TryReserve(2 * kUnit));
    ASSERT_TRUE(lease.TryHold(body));
    Lease moved = std::move(lease);
    Lease late(budget, "a");
    ASSERT_FALSE(late.TryHold(other));
    ASSERT_FALSE(late.TryReserve(kUnit));
  }
  EXPECT_EQ(budget.bytes(), 0u);
}

TEST(HttpAnswerBudget, CountsABodyThatIsSharedOnceInAllAndOnceForEachKey) {
  AnswerBudget budget({.all = 4 * kUnit, .of_one_key = 3 * kUnit});
  const std::string shared = Body(2), own = Body(2);
  {
    std::vector<Lease> displays;
    for (int i = 0; i < 30; ++i) {
      ASSERT_TRUE(displays.emplace_back(budget, "key " + std::to_string(i % 3)).TryHold(shared));
    }
    EXPECT_EQ(budget.bytes(), 2 * kUnit);
    Lease of_a_display(budget, "key 0");
    EXPECT_FALSE(of_a_display.TryHold(own)) << "its key has two already";
    Lease of_another(budget, "other");
    EXPECT_TRUE(of_another.TryHold(own));
    displays.pop_back();
    EXPECT_EQ(budget.bytes(), 4 * kUnit) << "the others still have it";
  }
  EXPECT_EQ(budget.bytes(), 0u);
}

TEST(HttpAnswerBudget, NeverRefusesTheAnswerToAWrite) {
  AnswerBudget budget({.all = 2 * kUnit, .of_one_key = 2 * kUnit});
  const std::string full = Body(2), written = Body(2);
  Lease reader(budget, "a"), writer(budget, "a");
  ASSERT_TRUE(reader.TryHold(full));
  writer.Hold(written);
  EXPECT_EQ(budget.bytes(), 4 * kUnit);
}

TEST(HttpAnswerBudget, SendsTheOnlyAnswerOfAKeyWhateverItsSize) {
  AnswerBudget budget({.all = 9 * kUnit, .of_one_key = 2 * kUnit});
  const std::string old_order = Body(5), small = Body(1);
  Lease first(budget, "a"), second(budget, "a");
  EXPECT_TRUE(first.TryHold(old_order));
  EXPECT_FALSE(second.TryHold(small));
}

TEST(HttpAnswerBudget, KeepsARefusedReservationAsItWas) {
  AnswerBudget budget({.all = 3 * kUnit, .of_one_key = 3 * kUnit});
  Lease making(budget, ""), other(budget, "b");
  EXPECT_TRUE(making.TryReserve(2 * kUnit));
  ASSERT_TRUE(other.TryReserve(kUnit));
  EXPECT_FALSE(making.TryReserve(3 * kUnit));
  EXPECT_EQ(budget.bytes(), 3 * kUnit);
}

TEST(HttpAnswerBudget, IsRightWithManyThreads) {
  AnswerBudget budget({.all = 20 * kUnit, .of_one_key = 20 * kUnit});
  const std::string shared = Body(2);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        const std::string own = Body(1);
        for (int i = 0; i < 500; ++i) {
          Lease lease(budget, t % 2 == 0 ? "a" : "b");
          EXPECT_TRUE(lease.TryHold(i % 2 == 0 ? shared : own));
        }
      });
    }
  }
  EXPECT_EQ(budget.bytes(), 0u);
}

}  // namespace
}  // namespace comanda::http
