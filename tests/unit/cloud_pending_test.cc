#include "cloud/orders/pending.h"

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
constexpr SendRules kRules{.rider_provider = "riders"};

class CloudPending : public ::testing::Test {
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

  // Of the order as it stands now; nothing where this version was compared before.
  std::optional<Compared> Compare(const std::string& id) {
    return database->Read([&](db::Snapshot& snapshot) {
      return CompareOrder(snapshot, kCompany, id, kRules, Makes::kNext);
    });
  }
  void Store(const Compared& compared) {
    database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      StoreCompared(tx, kCompany, compared, kRules, Makes::kNext, stamp);
    });
  }
  bool CompareAndStore(const std::string& id) {
    const auto compared = Compare(id);
    if (compared) Store(*compared);
    return compared.has_value();
  }

  std::optional<Waiting> Next(Among among = Among::kAll) {
    return database->Write([&](db::Tx& tx, const db::Stamp& stamp) -> std::optional<Waiting> {
      const auto ids = store::NextOrders(tx, kCompany, among, stamp.now, 1);
      return ids.empty() ? std::nullopt : NextRequest(tx, kCompany, ids.front(), kRules, stamp);
    });
  }

  // The cloud accepts the request.
  void Take(const Waiting& waiting) {
    database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      store::DeleteStep(tx, kCompany, waiting);
      const auto order = *orders::Load(tx, kCompany, waiting.order_id);
      auto row = *store::FindOrder(tx, kCompany, waiting.order_id);
      Accept(row.mirror, waiting.step, order);
      CompareAgain(tx, order, row, kRules, Makes::kCreation, stamp);
    });
  }

  Counts Counted() {
    return database->Read([](db::Snapshot& snapshot) { return store::Count(snapshot, kCompany); });
  }
  bool Discarded(const std::string& id) {
    return database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      return Discard(tx, kCompany, id, "the test says so", kRules, stamp);
    });
  }

  RestaurantDatabase database;

 private:
  int64_t placed_ = 0;
};

TEST_F(CloudPending, ComparesEachVersionOnce) {
  const std::string id = PlaceOrder();
  EXPECT_TRUE(CompareAndStore(id));
  EXPECT_FALSE(CompareAndStore(id));
  Advance(id, Status::kReady);
  EXPECT_TRUE(CompareAndStore(id));
  EXPECT_EQ(Counted().steps_waiting, 2);
}

TEST_F(CloudPending, AComparisonThatIsLateIsMadeAgain) {
  const std::string id = PlaceOrder();
  const Compared of_placed = *Compare(id);
  Advance(id, Status::kReady);
  Store(of_placed);
  EXPECT_EQ(Counted().steps_waiting, 2) << "the order has changed since";
  Store(of_placed);
  EXPECT_EQ(Counted().steps_waiting, 2) << "it is compared already";

  Advance(id, Status::kFinalized);
  const Compared of_finalized = *Compare(id);
  Take(*Next());
  Store(of_finalized);
  EXPECT_EQ(Counted().steps_waiting, 2) << "a request was accepted since";
  Take(*Next());
  Take(*Next());
  EXPECT_FALSE(Next());
  EXPECT_EQ(Counted().steps_waiting, 0);
}

TEST_F(CloudPending, GivesTheRequestsOfAnOrderOneAfterTheOther) {
  const std::string id = PlaceOrder();
  Advance(id, Status::kReady);
  CompareAndStore(id);
  const std::optional<Waiting> first = Next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->step.kind, StepKind::kPlace);
  EXPECT_EQ(first->step.key, "till-1000000001");
  EXPECT_EQ(first->step.body, R"({"service_type":"ONSITE"})");
  EXPECT_EQ(Next()->step.position, first->step.position) << "until it is accepted";
  Take(*first);
  EXPECT_EQ(Next()->step.kind, StepKind::kStatus);
  Take(*Next());
  EXPECT_FALSE(Next());
  EXPECT_EQ(Counted().steps_waiting, 0);
}

TEST_F(CloudPending, OfSeveralMovesTheLastOneIsSent) {
  const std::string id = PlaceOrder();
  CompareAndStore(id);
  Take(*Next());
  for (const Status status : {Status::kPreparing, Status::kReady, Status::kDelivered}) {
    Advance(id, status);
    database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      if (const auto one = CompareOrder(tx, kCompany, id, kRules, Makes::kCreation)) {
        StoreCompared(tx, kCompany, *one, kRules, Makes::kCreation, stamp);
      }
    });
  }
  EXPECT_EQ(Next()->step.body, R"({"status":"DELIVERED"})");
  Take(*Next());
  EXPECT_FALSE(Next());
}

