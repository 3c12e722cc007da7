#pragma once

// Two restaurants with the same order: the box's, and the one in the cloud, to which steps of the
// journal are applied as the cloud's endpoints would. And a till that does anything an order
// allows.

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <set>
#include <string>

#include "base/problem.h"
#include "cloud/orders/step.h"
#include "company/companies.h"
#include "orders/json.h"
#include "orders/lifecycle.h"
#include "orders/orders.h"
#include "support/restaurant_database.h"

namespace comanda::testing {

inline constexpr std::string_view kCash = "0190a5c8-0000-7000-8000-000000000001";
inline constexpr int kDecimals = 2;
inline constexpr json::UnknownFields kStrict = json::UnknownFields::kRefused;

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

  orders::Order Now() {
    return database->Read(
        [&](db::Snapshot& snapshot) { return *orders::Load(snapshot, kCompany, order_id); });
  }

  std::optional<std::string> FirstRecord() {
    return database->Read([&](db::Snapshot& snapshot) {
      return orders::FirstRecord(snapshot, *orders::Load(snapshot, kCompany, order_id));
    });
  }

  FakeClock& clock() { return database.clock; }

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
class CloudRestaurant : public Restaurant {
 public:
  // The cloud's id of a row, which a step that ends it names in its path.
  void SetTwin(const std::string& box_id, const std::string& cloud_id) {
    twins_[box_id] = cloud_id;
  }

  // A request that is refused is not remembered under its key.
  void Apply(const cloud::Step& step) {
    ASSERT_FALSE(keys_.contains(step.key)) << "a key is used twice: " << step.key;
    Do(step);
    keys_.insert(step.key);
  }

  using Restaurant::Do;

 private:
  void Do(const cloud::Step& step) {
    using cloud::StepKind;
    if (step.kind == StepKind::kPlace) return Place(step.body, step.key);
    const std::string body = step.body.empty() ? "{}" : step.body;
    const json::Document document = json::Document::Parse(body);
    const orders::Body read{document, kStrict};
    switch (step.kind) {
      case StepKind::kPlace:
      case StepKind::kMenu:
      case StepKind::kMenuClear:
      case StepKind::kRead:
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

  const std::string& Twin(const std::string& box_id) {
    return twins_.emplace(box_id, NewOrderId()).first->second;
  }

  std::map<std::string, std::string> twins_;  // id here -> id in the cloud
  std::set<std::string> keys_;
};

// What both sides have to show of an order, a line each. Ids, numbers and times are each side's
// own.
inline std::string Shown(const orders::Order& order) {
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
  for (const orders::Status status : orders::kLife)
    line(flag(ReachedAt(order, status).has_value()));
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
    const orders::Order order = box_.Now();
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
        return box_.Do(orders::Advance, static_cast<orders::Status>(Below(5)));
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
    if (Below(2) == 0) {  // equal to others
      draft.payment.amount = 500;
      return box_.DoWithKey(Key(), orders::Pay, draft);
    }
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
    report.status = static_cast<orders::DeliveryStatus>(Below(6));
    if (report.status == orders::DeliveryStatus::kNotDelivered && Below(2) == 0) {
      report.reason.emplace("nadie abre " + std::to_string(Below(3)));
    }
    box_.Do(orders::ReportDelivery, report);
  }

  Restaurant& box_;
  std::mt19937 dice_;
};

}  // namespace comanda::testing
