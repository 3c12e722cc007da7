// Who watches the kitchen: presence, the alarm of a station that nobody watches, and what displays
// cost: statements of an answer that all of them share.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>

#include "kitchen/api.h"
#include "kitchen/watch.h"
#include "orders/api.h"
#include "support/api.h"
#include "support/engine_calls.h"

namespace comanda::kitchen {
namespace {

using http::Method;
using testing::Answer;
using testing::Api;
using testing::CallsOf;
using testing::kCompany;

constexpr std::string_view kGrill = "0190a5c8-0000-7000-8000-00000000000a";
constexpr std::string_view kBar = "0190a5c8-0000-7000-8000-00000000000b";

class KitchenWatch : public ::testing::Test {
 protected:
  KitchenWatch() {
    api_.key = api_.AddKey(auth::ScopeSet::All());
    api_.site.kitchen = &watch_;
    api_.database->Write([](db::Tx& tx, const db::Stamp& stamp) {
      tx.Run("INSERT INTO station (company_id, id, name) VALUES ($1, $2, 'Parrilla')", kCompany,
             kGrill);
      tx.Run("INSERT INTO station (company_id, id, name, prepares) VALUES ($1, $2, 'Barra', 0)",
             kCompany, kBar);
      tx.Run(
          "INSERT INTO category (company_id, id, name, slug, position)"
          " VALUES ($1, 'cat', 'Pescados', 'pescados', 0)",
          kCompany);
      tx.Run(
          "INSERT INTO product (company_id, id, category_id, name, slug, position, created_at,"
          " updated_at, kitchen_id) VALUES ($1, $2, 'cat', 'Ceviche', 'ceviche', 0, $3, $3, $2)",
          kCompany, kGrill, stamp.now);
      tx.Run(
          "INSERT INTO variant (company_id, id, product_id, name, price, position)"
          " VALUES ($1, $2, $2, 'Default', 3500, 0)",
          kCompany, kGrill);
    });
  }

  std::string Post(const std::string& path, std::string body) {
    const Answer answer = api_.Send(Method::kPost, path, std::move(body),
                                    {{"Idempotency-Key", std::to_string(++requests_)}});
    EXPECT_LT(answer.status(), 300) << answer.response.body;
    return answer.Text("id");
  }
  std::string Order() {
    const std::string id = Post("/v1/orders", R"({"service_type":"ONSITE"})");
    Add(id);
    return id;
  }
  void Add(const std::string& order) {
    Post("/v1/orders/" + order + "/combos", R"({"combos":[{"product_id":")" + std::string(kGrill) +
                                                R"(","quantity":2,"variant_price":35}]})");
  }
  // The answer of one poll of a display.
  std::string Poll(std::string_view display, std::string more = "") {
    std::string& cursor = cursors_[std::string(display)];
    const Answer answer =
        api_.Get("/v1/kitchen/changes?display=" + std::string(display) + "&" +
                 (cursor.empty() ? "" : "after=" + cursor + "&") + "per_page=100" + more);
    EXPECT_EQ(answer.status(), 200) << answer.response.Body();
    const json::Document document = json::Document::Parse(answer.response.Body());
    cursor = document.root().Find("next")->text();
    return answer.response.Body();
  }
  size_t Alarms() {
    watch_.Look(kCompany);
    return watch_.AlertsOf(kCompany)->alerts.size();
  }

  Api api_{{orders::Routes(), Routes()}};
  Heartbeats heartbeats_{api_.database.clock};
  Watch watch_{{.name = "test",
                .clock = api_.database.clock,
                .database = *api_.database,
                .wake_polls = [this] { ++wakes_; },
                .has_thread = false},
               heartbeats_,
               api_.database.registry};
  int wakes_ = 0;
  int requests_ = 0;
  std::map<std::string, std::string> cursors_;
};

TEST_F(KitchenWatch, ACommitCostsThreeStatementsHoweverManyDisplaysItWakes) {
  const std::string order = Order();
  for (const std::string_view display : {"a", "b", "c"}) Poll(display);
  Add(order);
  Poll("a");  // compiles the statements
  Poll("b");
  Poll("c");
  Add(order);
  const testing::EngineCalls first = CallsOf([&] { Poll("a"); });
  EXPECT_LE(first.statements.size(), 3u);
  EXPECT_TRUE(first.prepared.empty());
  const testing::EngineCalls others = CallsOf([&] {
    Poll("b", "&stations=" + std::string(kGrill));
    Poll("c", "&sound=muted");
  });
  EXPECT_LE(others.statements.size(), 1u) << "the stations, once for an edition of the menu";
}

TEST_F(KitchenWatch, APollWithoutNewsReadsNothing) {
  Order();
  Poll("a");
  EXPECT_TRUE(CallsOf([&] { Poll("a"); }).statements.empty());
}

