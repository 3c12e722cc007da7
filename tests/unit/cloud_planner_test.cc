// What the planner sends, applied to a second database that is the cloud, makes the same order
// there.

#include "cloud/planner.h"

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
#include "support/restaurant_database.h"

namespace comanda::cloud {
namespace {

using orders::DeliveryStatus;
using orders::Order;
using orders::ServiceType;
using orders::Status;
using testing::kCompany;
using testing::RestaurantDatabase;

constexpr std::string_view kCash = "0190a5c8-0000-7000-8000-000000000001";
constexpr int kDecimals = 2;
constexpr json::UnknownFields kStrict = json::UnknownFields::kRefused;

// A restaurant with an order of which the id is known.
class Restaurant {
 public:
  Restaurant() {
    database->Write([](db::Tx& tx, const db::Stamp&) {
      tx.Run(
          "INSERT INTO payment_method (company_id, id, code, description, service_types,"
          " created_seq) VALUES ($1, $2, 'cash', 'Efectivo', 15, 1)",
          kCompany, kCash);
    });
  }

  void Place(const std::string& body, const std::string& reference) {
    const json::Document document = json::Document::Parse(body);
    const orders::OrderDraft draft = orders::ReadOrder({document, kStrict}, kDecimals, 0);
    order_id = NewOrderId();
    database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      const orders::Placement placement{.id = order_id,
                                        .public_numbers = {NextNumber()},
                                        .reference = reference,
                                        .fingerprint = body,
                                        .actor = "key:till"};
      orders::Place(tx, company::Get(tx, kCompany), draft, placement, stamp);
    });
  }

  template <typename Command, typename... Input>
  void Do(Command command, const Input&... input) {
    DoWithKey(std::nullopt, command, input...);
  }

  template <typename Command, typename... Input>
  void DoWithKey(const orders::RequestKey& key, Command command, const Input&... input) {
    const orders::Target target{
        .company = kCompany, .key = order_id, .actor = "key:till", .request_key = key};
    database->Write(
        [&](db::Tx& tx, const db::Stamp& stamp) { command(tx, target, input..., stamp); });
    clock().Advance(1'000);
  }

  Order Now() {
    return database->Read(
        [&](db::Snapshot& snapshot) { return *orders::Load(snapshot, kCompany, order_id); });
  }

  std::optional<std::string> FirstRecord() {
    return database->Read([&](db::Snapshot& snapshot) {
      return orders::FirstRecord(snapshot, *orders::Load(snapshot, kCompany, order_id));
    });
  }

  testing::FakeClock& clock() { return database.clock; }

  static std::string NewOrderId() {
    static uint64_t count = 0;
    std::string digits = std::to_string(++count);
    return "0190a5c8-1111-7000-8000-" + std::string(12 - digits.size(), '0') + digits;
  }
  static std::string NextNumber() {
    static int64_t number = 1'000'000'000;
    return std::to_string(++number);
  }

  RestaurantDatabase database;
  std::string order_id;
};

// The cloud, to which steps are applied as its endpoints would.
class Cloud : public Restaurant {
 public:
  void Apply(const Step& step) {
    ASSERT_TRUE(keys_.insert(step.key).second) << "a key is used twice: " << step.key;
    if (step.kind == StepKind::kPlace) return Place(step.body, step.key);
    const std::string body = step.body.empty() ? "{}" : step.body;
    const json::Document document = json::Document::Parse(body);
    const orders::Body read{document, kStrict};
    switch (step.kind) {
      case StepKind::kPlace:
      case StepKind::kMenu:
        return;
      case StepKind::kFields:
        return Do(orders::EditFields, orders::ReadFields(read, kDecimals, 0));
      case StepKind::kCombos: {
        std::vector<orders::Combo> combos = orders::ReadCombos(read, kDecimals);
        ASSERT_EQ(combos.size(), step.row_ids.size());
        for (size_t i = 0; i < combos.size(); ++i) {
          combos[i].id = Twin(step.row_ids[i]);
          for (orders::Modifier& modifier : combos[i].modifiers) modifier.id = NewOrderId();
        }
        return DoWithKey(step.key, orders::AddCombos, combos);
      }
      case StepKind::kDiscount: {
        orders::Discount discount = orders::ReadDiscount(read, kDecimals);
        discount.id = Twin(step.row_ids.at(0));
        return Do(orders::AddDiscount, discount);
      }
      case StepKind::kPayment: {
        orders::PaymentDraft payment = orders::ReadPayment(read, kDecimals);
        payment.payment.id = Twin(step.row_ids.at(0));
        return Do(orders::Pay, payment);
      }
      case StepKind::kCancelCombo:
        return Do(orders::CancelCombo, twins_.at(step.row_ids.at(0)));
      case StepKind::kRemoveDiscount:
        return Do(orders::RemoveDiscount, twins_.at(step.row_ids.at(0)));
      case StepKind::kCancelPayment:
        return Do(orders::CancelPayment, twins_.at(step.row_ids.at(0)));
      case StepKind::kStatus:
        return Do(orders::Advance, orders::ReadStatus(read));
      case StepKind::kRider:
        return Do(orders::AssignRider, orders::ReadRider(read, "cloud-riders"));
      case StepKind::kNoRider:
        return Do(orders::UnassignRider);
      case StepKind::kDelivery:
        return Do(orders::ReportDelivery, orders::ReadDeliveryReport(read));
      case StepKind::kCancel:
        return Do(orders::Cancel, orders::ReadCancelReason(read));
    }
  }

