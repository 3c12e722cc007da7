// What is sent, applied to a second database that is the cloud, makes the same order there.

#include "cloud/orders/next.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "base/id.h"
#include "base/problem.h"
#include "company/companies.h"
#include "orders/json.h"
#include "orders/lifecycle.h"
#include "orders/orders.h"
#include "orders/store.h"
#include "support/two_restaurants.h"

namespace comanda::cloud {
namespace {

using orders::DeliveryStatus;
using orders::Order;
using orders::ServiceType;
using orders::Status;
using testing::CloudRestaurant;
using testing::kCompany;
using testing::kDecimals;
using testing::kStrict;
using testing::Restaurant;
using testing::Shown;
using testing::Till;

// An order here, its mirror, and the cloud.
class Pair {
 public:
  Restaurant box;
  CloudRestaurant cloud;
  Mirror mirror;

  Next NextNow(bool has_first_record = true) {
    const Order order = box.Now();
    // As the journal keeps it.
    const Mirror stored = MirrorFromJson(ToJson(mirror));
    EXPECT_EQ(stored, mirror);
    return FindNext(stored, LocalOf(order, has_first_record));
  }

  // Sends until nothing differs, one request after the other.
  std::vector<Step> Send(bool has_first_record = true) {
    const Order order = box.Now();
    Mirror ahead = mirror;
    const std::vector<Step> expected = Remaining(ahead, LocalOf(order, has_first_record));
    std::vector<Step> steps;
    while (const auto step = NextNow(has_first_record).step) {
      EXPECT_EQ(step->position, ++position_);
      try {
        cloud.Apply(*step);
      } catch (const Refusal& refusal) {
        ADD_FAILURE() << "the cloud refuses " << Name(step->kind) << " " << step->body << ": "
                      << refusal.detail;
      }
      Accept(mirror, *step, order);
      steps.push_back(*step);
    }
    EXPECT_EQ(steps.size(), expected.size());
    EXPECT_EQ(mirror, ahead);
    return steps;
  }

 private:
  Local LocalOf(const Order& order, bool has_first_record) {
    return {.order = order,
            .first_record =
                [this, has_first_record] {
                  return has_first_record ? box.FirstRecord() : std::nullopt;
                },
            .cloud_id = [](aliases::Kind, std::string_view id) { return std::string(id); },
            .rider_provider = "cloud-riders",
            .epoch = 3};
  }

  int64_t position_ = 0;
};

TEST(CloudNext, MakesTheSameOrderInTheCloudWheneverItSends) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Pair pair;
    Till till(pair.box, seed);
    till.PlaceOrder();
    const bool is_offline = seed % 3 == 0;  // then all is sent at the end
    for (int i = 0; i < 40; ++i) {
      till.Act();
      if (is_offline || till.Below(4) != 0) continue;
      pair.Send();
      ASSERT_EQ(Shown(pair.box.Now()), Shown(pair.cloud.Now()));
    }
    pair.Send();
    ASSERT_EQ(Shown(pair.box.Now()), Shown(pair.cloud.Now()));
    EXPECT_TRUE(pair.Send().empty()) << "the same again";
  }
}

TEST(CloudNext, NeedsNoFirstRecord) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Pair pair;
    Till till(pair.box, seed);
    till.PlaceOrder();
    for (int i = 0; i < 30; ++i) till.Act();
    pair.Send(false);
    ASSERT_EQ(Shown(pair.box.Now()), Shown(pair.cloud.Now()));
  }
}

class CloudNextSteps : public ::testing::Test {
 protected:
  void PlaceOrder() { pair.box.Place(R"({"service_type":"DELIVERY"})", "till-7"); }

  void AddCombos(const orders::RequestKey& key, size_t count) {
    std::vector<orders::Combo> combos(count);
    for (orders::Combo& combo : combos) {
      combo.id = Restaurant::NewOrderId();
      combo.product_name = "Ceviche";
      combo.quantity = orders::kOneInThousandths;
      combo.variant_price = combo.variant_original_price = combo.combo_price =
          combo.combo_original_price = combo.variant_unit_price =
              combo.variant_original_unit_price = 3'500;
    }
    pair.box.DoWithKey(key, orders::AddCombos, combos);
  }

  std::vector<std::string> Kinds(const std::vector<Step>& steps) {
    std::vector<std::string> names;
    for (const Step& step : steps) names.emplace_back(Name(step.kind));
    return names;
  }

