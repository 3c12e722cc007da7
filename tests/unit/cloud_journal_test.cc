#include "cloud/journal.h"
#include "cloud/order_plan.h"

#include <gtest/gtest.h>

#include "aliases/aliases.h"
#include "company/companies.h"
#include "orders/lifecycle.h"
#include "orders/orders.h"
#include "support/restaurant_database.h"

namespace comanda::cloud {
namespace {

using orders::Status;
using testing::kCompany;
using testing::RestaurantDatabase;

constexpr int64_t kHourMs = 3'600'000;

class CloudJournal : public ::testing::Test {
 protected:
  // Places an order and returns its id.
  std::string PlaceOrder(std::string_view source = orders::kApiSource) {
    const std::string number = std::to_string(1'000'000'000 + ++placed_);
    const std::string id = "0190a5c8-1111-7000-8000-00" + number;
    database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      const orders::Placement placement{.id = id,
                                        .public_numbers = {number},
                                        .source = std::string(source),
                                        .reference = "till-" + number,
                                        .fingerprint = "f",
                                        .actor = "key:till"};
      orders::Place(tx, company::Get(tx, kCompany), {}, placement, stamp);
    });
    return id;
  }

  void Advance(const std::string& id, Status status) {
    database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      orders::Advance(tx, {.company = kCompany, .key = id, .actor = "key:till"}, status, stamp);
    });
  }

  size_t PlanIt(const std::string& id) {
    return database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      return PlanOrder(tx, kCompany, id, {.rider_provider = "riders"}, stamp);
    });
  }

  // Of the order as it stands now.
  OrderPlan Planned(const std::string& id) {
    return *database->Read([&](db::Snapshot& snapshot) {
      return MakeOrderPlan(snapshot, kCompany, id, {.rider_provider = "riders"});
    });
  }

  void Store(const OrderPlan& plan) {
    database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      StoreOrderPlan(tx, kCompany, plan, {.rider_provider = "riders"}, stamp);
    });
  }

  std::optional<Waiting> Next(Among among = Among::kAll) {
    return database->Read([&](db::Snapshot& snapshot) {
      return NextStep(snapshot, kCompany, among, database.clock.Now());
    });
  }

  void Accept(const Waiting& waiting) {
    database->Write([&](db::Tx& tx, const db::Stamp&) { RemoveStep(tx, kCompany, waiting); });
  }

  Counts Counted() {
    return database->Read([](db::Snapshot& snapshot) { return Count(snapshot, kCompany); });
  }

  RestaurantDatabase database;

 private:
  int64_t placed_ = 0;
};

TEST_F(CloudJournal, PlansEachVersionOnce) {
  const std::string id = PlaceOrder();
  EXPECT_EQ(PlanIt(id), 1);
  EXPECT_EQ(PlanIt(id), 0);
  Advance(id, Status::kReady);
  EXPECT_EQ(PlanIt(id), 1);
  EXPECT_EQ(Counted().steps_waiting, 2);
}

TEST_F(CloudJournal, APlanThatIsLateIsMadeAgain) {
  const std::string id = PlaceOrder();
  const OrderPlan of_placed = Planned(id);
  Advance(id, Status::kReady);
  Store(of_placed);
  EXPECT_EQ(Counted().steps_waiting, 2) << "the order has changed since";
  Store(of_placed);
  EXPECT_EQ(Counted().steps_waiting, 2) << "it is planned already";

  Advance(id, Status::kFinalized);
  const OrderPlan of_finalized = Planned(id);
  Accept(*Next());
  Store(of_finalized);
  EXPECT_EQ(Counted().steps_waiting, 3) << "a step was accepted since";
  for (int i = 0; i < 3; ++i) Accept(*Next());
  EXPECT_FALSE(Next());
  EXPECT_EQ(Counted().steps_waiting, 0);
}

TEST_F(CloudJournal, GivesTheStepsOfAnOrderOneAfterTheOther) {
  const std::string id = PlaceOrder();
  Advance(id, Status::kReady);
  PlanIt(id);
  const std::optional<Waiting> first = Next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->step.kind, StepKind::kPlace);
  EXPECT_EQ(first->step.key, "till-1000000001");
  EXPECT_EQ(first->step.body, R"({"service_type":"ONSITE"})");
  EXPECT_EQ(Next()->step.position, first->step.position) << "until it is accepted";
  Accept(*first);
  EXPECT_EQ(Next()->step.kind, StepKind::kStatus);
  Accept(*Next());
  EXPECT_FALSE(Next());
  EXPECT_EQ(Counted().steps_waiting, 0);
}

TEST_F(CloudJournal, SurvivesARestartAsItWas) {
  const std::string id = PlaceOrder();
  Advance(id, Status::kPreparing);
  PlanIt(id);
  const Waiting before = *Next();
  database->Write(
      [&](db::Tx& tx, const db::Stamp& stamp) { NoteAttempt(tx, kCompany, before, stamp.now); });
  database.Close();
  database.Open();
  const Waiting after = *Next();
  EXPECT_EQ(after.step.key, before.step.key);
  EXPECT_EQ(after.step.body, before.step.body);
  EXPECT_EQ(after.step.occurred_at, before.step.occurred_at);
  EXPECT_EQ(after.attempts, 1);
  EXPECT_EQ(PlanIt(id), 0);
}

TEST_F(CloudJournal, TakesThePresentBeforeThePast) {
  const std::string old = PlaceOrder();
  Advance(old, Status::kFinalized);
  PlanIt(old);
  database.clock.Advance(kHourMs);
  const std::string fresh = PlaceOrder();
  PlanIt(fresh);
  EXPECT_EQ(Next(Among::kPresent)->order_id, fresh);
  EXPECT_EQ(Next(Among::kAll)->order_id, old);
}

TEST_F(CloudJournal, ParksOneOrderAndGoesOnWithTheOthers) {
  const std::string refused = PlaceOrder();
  PlanIt(refused);
  const std::string other = PlaceOrder();
  PlanIt(other);
  database->Write([&](db::Tx& tx, const db::Stamp&) {
    Park(tx, kCompany, refused, kParkedRefused, R"({"status":422})");
  });
  EXPECT_EQ(Next()->order_id, other);
  EXPECT_EQ(Counted().orders_parked, 1);
  Advance(refused, Status::kReady);
  EXPECT_EQ(PlanIt(refused), 1) << "it is planned, and waits";
  EXPECT_EQ(Next()->order_id, other);
  const auto unpark = [&] {
    return database->Write(
        [&](db::Tx& tx, const db::Stamp&) { return Unpark(tx, kCompany, refused); });
  };
  EXPECT_TRUE(unpark());
  EXPECT_FALSE(unpark());
  Accept(*Next());
  EXPECT_EQ(Counted().orders_parked, 0);
}

TEST_F(CloudJournal, LeavesOrdersOfOtherChannelsAlone) {
  EXPECT_EQ(PlanIt(PlaceOrder("KIOSK")), 0);
  EXPECT_EQ(PlanIt("0190a5c8-1111-7000-8000-00000000ffff"), 0);
  EXPECT_FALSE(Next());
}

}  // namespace
}  // namespace comanda::cloud