 private:
  const std::string& Twin(const std::string& box_id) {
    return twins_.emplace(box_id, NewOrderId()).first->second;
  }

  std::map<std::string, std::string> twins_;  // id here -> id in the cloud
  std::set<std::string> keys_;
};

// What both sides have to show of an order, a line each. Ids, numbers and times are each side's
// own.
std::string Shown(const Order& order) {
  std::string text;
  const auto line = [&](auto... parts) {
    for (const std::string& part : {std::string(parts)...}) text += part + "|";
    text += "\n";
  };
  const auto number = [](int64_t n) { return std::to_string(n); };
  const auto flag = [](bool is_set) { return is_set ? "yes" : "no"; };
  line(Name(order.status), Name(order.service_type), order.comment.value_or("-"),
       order.order_title.value_or("-"), order.delivery_comment.value_or("-"),
       number(order.scheduled_delivery_date.value_or(0)), number(order.delivery_price),
       number(order.packaging_price), order.cancel_reason.value_or("-"));
  line(number(order.totals.subtotal), number(order.totals.total_discounts),
       number(order.totals.total_tips), number(order.totals.total), number(order.totals.total_paid),
       flag(order.totals.paid));
  for (const Status status : orders::kLife) line(flag(ReachedAt(order, status).has_value()));
  line(order.delivery_status ? Name(*order.delivery_status) : "-",
       order.delivery_status_reason.value_or("-"), order.rider ? *order.rider->name : "-");
  for (const orders::Combo& combo : order.combos) {
    line(combo.product_name, number(combo.quantity), number(combo.combo_price),
         number(combo.combo_original_price), number(combo.variant_price),
         combo.comment.value_or("-"), flag(combo.canceled_at.has_value()));
    for (const orders::Modifier& modifier : combo.modifiers) {
      line(modifier.name, number(modifier.quantity), number(modifier.price),
           number(modifier.original_price));
    }
  }
  for (const orders::Discount& discount : order.discounts) {
    line(Name(discount.type), number(discount.value), number(discount.amount),
         discount.reason.value_or("-"));
  }
  for (const orders::Payment& payment : order.payments) {
    line(payment.method.code, number(payment.amount), number(payment.tip_amount),
         number(payment.received_amount.value_or(-1)), flag(payment.canceled_at.has_value()));
  }
  return text;
}

// An order here, its image, and the cloud.
class Pair {
 public:
  Restaurant box;
  Cloud cloud;
  Image image;

  Plan MakePlanNow(bool has_first_record = true) {
    const Order order = box.Now();
    const std::optional<std::string> first = has_first_record ? box.FirstRecord() : std::nullopt;
    // As the journal keeps it.
    const Image stored = ImageFromJson(ToJson(image));
    EXPECT_EQ(stored, image);
    return MakePlan({.order = order,
                     .first_record = first ? &*first : nullptr,
                     .image = stored,
                     .cloud_id = [](aliases::Kind, std::string_view id) { return std::string(id); },
                     .rider_provider = "cloud-riders"});
  }

  std::vector<Step> Send(bool has_first_record = true) {
    const Plan plan = MakePlanNow(has_first_record);
    for (const Step& step : plan.steps) {
      EXPECT_EQ(step.position, ++position_);
      try {
        cloud.Apply(step);
      } catch (const Refusal& refusal) {
        ADD_FAILURE() << "the cloud refuses " << Name(step.kind) << " " << step.body << ": "
                      << refusal.detail;
      }
    }
    image = plan.image;
    return plan.steps;
  }

 private:
  int64_t position_ = 0;
};

// A till that does anything an order allows.
class Till {
 public:
  Till(Restaurant& box, uint32_t seed) : box_(box), dice_(seed) {}