  Pair pair;
};

TEST_F(CloudNextSteps, HaveTheKeysOfTheTillWhereItMadeRows) {
  PlaceOrder();
  AddCombos("k1", 2);
  AddCombos("k2", 1);
  AddCombos("k1", 1);  // used for another POST long ago
  AddCombos(std::nullopt, 1);
  pair.box.Do(orders::Advance, Status::kPreparing);
  const std::vector<Step> steps = pair.Send();
  std::vector<std::string> keys;
  for (const Step& step : steps) keys.push_back(step.key);
  const std::string own = "c1-" + pair.box.order_id + "-3-";
  EXPECT_EQ(keys,
            std::vector<std::string>({"till-7", "k1", "k2", own + "4", own + "5", own + "6"}));
  EXPECT_EQ(steps[1].row_ids.size(), 2);
}

TEST_F(CloudNextSteps, AreInAnOrderThatTheCloudAccepts) {
  PlaceOrder();
  AddCombos("k1", 1);
  orders::RiderDraft rider;
  rider.rider.provider = "api";
  rider.rider.name = "Luis";
  pair.box.Do(orders::AssignRider, rider);
  pair.box.Do(orders::ReportDelivery,
              orders::DeliveryReport{.status = DeliveryStatus::kOnTheWay, .reason = {}});
  orders::DeliveryReport failed{.status = DeliveryStatus::kNotDelivered, .reason = {}};
  failed.reason.emplace("nadie abre");
  pair.box.Do(orders::ReportDelivery, failed);
  pair.box.Do(orders::Advance, Status::kFinalized);
  const std::vector<Step> steps = pair.Send();
  EXPECT_EQ(Kinds(steps), std::vector<std::string>({"place", "combos", "status", "rider",
                                                    "delivery", "delivery", "status"}));
  EXPECT_EQ(steps[2].body, R"({"status":"DELIVERED"})");
  EXPECT_EQ(steps[4].body, R"({"delivery_status":"DRIVER_ARRIVED_AT_STORE"})");
  EXPECT_EQ(steps[5].body, R"({"delivery_status":"NOT_DELIVERED","reason":"nadie abre"})");
  EXPECT_EQ(steps[6].body, R"({"status":"FINALIZED"})");
}

TEST_F(CloudNextSteps, AreDatedWhenTheChangeWasMade) {
  PlaceOrder();
  AddCombos("k1", 1);
  const Order order = pair.box.Now();
  pair.box.clock().Advance(3 * 3'600'000);
  pair.box.Do(orders::Advance, Status::kReady);
  const std::vector<Step> steps = pair.Send();
  EXPECT_EQ(steps[0].occurred_at, order.created_at);
  EXPECT_EQ(steps[1].occurred_at, order.combos[0].created_at);
  EXPECT_EQ(steps[2].occurred_at, *ReachedAt(pair.box.Now(), Status::kReady));
}

TEST_F(CloudNextSteps, LeaveOutWhatTheCloudDoesNotKnow) {
  PlaceOrder();
  Order order = pair.box.Now();
  order.client_id = "c-here";
  orders::Combo combo{.id = "row", .product_id = "p-here", .product_name = "Ceviche"};
  combo.variant_id = "v-here";
  combo.sku = "CEV";
  combo.quantity = orders::kOneInThousandths;
  combo.modifiers = {{.group_name = "Ajíes", .name = "Rocoto"}};
  order.combos = {combo};
  const auto knows_products = [](aliases::Kind kind,
                                 std::string_view) -> std::optional<std::string> {
    if (kind == aliases::Kind::kProduct) return "p-there";
    return std::nullopt;
  };
  const Local local{.order = order,
                    .first_record = [] { return std::nullopt; },
                    .cloud_id = knows_products,
                    .rider_provider = "cloud-riders"};
  Mirror mirror;
  const Next place = FindNext(mirror, local);
  EXPECT_EQ(place.step->body, R"({"service_type":"DELIVERY"})");
  EXPECT_EQ(place.left_out, std::vector<LeftOut>({{"client_id", "c-here"}}));
  Accept(mirror, *place.step, order);
  const Next combos = FindNext(mirror, local);
  EXPECT_EQ(
      combos.step->body,
      R"({"combos":[{"product_id":"p-there","sku":"CEV","product_name":"Ceviche",)"
      R"("quantity":1,"variant_price":0,"variant_original_price":0,"modifiers":[)"
      R"({"group_name":"Ajíes","name":"Rocoto","quantity":1,"price":0,"original_price":0}]}]})");
  EXPECT_EQ(combos.left_out, std::vector<LeftOut>({{"combos[0].variant_id", "v-here"}}));
}

