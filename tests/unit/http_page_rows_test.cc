#include "http/page_rows.h"

#include <gtest/gtest.h>

#include <string>

#include "base/problem.h"

namespace comanda::http {
namespace {

const std::string kRow = '"' + std::string(1'000'000, 'x') + '"';

TEST(HttpPageRows, JoinsRowsAndCountsExactly) {
  PageRows rows;
  rows.Add("{}");
  rows.Add("[]");
  EXPECT_EQ(
      rows.End({.page = 1, .per_page = 2}, 3),
      R"({"data":[{},[]],"pagination":{"current_page":1,"per_page":2,"total":3,"has_more":true}})");
}

TEST(HttpPageRows, AreWhereTheyBelongInWhateverOrderTheyCome) {
  PageRows rows;
  rows.Add("5555");
  rows.MoveLast(0);
  rows.Add("1");
  rows.MoveLast(0);
  rows.Add("333");
  rows.MoveLast(1);
  rows.Add("7");
  rows.MoveLast(3);
  rows.Add("22");
  rows.MoveLast(1);
  EXPECT_EQ(rows.End("]"), R"({"data":[1,22,333,5555,7])");
}

TEST(HttpPageRows, RefuseAPageOfMoreThan16MiBAndNameTheLargestThatFits) {
  PageRows rows;
  try {
    for (int i = 0; i < 20; ++i) rows.Add(kRow);
    FAIL() << "20 MB";
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.problem, Problem::kInvalidParameter);
    EXPECT_NE(refusal.detail.find("per_page=16 "), std::string::npos) << refusal.detail;
    ASSERT_EQ(refusal.errors.size(), 1u);
    EXPECT_EQ(refusal.errors[0].field, "per_page");
  }
  EXPECT_EQ(rows.count(), 17u) << "reading ends there";
}

TEST(HttpPageRows, TakeAPagesOnlyRowWhateverItsSize) {
  PageRows rows;
  rows.Add(std::string(17 * 1024 * 1024, 'x'));
  EXPECT_GT(rows.End({}, 1).size(), kAnswerBytesMax);
}

TEST(HttpPageRows, RefuseARowThatIsPutTogetherAndHasMoreAlone) {
  PageRows rows;
  std::string& text = rows.Begin();
  text += std::string(15 * 1024 * 1024, 'x');
  EXPECT_THROW(rows.Require(1024 * 1024), Refusal);
}

TEST(HttpPageRows, AreLargeOnlyInTheirTurn) {
  AnswerBudget budget;
  AnswerBudget::Lease lease(budget, "");
  PageRows out_of_turn(PageRows::kListHead, lease, false);
  out_of_turn.Add(kRow);
  EXPECT_THROW(out_of_turn.Add(kRow), LargePage);
  PageRows in_turn(PageRows::kListHead, lease, true);
  in_turn.Add(kRow);
  in_turn.Add(kRow);
  EXPECT_GE(budget.bytes(), 2'000'000u);
}

TEST(HttpPageRows, EndWhereTheBudgetEnds) {
  AnswerBudget budget({.all = 4 * 1024 * 1024});
  AnswerBudget::Lease held(budget, "a"), lease(budget, "");
  const std::string unread(3 * 1024 * 1024, 'x');
  ASSERT_TRUE(held.TryHold(unread));
  PageRows rows(PageRows::kListHead, lease, true);
  try {
    for (int i = 0; i < 3; ++i) rows.Add(kRow);
    FAIL() << "the budget has one MiB left";
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.problem, Problem::kServiceUnavailable);
    EXPECT_EQ(refusal.retry_after_s, 1);
  }
}

TEST(HttpPageRows, ReserveOnceWhatIsExpected) {
  AnswerBudget budget({.all = 700'000});
  AnswerBudget::Lease held(budget, "a"), lease(budget, "");
  const std::string unread(100'000, 'x');
  ASSERT_TRUE(held.TryHold(unread));
  PageRows rows(PageRows::kListHead, lease, false);
  const std::string row(10'000, 'x');
  for (int i = 0; i < 50; ++i) {
    rows.Expect(50);
    rows.Add(row);
  }
  EXPECT_EQ(rows.count(), 50u) << "by doubling, the page would reserve 640 kB";
}

TEST(HttpPageRows, TakeRowsThatAreLargerThanTheFirst) {
  AnswerBudget budget;
  AnswerBudget::Lease lease(budget, "");
  PageRows rows(PageRows::kListHead, lease, false);
  rows.Expect(3);
  for (const size_t bytes : {10, 200'000, 300'000, 100'000}) rows.Add(std::string(bytes, 'x'));
  EXPECT_EQ(rows.End("]").size(), PageRows::kListHead.size() + 600'010 + 3 + 1);
}

}  // namespace
}  // namespace comanda::http