TEST_F(KitchenWatch, AStationThatNobodyWatchesAnyMoreIsReported) {
  Order();
  EXPECT_EQ(Alarms(), 0u);
  api_.database.clock.Advance(10 * 60'000);
  EXPECT_EQ(Alarms(), 0u) << "no display was ever used";
  Poll("a");
  api_.database.clock.Advance(Presence::kPresentMs + 19'000);
  EXPECT_EQ(Alarms(), 0u);
  api_.database.clock.Advance(1'000);
  EXPECT_EQ(Alarms(), 1u);
  EXPECT_EQ(wakes_, 1);
  const Alert alert = watch_.AlertsOf(kCompany)->alerts.front();
  EXPECT_EQ(alert.name, "Parrilla") << "the bar prepares nothing";
  api_.database.clock.Advance(60'000);
  EXPECT_EQ(Alarms(), 1u);
  EXPECT_EQ(watch_.AlertsOf(kCompany)->alerts.front().since, alert.since);
  EXPECT_EQ(watch_.UnwatchedSince(kCompany, std::string(kGrill)), alert.since);
  Poll("a");
  EXPECT_EQ(Alarms(), 0u) << "it ends with the display's return";
  EXPECT_EQ(wakes_, 2);
}

TEST_F(KitchenWatch, ADisplayThatShowsAnotherStationWatchesThatOne) {
  Order();
  Poll("a", "&stations=" + std::string(kGrill));
  api_.database.clock.Advance(30'000);
  Poll("a", "&stations=" + std::string(kBar));
  EXPECT_EQ(watch_.presence().AbsentMs(kCompany, kBar), 0);
  EXPECT_GE(watch_.presence().AbsentMs(kCompany, kGrill), 20'000);
  EXPECT_EQ(Alarms(), 1u);
}

TEST_F(KitchenWatch, AStationWithoutDishesNeedsNobody) {
  Poll("a");
  api_.database.clock.Advance(60'000);
  EXPECT_EQ(Alarms(), 0u);
}

TEST_F(KitchenWatch, APollWithoutANameCountsForNobody) {
  Order();
  EXPECT_EQ(api_.Get("/v1/kitchen/changes").status(), 200);
  EXPECT_TRUE(watch_.presence().Displays(kCompany).empty());
  api_.database.clock.Advance(60'000);
  EXPECT_EQ(Alarms(), 0u);
}

TEST_F(KitchenWatch, AMutedDisplayIsReportedAfterAGraceAndWhileItIsPresent) {
  const auto stay_muted = [&](int seconds) {
    for (int i = 0; i < seconds; ++i) {
      Poll("a", "&sound=muted");
      api_.database.clock.Advance(1'000);
    }
  };
  stay_muted(19);
  EXPECT_EQ(Alarms(), 0u) << "somebody may still touch it";
  stay_muted(1);
  ASSERT_EQ(Alarms(), 1u);
  EXPECT_EQ(watch_.AlertsOf(kCompany)->alerts.front().kind, Alert::Kind::kDisplayMuted);
  Poll("a", "&sound=on");
  EXPECT_EQ(Alarms(), 0u);
  stay_muted(19);
  EXPECT_EQ(Alarms(), 0u) << "it begins anew";
  stay_muted(1);
  EXPECT_EQ(Alarms(), 1u);
  api_.database.clock.Advance(Presence::kPresentMs + 1);
  EXPECT_EQ(Alarms(), 0u);
}

TEST_F(KitchenWatch, WhenAStationWasWatchedIsWrittenOnceAnHour) {
  const auto written = [&] {
    return api_.database->Read([](db::Snapshot& snapshot) {
      return snapshot.GetInt("SELECT coalesce(max(watched_at), 0) FROM station");
    });
  };
  watch_.Look(kCompany);
  EXPECT_EQ(written(), 0) << "nothing is written where nobody watches";
  Poll("a");
  watch_.Look(kCompany);
  const int64_t first = written();
  EXPECT_GT(first, 0);
  for (int minute = 0; minute < 59; ++minute) {
    api_.database.clock.Advance(60'000);
    Poll("a");
    watch_.Look(kCompany);
    ASSERT_EQ(written(), first);
  }
  api_.database.clock.Advance(60'000);
  Poll("a");
  watch_.Look(kCompany);
  EXPECT_EQ(written(), first + 60 * 60'000);
}

TEST(KitchenPresence, KeepsABoundedNumberOfDisplays) {
  testing::FakeClock clock;
  Presence presence(clock);
  for (size_t i = 0; i < 2 * Presence::kDisplaysMax; ++i) {
    clock.Advance(1);
    const Presence::Poll poll(presence, kCompany, "key", std::to_string(i), {}, "k");
  }
  EXPECT_EQ(presence.Displays(kCompany).size(), Presence::kDisplaysMax);
}

}  // namespace
}  // namespace comanda::kitchen
