#include "menu/sold_out.h"

#include <gtest/gtest.h>

#include <string>

#include "base/time/settled_clock.h"
#include "company/companies.h"
#include "events/api.h"
#include "menu/api.h"
#include "menu/catalogue.h"
#include "support/api.h"

namespace comanda::menu {
namespace {

using http::Method;
using testing::Answer;
using testing::Api;
using testing::kCompany;

constexpr int64_t kMinute = 60'000;
constexpr int64_t kHour = 60 * kMinute;

class SoldOutTest : public ::testing::Test {
 protected:
  SoldOutTest() {
    api_.key = "local";
    const Answer made = api_.Send(Method::kPost, "/v1/menu/products",
                                  R"({"name":"Causa","category_name":"Causas","price":20})");
    EXPECT_EQ(made.status(), 201) << made.response.body;
    id_ = made.Text("id");
    clock_.Look();
  }

  void SayUntil(UtcMs until) {
    const Answer said = api_.Send(Method::kPut, "/v1/menu/products/" + id_ + "/sold-out",
                                  R"({"until":")" + FormatInstant(until) + R"("})");
    EXPECT_EQ(said.status(), 200) << said.response.body;
  }
  // As the thread of the ends does.
  bool IsSoldOut() {
    clock_.Look();
    ends_.WriteDown();
    return api_.database->Read([&](db::Snapshot& snapshot) {
      return GetProduct(snapshot, kCompany, id_).sold_out.has_value();
    });
  }
  int64_t Version() {
    return api_.database->Read(
        [&](db::Snapshot& snapshot) { return GetProduct(snapshot, kCompany, id_).version; });
  }
  UtcMs Now() { return machine().Now(); }
  testing::FakeClock& machine() { return api_.database.clock; }

  Api api_{{Routes()}};
  bool synchronised_ = false;
  SettledClock clock_{api_.database.clock, [this] { return synchronised_; }};
  SoldOutEnds ends_{*api_.database, clock_};
  std::string id_;
};

TEST_F(SoldOutTest, EndsAtItsTimeAndOnce) {
  SayUntil(Now() + kHour);
  const int64_t version = Version();
  EXPECT_EQ(ends_.DueInMs(), kHour);
  machine().Advance(kHour - 1);
  EXPECT_TRUE(IsSoldOut());
  machine().Advance(1);
  EXPECT_FALSE(IsSoldOut());
  EXPECT_EQ(Version(), version + 1);
  EXPECT_FALSE(IsSoldOut());
  EXPECT_EQ(Version(), version + 1);
  EXPECT_EQ(ends_.DueInMs(), std::nullopt);
}

TEST_F(SoldOutTest, DoesNotComeBackWithTheClock) {
  SayUntil(Now() + kHour);
  machine().Advance(2 * kHour);
  EXPECT_FALSE(IsSoldOut());
  const int64_t version = Version();
  machine().SetWall(Now() - 3 * kHour);
  EXPECT_FALSE(IsSoldOut());
  machine().Advance(5 * kHour);
  EXPECT_FALSE(IsSoldOut());
  EXPECT_EQ(Version(), version);
}

TEST_F(SoldOutTest, IsNotEndedByAStepOfTheClockThatIsNotBelieved) {
  SayUntil(Now() + 10 * kHour);
  machine().SetWall(Now() + 240 * kHour);
  EXPECT_TRUE(IsSoldOut());
  machine().SetWall(Now() - 240 * kHour);
  machine().Advance(9 * kHour);
  EXPECT_TRUE(IsSoldOut());
  machine().Advance(2 * kHour);
  EXPECT_FALSE(IsSoldOut());
}

TEST_F(SoldOutTest, EndsByAStepThatTheTimeServerHasMade) {
  SayUntil(Now() + 10 * kHour);
  synchronised_ = true;
  machine().SetWall(Now() + 11 * kHour);
  EXPECT_FALSE(IsSoldOut());
}

}  // namespace
}  // namespace comanda::menu
