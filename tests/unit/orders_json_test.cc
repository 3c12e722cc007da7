#include "orders/json.h"

#include <gtest/gtest.h>

#include <functional>

#include "orders/record.h"

namespace comanda::orders {
namespace {

constexpr UtcMs kNow = 1'800'000'000'000;
constexpr std::string_view kId = "0190a5c8-6f2e-7c3a-9d41-2b7f5e8a1c90";

template <typename Read>
auto From(std::string_view text, Read read) {
  const json::Document document = json::Document::Parse(text);
  return read(Body{document, json::UnknownFields::kRefused});
}

OrderDraft OrderFrom(std::string_view text) {
  return From(text, [](Body body) { return ReadOrder(body, 2, kNow); });
}
FieldsDraft FieldsFrom(std::string_view text) {
  return From(text, [](Body body) { return ReadFields(body, 2, kNow); });
}
std::vector<Combo> CombosFrom(std::string_view text) {
  return From(text, [](Body body) { return ReadCombos(body, 2); });
}
PaymentDraft PaymentFrom(std::string_view text) {
  return From(text, [](Body body) { return ReadPayment(body, 2); });
}
Discount DiscountFrom(std::string_view text) {
  return From(text, [](Body body) { return ReadDiscount(body, 2); });
}
RiderDraft RiderFrom(std::string_view text) {
  return From(text, [](Body body) { return ReadRider(body, "comanda"); });
}
DeliveryReport ReportFrom(std::string_view text) {
  return From(text, [](Body body) { return ReadDeliveryReport(body); });
}
Status StatusFrom(std::string_view text) {
  return From(text, [](Body body) { return ReadStatus(body); });
}

// "field code" of each error, in order.
std::vector<std::string> ErrorsOf(const std::function<void()>& read) {
  std::vector<std::string> errors;
  try {
    read();
  } catch (const Refusal& refusal) {
    for (const FieldError& error : refusal.errors) {
      errors.push_back(error.field + " " + std::string(Name(error.code)));
    }
  }
  return errors;
}

using Errors = std::vector<std::string>;

// Orders and fields

TEST(OrdersJson, ReadsADeliveryOrder) {
  const OrderDraft draft =
      OrderFrom(R"({"service_type":"DELIVERY","client_id":"0190A5C8-6F2E-7C3A-9D41-2B7F5E8A1C90",)"
                R"("delivery_price":7.5,"comment":"a\r\nb","order_title":"Mesa 4"})");
  EXPECT_EQ(draft.service_type, ServiceType::kDelivery);
  EXPECT_EQ(draft.client_id, kId);
  EXPECT_EQ(draft.fields.delivery_price, 750);
  EXPECT_EQ(draft.fields.comment, "a\nb");
  EXPECT_EQ(draft.fields.order_title, std::optional<std::string>("Mesa 4"));
  EXPECT_EQ(draft.fields.packaging_price, std::nullopt);
}

TEST(OrdersJson, NamesEveryWrongFieldOfAnOrderInDocumentOrder) {
  EXPECT_EQ(ErrorsOf([] {
              OrderFrom(R"({"delivery_price":"7","combos":[],"currency":"PEN","client_id":"x",)"
                        R"("colour":1})");
            }),
            (Errors{"service_type required", "delivery_price wrong_type", "combos not_allowed",
                    "currency read_only", "client_id invalid_format", "colour unknown_field"}));
}

TEST(OrdersJson, KeepsFieldsToTheirServiceType) {
  EXPECT_EQ(
      ErrorsOf([] {
        OrderFrom(R"({"service_type":"ONSITE","table_id":"0190a5c8-6f2e-7c3a-9d41-2b7f5e8a1c90",)"
                  R"("delivery_price":0,"address_id":null,"delivery_comment":"door"})");
      }),
      (Errors{"table_id not_allowed", "delivery_price not_allowed",
              "delivery_comment not_allowed"}));
}

TEST(OrdersJson, RefusesADateInThePast) {
  EXPECT_EQ(ErrorsOf([] {
              OrderFrom(R"({"service_type":"ONSITE",)"
                        R"("scheduled_delivery_date":"2020-01-01T10:00:00-05:00"})");
            }),
            (Errors{"scheduled_delivery_date out_of_range"}));
}

TEST(OrdersJson, ClearsByNullOnlyWhatMayBeCleared) {
  const FieldsDraft draft = FieldsFrom(R"({"order_title":null,"comment":null})");
  ASSERT_TRUE(draft.order_title.has_value());
  EXPECT_FALSE(draft.order_title->has_value());
  EXPECT_FALSE(draft.comment.has_value());
}

TEST(OrdersJson, NeedsAFieldInAPatch) {
  EXPECT_EQ(ErrorsOf([] { FieldsFrom("{}"); }), (Errors{"body empty"}));
  EXPECT_EQ(ErrorsOf([] { FieldsFrom(R"({"delivery_price":null})"); }), (Errors{"body empty"}));
  EXPECT_EQ(ErrorsOf([] { FieldsFrom(R"({"status":"READY"})"); }), (Errors{"status not_allowed"}));
}

// Combos

TEST(OrdersJson, TurnsUnitPricesIntoLineTotals) {
  const std::vector<Combo> combos =
      CombosFrom(R"({"combos":[{"product_name":"Ceviche","quantity":2.5,"variant_price":10.01,)"
                 R"("modifiers":[{"name":"Ají","quantity":3,"price":0.5,"original_price":1},)"
                 R"({"name":"Sin sal","price":0}]}]})");
  ASSERT_EQ(combos.size(), 1u);
  const Combo& combo = combos[0];
  EXPECT_EQ(combo.quantity, 2500);
  EXPECT_EQ(combo.variant_price, 2503);  // 25.025
  EXPECT_EQ(combo.variant_original_price, 2503);
  EXPECT_EQ(combo.modifiers[0].quantity, 7500);
  EXPECT_EQ(combo.modifiers[0].price, 375);
  EXPECT_EQ(combo.modifiers[0].original_price, 750);
  EXPECT_EQ(combo.modifiers[1].quantity, 2500);
  EXPECT_EQ(combo.modifiers_price, 375);
  EXPECT_EQ(combo.combo_price, 2878);
  EXPECT_EQ(combo.combo_original_price, 3253);
}

TEST(OrdersJson, NamesEveryWrongFieldOfItems) {
  EXPECT_EQ(
      ErrorsOf([] {
        CombosFrom(R"({"combos":[{"quantity":0,"variant_price":-1},)"
                   R"({"sku":"A1","quantity":1.0005,"variant_price":1.005,)"
                   R"("modifiers":[{"quantity":1000,"price":1}]}]})");
      }),
      (Errors{"combos[0].product_name required", "combos[0].quantity must_be_positive",
              "combos[0].variant_price must_not_be_negative",
              "combos[1].quantity too_many_decimals", "combos[1].variant_price too_many_decimals",
              "combos[1].modifiers[0].name required",
              "combos[1].modifiers[0].quantity out_of_range"}));
}

TEST(OrdersJson, RefusesALineThatIsTooDear) {
  EXPECT_EQ(ErrorsOf([] {
              CombosFrom(R"({"combos":[{"product_name":"Oro","quantity":2,)"
                         R"("variant_price":9999999999.99}]})");
            }),
            (Errors{"combos[0].variant_price out_of_range"}));
}

TEST(OrdersJson, TakesOneToTwoHundredItems) {
  EXPECT_EQ(ErrorsOf([] { CombosFrom(R"({"combos":[]})"); }), (Errors{"combos empty"}));
  std::string items;
  for (int i = 0; i < 201; ++i) {
    items += (i ? "," : "") + std::string(R"({"product_name":"x","quantity":1,"variant_price":1})");
  }
  EXPECT_EQ(ErrorsOf([&] { CombosFrom(R"({"combos":[)" + items + "]}"); }),
            (Errors{"combos too_many_items"}));
}

// Payments and discounts

TEST(OrdersJson, TakesBillAmountAsAnotherName) {
  const PaymentDraft draft = PaymentFrom(
      R"({"payment_method_code":"cash","bill_amount":10,"tip_amount":1,"received_amount":20})");
  EXPECT_EQ(draft.payment.amount, 1000);
  EXPECT_EQ(draft.payment.tip_amount, 100);
  EXPECT_EQ(draft.payment.received_amount, 2000);
  EXPECT_EQ(draft.method_code, "cash");
}

TEST(OrdersJson, ChecksTheAmountsOfAPayment) {
  EXPECT_EQ(ErrorsOf([] { PaymentFrom("{}"); }),
            (Errors{"payment_method_id required", "amount required"}));
  EXPECT_EQ(
      ErrorsOf([] { PaymentFrom(R"({"payment_method_code":"c","amount":1,"bill_amount":2})"); }),
      (Errors{"bill_amount not_allowed"}));
  EXPECT_EQ(ErrorsOf([] { PaymentFrom(R"({"payment_method_code":"c","amount":0})"); }),
            (Errors{"amount must_be_positive"}));
  EXPECT_EQ(ErrorsOf([] {
              PaymentFrom(R"({"payment_method_code":"c","amount":5,"tip_amount":1,)"
                          R"("received_amount":5.99})");
            }),
            (Errors{"received_amount out_of_range"}));
  EXPECT_EQ(ErrorsOf([] {
              PaymentFrom(R"({"payment_method_code":"c","amount":5,)"
                          R"("reference":"4111 1111 1111 1111"})");
            }),
            (Errors{"reference looks_like_card_number"}));
}

TEST(OrdersJson, BoundsAPercentageButNoAmount) {
  EXPECT_EQ(DiscountFrom(R"({"type":"PERCENTAGE","value":12.3456})").value, 123'456);
  EXPECT_EQ(DiscountFrom(R"({"type":"AMOUNT","value":150})").value, 15'000);
  EXPECT_EQ(ErrorsOf([] { DiscountFrom(R"({"type":"PERCENTAGE","value":100.0001})"); }),
            (Errors{"value out_of_range"}));
  EXPECT_EQ(ErrorsOf([] { DiscountFrom(R"({"type":"PERCENTAGE","value":0})"); }),
            (Errors{"value must_be_positive"}));
  EXPECT_EQ(ErrorsOf([] { DiscountFrom(R"({"type":"percentage","value":1})"); }),
            (Errors{"type unknown_value"}));
}

// Status and logistics

TEST(OrdersJson, SendsCancelledToItsOwnEndpoint) {
  try {
    StatusFrom(R"({"status":"CANCELLED"})");
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.problem, Problem::kUseCancelEndpoint);
  }
}

TEST(OrdersJson, HintsAtTheStatusesOfOtherPlatforms) {
  EXPECT_EQ(StatusFrom(R"({"status":"READY"})"), Status::kReady);
  try {
    StatusFrom(R"({"status":"ACCEPTED"})");
    FAIL();
  } catch (const Refusal& refusal) {
    ASSERT_EQ(refusal.errors.size(), 1u);
    EXPECT_EQ(refusal.errors[0].code, FieldCode::kUnknownValue);
    EXPECT_NE(refusal.errors[0].message.find("PREPARING"), std::string::npos);
    EXPECT_NE(refusal.errors[0].message.find("accepted by"), std::string::npos);
  }
}

TEST(OrdersJson, KeepsARidersIdAsItWasSent) {
  EXPECT_EQ(RiderFrom(R"({"user_id":90071992547409931234})").rider.user_id, "90071992547409931234");
  EXPECT_EQ(RiderFrom(R"({"user_id":"r-7"})").rider.user_id, "\"r-7\"");
  EXPECT_EQ(RiderFrom(R"({"name":"Ana"})").rider.user_id, std::nullopt);
  EXPECT_EQ(ErrorsOf([] { RiderFrom(R"({"user_id":1.5})"); }), (Errors{"user_id wrong_type"}));
  EXPECT_EQ(ErrorsOf([] { RiderFrom("{}"); }), (Errors{"user_id required"}));
  EXPECT_EQ(ErrorsOf([] { RiderFrom(R"({"provider":"comanda","name":"Ana"})"); }),
            (Errors{"user_id required"}));
  EXPECT_EQ(ErrorsOf([] { RiderFrom(R"({"provider":"uber","name":"Ana"})"); }),
            (Errors{"provider unknown_value"}));
}

TEST(OrdersJson, TakesAReasonForNotDeliveredAlone) {
  EXPECT_EQ(ReportFrom(R"({"delivery_status":"NOT_DELIVERED","reason":"nobody"})").reason,
            "nobody");
  EXPECT_EQ(ErrorsOf([] { ReportFrom(R"({"delivery_status":"DELIVERED","reason":"x"})"); }),
            (Errors{"reason not_allowed"}));
}

// The record

TEST(OrdersRecord, LeavesOutTheListsThatAreNotAsked) {
  const std::string record =
      R"({"id":"1","comment":",\"combos\":[","combos":[{"x":[1]}],"payments":[2],"discounts":[3]})";
  EXPECT_EQ(Cut(record, {}), record);
  EXPECT_EQ(Cut(record, {true, false, true}),
            R"({"id":"1","comment":",\"combos\":[","combos":[{"x":[1]}],"discounts":[3]})");
  EXPECT_EQ(Cut(record, {false, true, false}),
            R"({"id":"1","comment":",\"combos\":[","payments":[2]})");
  EXPECT_EQ(Cut(record, {false, false, false}), R"({"id":"1","comment":",\"combos\":["})");
}