TEST_F(CloudNextSteps, OfAnOrderOfTheCloudAreThoseThatBothMayTake) {
  PlaceOrder();
  AddCombos("k1", 1);
  pair.box.Do(orders::Advance, Status::kReady);
  Order order = pair.box.Now();
  order.origin = orders::Origin::kCloud;
  Mirror mirror;
  mirror.is_placed = true;
  const Local local{.order = order,
                    .first_record = [] { return std::nullopt; },
                    .cloud_id = [](aliases::Kind, std::string_view id) { return std::string(id); },
                    .rider_provider = "cloud-riders"};
  EXPECT_EQ(Kinds(Remaining(mirror, local)), std::vector<std::string>({"status"}));
}

TEST_F(CloudNextSteps, NeverOverwriteAnotherComment) {
  PlaceOrder();
  orders::FieldsDraft fields;
  fields.comment = "aquí";
  pair.box.Do(orders::EditFields, fields);
  pair.mirror.is_placed = true;
  pair.mirror.fields.comment = "allá";
  EXPECT_FALSE(pair.NextNow().step);
}

TEST_F(CloudNextSteps, ABurstThatUndoesItselfCostsNothing) {
  PlaceOrder();
  AddCombos("k1", 1);
  pair.Send();
  orders::RiderDraft rider;
  rider.rider.provider = "api";
  rider.rider.name = "Luis";
  pair.box.Do(orders::AssignRider, rider);
  pair.box.Do(orders::UnassignRider);
  orders::FieldsDraft fields;
  fields.order_title.emplace("Ana");
  pair.box.Do(orders::EditFields, fields);
  fields.order_title.emplace(std::nullopt);
  pair.box.Do(orders::EditFields, fields);
  EXPECT_TRUE(pair.Send().empty());
}

TEST_F(CloudNextSteps, WhatWasRefusedIsNotMadeAgainUntilItIsAnother) {
  PlaceOrder();
  pair.Send();
  orders::RiderDraft rider;
  rider.rider.provider = "api";
  rider.rider.name = "Luis";
  pair.box.Do(orders::AssignRider, rider);
  const auto refused = pair.NextNow().step;
  ASSERT_TRUE(refused && refused->kind == StepKind::kRider);
  GiveUp(pair.mirror, *refused);
  EXPECT_FALSE(pair.NextNow().step) << "RIDER_ASSIGNED comes with the rider alone";
  rider.rider.name = "Ana";
  pair.box.Do(orders::AssignRider, rider);
  EXPECT_EQ(Kinds(pair.Send()), std::vector<std::string>({"rider"}));
  EXPECT_TRUE(pair.mirror.given_up.empty());
}

TEST_F(CloudNextSteps, OfAnOrderThatIsCancelledThereIsACommentAlone) {
  PlaceOrder();
  pair.Send();
  AddCombos("k1", 1);
  orders::FieldsDraft fields;
  fields.comment = "para llevar";
  fields.order_title.emplace("Ana");
  pair.box.Do(orders::EditFields, fields);
  pair.mirror.status = Status::kCancelled;
  const auto step = pair.NextNow().step;
  ASSERT_TRUE(step);
  EXPECT_EQ(step->body, R"({"comment":"para llevar"})");
  Accept(pair.mirror, *step, pair.box.Now());
  EXPECT_FALSE(pair.NextNow().step);
}

TEST(CloudMirror, RefusesWhatItDidNotWrite) {
  const std::string json = ToJson(Mirror{});
  EXPECT_EQ(MirrorFromJson(json), Mirror{});
  for (const std::string& damaged :
       {std::string("[]"), std::string("{}"), std::string("{"),
        json.substr(0, json.find("PENDING")) + "PENDIMG" + json.substr(json.find("PENDING") + 7)}) {
    EXPECT_THROW(MirrorFromJson(damaged), Fault) << damaged;
  }
}

}  // namespace
}  // namespace comanda::cloud
