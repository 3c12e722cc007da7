#include "base/time/ends.h"

#include <gtest/gtest.h>

#include "base/problem.h"

namespace comanda {
namespace {

TEST(Ends, AreDueWhenTheFirstOfAnyKindIs) {
  const Ends ends({{"codes", [] { return std::optional<int64_t>(40); }, [] {}},
                   {"keys", [] { return std::nullopt; }, [] {}},
                   {"graces", [] { return std::optional<int64_t>(7); }, [] {}}});
  EXPECT_EQ(ends.DueInMs(), 7);
  EXPECT_EQ(Ends({{"keys", [] { return std::nullopt; }, [] {}}}).DueInMs(), std::nullopt);
}

TEST(Ends, OfOneKindThatCannotBeWrittenDoNotKeepTheOthers) {
  int written = 0;
  const auto none = [] { return std::nullopt; };
  Ends ends({{"codes", none, [] { throw Fault(Fault::Kind::kDamaged, "a malformed page"); }},
             {"graces", none, [&] { ++written; }}});
  ends.WriteDown();
  ends.WriteDown();
  EXPECT_EQ(written, 2);
}

}  // namespace
}  // namespace comanda