  void PlaceOrder() {
    constexpr std::array kBodies = {
        R"({"service_type":"ONSITE"})", R"({"service_type":"TAKEAWAY","comment":"sin sal"})",
        R"({"service_type":"DELIVERY","delivery_price":7.5,"delivery_comment":"timbre 2"})",
        R"({"service_type":"DELIVERY","order_title":"Ana","packaging_price":1.25,)"
        R"("scheduled_delivery_date":"2030-01-02T03:04:05Z"})"};
    box_.Place(kBodies[Below(kBodies.size())], "till-" + std::to_string(dice_()));
  }

  // Does one thing; what the rules refuse is tried and not done.
  void Act() {
    try {
      DoSomething();
    } catch (const Refusal&) {  // the order is as it was
    }
  }

  size_t Below(size_t bound) { return dice_() % bound; }

 private:
  std::optional<std::string> Key() {
    if (Below(3) == 0) return std::nullopt;
    return "key-" + std::to_string(dice_());
  }

  template <typename Row>
  std::string IdOfOne(const std::vector<Row>& rows) {
    return rows.empty() ? Restaurant::NewOrderId() : rows[Below(rows.size())].id;
  }

  void DoSomething() {
    const Order order = box_.Now();
    switch (Below(14)) {
      case 0:
      case 1:
      case 2:
        return AddCombos();
      case 3:
        return box_.Do(orders::CancelCombo, IdOfOne(order.combos));
      case 4:
        return AddDiscount();
      case 5:
        return box_.Do(orders::RemoveDiscount, IdOfOne(order.discounts));
      case 6:
      case 7:
        return Pay();
      case 8:
        return box_.Do(orders::CancelPayment, IdOfOne(order.payments));
      case 9:
        return EditFields();
      case 10:
        return box_.Do(orders::Advance, static_cast<Status>(Below(5)));
      case 11:
        return AssignRider();
      case 12:
        return ReportDelivery();
      default:
        if (Below(6) == 0) box_.Do(orders::Cancel, std::string_view("se fue"));
        if (Below(3) == 0) box_.Do(orders::UnassignRider);
    }
  }

  void AddCombos() {
    std::string body = R"({"combos":[)";
    const size_t count = 1 + Below(3);
    for (size_t i = 0; i < count; ++i) {
      if (i > 0) body += ",";
      body += R"({"product_name":"Plato )" + std::to_string(Below(9)) + R"(","quantity":)" +
              std::to_string(Below(3)) + "." + std::to_string(1 + Below(999)) +
              R"(,"variant_price":)" + std::to_string(Below(100)) + ".3";
      if (Below(2) == 0) body += R"(,"variant_original_price":123.45,"comment":"bien cocido")";
      if (Below(2) == 0) {
        body += R"(,"modifiers":[{"name":"Extra","quantity":2,"price":1.15},)"
                R"({"name":"Sin","price":0,"original_price":0.7}])";
      }
      body += "}";
    }
    const json::Document document = json::Document::Parse(body + "]}");
    std::vector<orders::Combo> combos = orders::ReadCombos({document, kStrict}, kDecimals);
    for (orders::Combo& combo : combos) {
      combo.id = Restaurant::NewOrderId();
      for (orders::Modifier& modifier : combo.modifiers) modifier.id = Restaurant::NewOrderId();
    }
    box_.DoWithKey(Key(), orders::AddCombos, combos);
  }