TEST_F(CloudPending, SurvivesARestartAsItWas) {
  const std::string id = PlaceOrder();
  Advance(id, Status::kPreparing);
  CompareAndStore(id);
  const Waiting before = *Next();
  database.Close();
  database.Open();
  const Waiting after = *Next();
  EXPECT_EQ(after.step.key, before.step.key);
  EXPECT_EQ(after.step.body, before.step.body);
  EXPECT_EQ(after.step.occurred_at, before.step.occurred_at);
  EXPECT_FALSE(CompareAndStore(id));
}

TEST_F(CloudPending, TakesThePresentBeforeThePast) {
  const std::string old = PlaceOrder();
  Advance(old, Status::kFinalized);
  CompareAndStore(old);
  database.clock.Advance(kHourMs);
  const std::string fresh = PlaceOrder();
  CompareAndStore(fresh);
  EXPECT_EQ(Next(Among::kOpen)->order_id, fresh);
  EXPECT_EQ(Next(Among::kRecent)->order_id, fresh);
  EXPECT_EQ(Next(Among::kAll)->order_id, old);
}

TEST_F(CloudPending, ParksOneOrderAndGoesOnWithTheOthers) {
  const std::string refused = PlaceOrder();
  CompareAndStore(refused);
  const std::string other = PlaceOrder();
  CompareAndStore(other);
  database->Write([&](db::Tx& tx, const db::Stamp&) {
    store::Park(tx, kCompany, refused, kParkedRefused, R"({"status":422})");
  });
  EXPECT_EQ(Next()->order_id, other);
  EXPECT_EQ(Counted().orders_parked, 1);
  Advance(refused, Status::kReady);
  EXPECT_TRUE(CompareAndStore(refused)) << "it is compared, and waits";
  EXPECT_EQ(Next()->order_id, other);
  const auto unpark = [&] {
    return database->Write(
        [&](db::Tx& tx, const db::Stamp&) { return store::Unpark(tx, kCompany, refused); });
  };
  EXPECT_TRUE(unpark());
  EXPECT_FALSE(unpark());
  Take(*Next());
  EXPECT_EQ(Counted().orders_parked, 0);
}

TEST_F(CloudPending, OfAParkedOrderNothingIsMadeAheadSoThatARetrySendsWhatDiffersThen) {
  const std::string id = PlaceOrder();
  CompareAndStore(id);
  Take(*Next());
  database->Write(
      [&](db::Tx& tx, const db::Stamp&) { store::Park(tx, kCompany, id, kParkedRefused, ""); });
  Advance(id, Status::kReady);
  CompareAndStore(id);
  Advance(id, Status::kDelivered);
  CompareAndStore(id);
  database->Write([&](db::Tx& tx, const db::Stamp&) { store::Unpark(tx, kCompany, id); });
  EXPECT_EQ(Next()->step.body, R"({"status":"DELIVERED"})");
}

TEST_F(CloudPending, WhatIsDiscardedIsNotSentAndWhatComesLaterIs) {
  const std::string id = PlaceOrder();
  CompareAndStore(id);
  Take(*Next());
  Advance(id, Status::kReady);
  CompareAndStore(id);
  EXPECT_FALSE(Discarded(id)) << "it is not parked";
  database->Write(
      [&](db::Tx& tx, const db::Stamp&) { store::Park(tx, kCompany, id, kParkedRefused, ""); });
  EXPECT_TRUE(Discarded(id));
  EXPECT_FALSE(Next());
  Advance(id, Status::kDelivered);
  CompareAndStore(id);
  EXPECT_EQ(Next()->step.body, R"({"status":"DELIVERED"})");
}

TEST_F(CloudPending, ALaterDateOfTheLinkEndsNoOrderThatWasBegun) {
  const std::string begun = PlaceOrder();
  CompareAndStore(begun);
  const std::string paired = PlaceOrder();
  database->Write([&](db::Tx& tx, const db::Stamp&) {
    store::PutOrder(tx, kCompany, {.order_id = paired, .waiting = 1});
  });
  const SendRules rules{.rider_provider = "riders", .since = database.clock.Now() + kHourMs};
  const auto next = [&](const std::string& id) {
    return database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      return NextRequest(tx, kCompany, id, rules, stamp);
    });
  };
  EXPECT_TRUE(next(begun));
  EXPECT_FALSE(next(paired)) << "it is from before, and nothing of it was sent";
  EXPECT_EQ(Counted().steps_waiting, 1) << "nobody asks for it again";
}

TEST_F(CloudPending, LeavesOrdersOfOtherChannelsAlone) {
  EXPECT_FALSE(CompareAndStore(PlaceOrder("KIOSK")));
  EXPECT_FALSE(CompareAndStore("0190a5c8-1111-7000-8000-00000000ffff"));
  EXPECT_FALSE(Next());
}

}  // namespace
}  // namespace comanda::cloud