TEST(OrdersRecord, IsNotCutWhereItIsNone) {
  EXPECT_THROW(Cut(R"({"id":"1","combos":[]})", {false, true, true}), Fault);
}

TEST(OrdersRecord, ShowsEveryFieldInItsPlace) {
  Order order;
  order.company_uuid = kId;
  order.id = kId;
  order.public_id = "PE-7222853393";
  order.order_number = 7;
  order.business_day = "2027-01-14";
  order.source = "API";
  order.country_code = "PE";
  order.timezone = "America/Lima";
  order.currency = "PEN";
  order.version = 3;
  order.status_history = {{Status::kPending, kNow, "local", false}};
  order.client = R"({"id":"c"})";
  order.rider = Rider{"api", "17", "Ana", std::nullopt, std::nullopt, kNow};
  order.created_at = kNow;
  order.updated_at = kNow;
  order.totals.total = 1250;
  order.totals.total_paid = 2000;

  EXPECT_EQ(
      Render(order),
      R"({"id":"0190a5c8-6f2e-7c3a-9d41-2b7f5e8a1c90","public_id":"PE-7222853393","order_number":7,)"
      R"("business_day":"2027-01-14","reference":null,"company_id":"0190a5c8-6f2e-7c3a-9d41-2b7f5e8a1c90","source":"API",)"
      R"("country_code":"PE","timezone":"America/Lima","currency":"PEN","version":3,)"
      R"("status":"PENDING","foreign_status":null,"service_type":"ONSITE",)"
      R"("status_history":[{"status":"PENDING",)"
      R"("at":"2027-01-15T08:00:00.000Z","by":"local","implied":false}],"delivery_status":null,)"
      R"("delivery_status_reason":null,"delivered_by":null,"rider":{"provider":"api","user_id":17,)"
      R"("name":"Ana","phone_number":null,"country_calling_code":null,)"
      R"("assigned_at":"2027-01-15T08:00:00.000Z"},"pending_at":"2027-01-15T08:00:00.000Z",)"
      R"("preparing_at":null,"ready_at":null,"delivered_at":null,"finalized_at":null,)"
      R"("canceled_at":null,"closed_at":null,"cancel_reason":null,"scheduled_delivery_date":null,)"
      R"("created_at":"2027-01-15T08:00:00.000Z","updated_at":"2027-01-15T08:00:00.000Z",)"
      R"("client_id":null,"client":{"id":"c"},"table_id":null,"table":null,"address_id":null,)"
      R"("address":null,"comment":null,"order_title":null,"delivery_comment":null,"subtotal":0,)"
      R"("total_discounts":0,"delivery_price":0,"packaging_price":0,"service_fee_price":0,)"
      R"("total_tips":0,"total":12.5,"total_paid":20,"pending_amount":0,"overpayment":7.5,)"
      R"("paid":false,"paid_at":null,"combos":[],"payments":[],"discounts":[]})");
}

TEST(OrdersRecord, ShowsAPaymentWithItsChange) {
  Order order;
  Payment payment;
  payment.id = "p";
  payment.method = {"m", "cash", "Efectivo"};
  payment.amount = 1000;
  payment.tip_amount = 100;
  payment.received_amount = 2000;
  payment.created_at = kNow;
  order.payments = {payment};
  EXPECT_NE(
      Render(order).find(
          R"("payments":[{"id":"p","payment_method":{"id":"m","code":"cash","description":"Efectivo"},)"
          R"("amount":10,"bill_amount":10,"tip_amount":1,"received_amount":20,"change_amount":9,)"
          R"("fee_amount":0,"reference":null,"comment":null,)"
          R"("created_at":"2027-01-15T08:00:00.000Z","canceled_at":null}])"),
      std::string::npos);
}

}  // namespace
}  // namespace comanda::orders