  void AddDiscount() {
    orders::Discount discount;
    discount.id = Restaurant::NewOrderId();
    discount.type = static_cast<orders::DiscountType>(Below(2));
    discount.value = static_cast<int64_t>(1 + Below(500'000));
    if (Below(2) == 0) discount.reason = "cliente de la casa";
    box_.DoWithKey(Key(), orders::AddDiscount, discount);
  }

  void Pay() {
    orders::PaymentDraft draft;
    draft.method_code = "cash";
    draft.payment.id = Restaurant::NewOrderId();
    draft.payment.amount = static_cast<Minor>(1 + Below(9'000));
    if (Below(2) == 0) draft.payment.tip_amount = static_cast<Minor>(Below(300));
    if (Below(2) == 0) draft.payment.received_amount = 20'000;
    box_.DoWithKey(Key(), orders::Pay, draft);
  }

  void EditFields() {
    orders::FieldsDraft fields;
    if (Below(2) == 0) {
      fields.comment = "nota " + std::string(Below(400), 'x') + (Below(2) == 0 ? "\n\ny fin" : "");
    }
    if (Below(2) == 0) fields.order_title.emplace("Mesa " + std::to_string(Below(9)));
    if (Below(4) == 0) fields.order_title.emplace(std::nullopt);
    if (Below(2) == 0) fields.packaging_price = static_cast<Minor>(Below(500));
    if (Below(3) == 0) fields.scheduled_delivery_date.emplace(1'900'000'000'000);
    box_.Do(orders::EditFields, fields);
  }

  void AssignRider() {
    orders::RiderDraft draft;
    draft.rider.provider = "api";
    draft.rider.name = "Luis " + std::to_string(Below(3));
    draft.rider.phone_number = "987654321";
    box_.Do(orders::AssignRider, draft);
  }

  void ReportDelivery() {
    orders::DeliveryReport report;
    report.status = static_cast<DeliveryStatus>(Below(6));
    if (report.status == DeliveryStatus::kNotDelivered && Below(2) == 0) {
      report.reason.emplace("nadie abre " + std::to_string(Below(3)));
    }
    box_.Do(orders::ReportDelivery, report);
  }

  Restaurant& box_;
  std::mt19937 dice_;
};

TEST(CloudPlanner, MakesTheSameOrderInTheCloudWheneverItSends) {
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

TEST(CloudPlanner, NeedsNoFirstRecord) {
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

class CloudPlannerSteps : public ::testing::Test {
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

TEST_F(CloudPlannerSteps, HaveTheKeysOfTheTillWhereItMadeRows) {
  PlaceOrder();
  AddCombos("k1", 2);
  AddCombos("k2", 1);
  AddCombos("k1", 1);  // used for another POST long ago
  AddCombos(std::nullopt, 1);
  pair.box.Do(orders::Advance, Status::kPreparing);
  const std::vector<Step> steps = pair.Send();
  std::vector<std::string> keys;
  for (const Step& step : steps) keys.push_back(step.key);
  const std::string own = "c1-" + pair.box.order_id + "-";
  EXPECT_EQ(keys,
            std::vector<std::string>({"till-7", "k1", "k2", own + "4", own + "5", own + "6"}));
  EXPECT_EQ(steps[1].row_ids.size(), 2);
}

TEST_F(CloudPlannerSteps, AreInAnOrderThatTheCloudAccepts) {
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

TEST_F(CloudPlannerSteps, AreDatedWhenTheChangeWasMade) {
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

TEST_F(CloudPlannerSteps, LeaveOutWhatTheCloudDoesNotKnow) {
  PlaceOrder();
  Order order = pair.box.Now();
  order.client_id = "c-here";
  orders::Combo combo{.id = "row", .product_id = "p-here", .product_name = "Ceviche"};
  combo.variant_id = "v-here";
  combo.sku = "CEV";
  combo.quantity = orders::kOneInThousandths;
  order.combos = {combo};
  const auto knows_products = [](aliases::Kind kind,
                                 std::string_view) -> std::optional<std::string> {
    if (kind == aliases::Kind::kProduct) return "p-there";
    return std::nullopt;
  };
  const Plan plan = MakePlan(
      {.order = order, .image = {}, .cloud_id = knows_products, .rider_provider = "cloud-riders"});
  EXPECT_EQ(plan.steps.at(0).body, R"({"service_type":"DELIVERY"})");
  EXPECT_EQ(plan.steps.at(1).body,
            R"({"combos":[{"product_id":"p-there","sku":"CEV","product_name":"Ceviche",)"
            R"("quantity":1,"variant_price":0,"variant_original_price":0}]})");
  EXPECT_EQ(plan.left_out,
            std::vector<LeftOut>({{"client_id", "c-here"}, {"combos[0].variant_id", "v-here"}}));
}

TEST_F(CloudPlannerSteps, OfAnOrderOfTheCloudAreThoseThatBothMayTake) {
  PlaceOrder();
  AddCombos("k1", 1);
  pair.box.Do(orders::Advance, Status::kReady);
  Order order = pair.box.Now();
  order.origin = orders::Origin::kCloud;
  Image image;
  image.is_placed = true;
  const Plan plan =
      MakePlan({.order = order,
                .image = image,
                .cloud_id = [](aliases::Kind, std::string_view id) { return std::string(id); },
                .rider_provider = "cloud-riders"});
  EXPECT_EQ(Kinds(plan.steps), std::vector<std::string>({"status"}));
}

TEST_F(CloudPlannerSteps, NeverOverwriteAnotherComment) {
  PlaceOrder();
  orders::FieldsDraft fields;
  fields.comment = "aquí";
  pair.box.Do(orders::EditFields, fields);
  pair.image.is_placed = true;
  pair.image.fields.comment = "allá";
  EXPECT_TRUE(pair.MakePlanNow().steps.empty());
}

TEST(CloudImage, RefusesWhatItDidNotWrite) {
  const std::string json = ToJson(Image{});
  EXPECT_EQ(ImageFromJson(json), Image{});
  for (const std::string& damaged :
       {std::string("[]"), std::string("{}"), std::string("{"),
        json.substr(0, json.find("PENDING")) + "PENDIMG" + json.substr(json.find("PENDING") + 7)}) {
    EXPECT_THROW(ImageFromJson(damaged), Fault) << damaged;
  }
}

}  // namespace
}  // namespace comanda::cloud
