#include "orders/orders.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "base/problem.h"
#include "company/companies.h"
#include "events/log.h"
#include "orders/check.h"
#include "orders/external_order.h"
#include "orders/list.h"
#include "orders/size.h"
#include "orders/store.h"
#include "support/list_rows.h"
#include "support/restaurant_database.h"

namespace comanda::orders {
namespace {

using testing::kCompany;
using testing::kOtherCompany;
using testing::RestaurantDatabase;

constexpr std::string_view kMethod = "0190a5c8-0000-7000-8000-000000000001";
constexpr std::string_view kTableOnly = "0190a5c8-0000-7000-8000-000000000002";
constexpr std::string_view kClient = "0190a5c8-0000-7000-8000-000000000003";
constexpr std::string_view kAddress = "0190a5c8-0000-7000-8000-000000000004";
constexpr std::string_view kRiderUser = "0190a5c8-0000-7000-8000-000000000005";
constexpr std::string_view kProduct = "0190a5c8-0000-7000-8000-000000000006";
constexpr std::string_view kVariant = "0190a5c8-0000-7000-8000-000000000007";
constexpr std::string_view kNobody = "0190a5c8-0000-7000-8000-0000000000ff";

// As in a file of an older program.
void ForgetChecksums(db::Tx& tx) {
  tx.Run("UPDATE orders SET checksum = NULL");
  tx.Run("UPDATE event SET checksum = NULL");
  tx.Run("UPDATE company_counter SET checksums_complete = 0, checksum = NULL");
}

// A restaurant with something of everything that an order refers to, and the commands as short
// words.
class OrdersTest : public ::testing::Test {
 protected:
  OrdersTest() {
    database->Write([](db::Tx& tx, const db::Stamp& stamp) {
      tx.Run(
          "INSERT INTO payment_method (company_id, id, code, description, service_types,"
          " created_seq) VALUES ($1, $2, 'cash', 'Efectivo', 15, 1), ($1, $3, 'room', 'Mesa', 2, "
          "2)",
          kCompany, kMethod, kTableOnly);
      tx.Run(
          "INSERT INTO client (company_id, id, name, name_folded, country_calling_code,"
          " phone_number, created_at, updated_at) VALUES ($1, $2, 'Ana', 'ana', '51', '987654321',"
          " $3, $3)",
          kCompany, kClient, stamp.now);
      tx.Run(
          "INSERT INTO address (company_id, id, client_id, address, latitude, longitude, position)"
          " VALUES ($1, $2, $3, 'Av. Larco 1', '-12.1', '-77.03', 0)",
          kCompany, kAddress, kClient);
      tx.Run(
          "INSERT INTO staff (company_id, id, name, name_folded, role, created_at, updated_at)"
          " VALUES ($1, $2, 'Luis', 'luis', 'rider', $3, $3)",
          kCompany, kRiderUser, stamp.now);
      tx.Run(
          "INSERT INTO category (company_id, id, name, slug, position)"
          " VALUES ($1, 'cat', 'Pescados', 'pescados', 0)",
          kCompany);
      tx.Run(
          "INSERT INTO product (company_id, id, category_id, name, slug, position, created_at,"
          " updated_at) VALUES ($1, $2, 'cat', 'Ceviche', 'ceviche', 0, $3, $3)",
          kCompany, kProduct, stamp.now);
      tx.Run(
          "INSERT INTO variant (company_id, id, product_id, name, sku, sku_folded, price, position)"
          " VALUES ($1, $2, $3, 'Default', 'CEV', 'cev', 3500, 0)",
          kCompany, kVariant, kProduct);
    });
  }

  template <typename Command, typename... Input>
  Record Do(Command command, const Input&... input) {
    return database->Write(
        [&](db::Tx& tx, const db::Stamp& stamp) { return command(tx, target, input..., stamp); });
  }

  Placed PlaceWith(OrderDraft draft, std::string reference, std::string fingerprint = "f") {
    const Placement placement{.id = NewOrderId(),
                              .public_numbers = {"1000000001", NextNumber()},
                              .reference = std::move(reference),
                              .fingerprint = std::move(fingerprint),
                              .actor = "key:till"};
    return database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      return Place(tx, company::Get(tx, kCompany), draft, placement, stamp);
    });
  }

  // Places an order and makes it the target of the commands that follow.
  Record PlaceOrder(ServiceType type = ServiceType::kOnsite) {
    OrderDraft draft;
    draft.service_type = type;
    Record record = PlaceWith(draft, "ref-" + std::to_string(++references_)).record;
    target = {kCompany, record.id, "key:till"};
    return record;
  }

  Combo Dish(Minor price) {
    Combo combo;
    combo.id = NewOrderId();
    combo.product_name = "Chicha";
    combo.quantity = kOneInThousandths;
    combo.variant_price = combo.variant_original_price = price;
    combo.combo_price = combo.combo_original_price = price;
    return combo;
  }

  Record AddDish(Minor price) { return Do(AddCombos, std::vector<Combo>{Dish(price)}); }

  PaymentDraft Cash(Minor amount) {
    PaymentDraft draft;
    draft.method_code = "cash";
    draft.payment.id = NewOrderId();
    draft.payment.amount = amount;
    return draft;
  }

  Discount Off(DiscountType type, int64_t value) {
    Discount discount;
    discount.id = NewOrderId();
    discount.type = type;
    discount.value = value;
    return discount;
  }

  Order Stored() {
    return database->Read(
        [&](db::Snapshot& snapshot) { return *Select(snapshot, kCompany, target.key); });
  }

  std::string Got() {
    return database->Read(
        [&](db::Snapshot& snapshot) { return Find(snapshot, kCompany, target.key)->json; });
  }

  // Type and changes of every event since the last call, oldest first.
  std::vector<std::string> NewEvents() {
    const auto events = database->Read([&](db::Snapshot& snapshot) {
      return events::ReadAfter(snapshot, kCompany, last_seq_, 100);
    });
    std::vector<std::string> texts;
    for (const auto& event : events) {
      texts.push_back(event.type + (event.changes.empty() ? "" : " " + event.changes));
      last_seq_ = event.seq;
      last_body_ = event.body;
    }
    return texts;
  }

  template <typename Command, typename... Input>
  std::string ProblemOf(Command command, const Input&... input) {
    try {
      Do(command, input...);
    } catch (const Refusal& refusal) {
      if (refusal.errors.empty()) return std::to_string(static_cast<int>(refusal.problem));
      return refusal.errors[0].field + " " + std::string(Name(refusal.errors[0].code));
    }
    return "none";
  }
  static std::string Code(Problem problem) { return std::to_string(static_cast<int>(problem)); }

  static std::string NewOrderId() {
    static int next = 0;
    std::string number = std::to_string(++next);
    return "0190a5c8-1111-7000-8000-" + std::string(12 - number.size(), '0') + number;
  }
  std::string NextNumber() { return std::to_string(2'000'000'000 + ++numbers_); }

  RestaurantDatabase database;
  Target target;
  std::string last_body_;

 private:
  int64_t last_seq_ = 0;
  int references_ = 0;
  int64_t numbers_ = 0;
};

using List = std::vector<std::string>;

// Placing

TEST_F(OrdersTest, PlacesAnOrderAndAnnouncesItOnce) {
  const Record record = PlaceOrder();

  EXPECT_EQ(record.version, 1);
  EXPECT_EQ(NewEvents(), (List{"ORDER_CREATED"}));
  EXPECT_EQ(last_body_, record.json);
  EXPECT_EQ(Got(), record.json);
  const Order order = Stored();
  EXPECT_EQ(order.order_number, 1);
  EXPECT_EQ(order.public_id, "PE-1000000001");
  EXPECT_EQ(order.status_history.size(), 1u);
}

TEST_F(OrdersTest, TriesAnotherPublicIdWhereOneIsTaken) {
  PlaceOrder();
  PlaceOrder();
  EXPECT_EQ(Stored().public_id, "PE-2000000002");
  EXPECT_EQ(Stored().order_number, 2);
}

TEST_F(OrdersTest, AnswersTheSameKeyWithTheFirstRecordWhileItIsKeptThenWithTheOrderAsItIsNow) {
  const Record placed = PlaceOrder();
  const Record advanced = Do(Advance, Status::kReady);
  NewEvents();

  const Placed again = PlaceWith({}, "ref-1");

  EXPECT_EQ(again.answer, Placed::Answer::kFirstAgain);
  EXPECT_EQ(again.record.json, placed.json);
  EXPECT_EQ(NewEvents(), (List{}));
  database->Write([](db::Tx& tx, const db::Stamp&) {
    tx.Run("UPDATE company_counter SET log_start = event_seq + 1, checksum = NULL");
  });
  const Placed later = PlaceWith({}, "ref-1");
  EXPECT_EQ(later.answer, Placed::Answer::kAsItIsNow);
  EXPECT_EQ(later.record.json, advanced.json);
  try {
    PlaceWith({}, "ref-1", "another");
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.problem, Problem::kIdempotencyKeyReused);
    EXPECT_NE(refusal.detail.find(placed.id), std::string::npos);
  }
}

TEST_F(OrdersTest, TakesSnapshotsOfPeopleAndPlace) {
  OrderDraft draft;
  draft.service_type = ServiceType::kDelivery;
  draft.client_id = kClient;
  draft.address_id = kAddress;
  draft.fields.delivery_price = 700;

  const std::string json = PlaceWith(draft, "d").record.json;

  EXPECT_NE(json.find(R"("client":{"id":"0190a5c8-0000-7000-8000-000000000003","name":"Ana",)"
                      R"("phone":"+51987654321","country_calling_code":"51",)"
                      R"("phone_number":"987654321","email":null})"),
            std::string::npos)
      << json;
  EXPECT_NE(json.find(R"("latitude":-12.1,"longitude":-77.03})"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("total":7,)"), std::string::npos) << json;
}

TEST_F(OrdersTest, RefusesEveryUnknownReferenceOfAnOrderAtOnce) {
  OrderDraft draft;
  draft.service_type = ServiceType::kDelivery;
  draft.client_id = draft.address_id = kNobody;
  try {
    PlaceWith(draft, "d");
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.errors.size(), 2u);
  }
  EXPECT_EQ(NewEvents(), (List{}));
}

// Orders of a delivery app

class AppOrdersTest : public OrdersTest {
 protected:
  ExternalOrder Burger() {
    ExternalOrder whole{
        .order = BlankOrder(OurCompany()), .actor = "app:rappi", .public_numbers = {NextNumber()}};
    whole.order.id = NewOrderId();
    whole.order.external_id = "R-1";
    whole.order.source = "RAPPI";
    whole.order.status = Status::kPreparing;
    whole.order.service_type = ServiceType::kDelivery;
    whole.order.delivery_price = 300;
    whole.order.service_fee_price = 50;
    whole.order.client = R"({"id":null,"name":"Ana"})";
    whole.order.order_title = "Ana";
    whole.order.combos = {Dish(2000), Dish(1000)};
    whole.order.combos[1].modifiers.push_back({.id = NewOrderId(), .name = "Ají"});
    Payment payment = Cash(3000).payment;
    payment.method = {std::string(kMethod), "rappi", "Rappi"};
    whole.order.payments = {payment};
    whole.order.discounts = {Off(DiscountType::kAmount, 350)};
    return whole;
  }

  Record PlaceBurger(ExternalOrder whole) {
    return database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      return Ingest(tx, company::Get(tx, kCompany), whole, stamp);
    });
  }

  company::Company OurCompany() {
    return database->Read([](db::Snapshot& snapshot) { return company::Get(snapshot, kCompany); });
  }
};

TEST_F(AppOrdersTest, AreStoredWithAllRowsAndAnnouncedOnce) {
  NewEvents();
  const Record placed = PlaceBurger(Burger());
  target.key = placed.id;

  const Order order = Stored();

  EXPECT_EQ(NewEvents(), (List{"ORDER_CREATED"}));
  EXPECT_EQ(order.totals.total, 3000);
  EXPECT_TRUE(order.totals.paid);
  EXPECT_EQ(order.status, Status::kPreparing);
  EXPECT_EQ(order.combos.size(), 2u);
  EXPECT_EQ(order.combos[1].modifiers.size(), 1u);
  EXPECT_EQ(order.payments.at(0).created_at, order.created_at);
  EXPECT_EQ(order.discounts.at(0).amount, 350);
  EXPECT_EQ(order.version, 1);
  EXPECT_EQ(Got(), placed.json);
  EXPECT_EQ(Render(order), placed.json);
}

TEST_F(AppOrdersTest, AreTakenOncePerSourceAndExternalId) {
  const Record first = PlaceBurger(Burger());
  NewEvents();

  const Record again = PlaceBurger(Burger());

  EXPECT_FALSE(again.event_seq);
  EXPECT_EQ(again.json, first.json);
  EXPECT_EQ(NewEvents(), (List{}));
  ExternalOrder other = Burger();
  other.order.external_id = "R-2";
  EXPECT_TRUE(PlaceBurger(other).event_seq);
}

TEST_F(AppOrdersTest, AreChangedByTheirOwnAppAlone) {
  target.company = kCompany;
  target.key = PlaceBurger(Burger()).id;
  const auto problem = [&](std::string actor) {
    target.actor = std::move(actor);
    try {
      AddDish(100);
    } catch (const Refusal& refusal) {
      return std::optional(refusal.problem);
    }
    return std::optional<Problem>();
  };
  EXPECT_EQ(problem("key:till"), Problem::kOrderNotEditable);
  EXPECT_EQ(problem("app:ifood"), Problem::kOrderNotEditable);
  EXPECT_EQ(problem("app:rappi"), std::nullopt);
  target.actor = "key:till";
  EXPECT_NO_THROW(Do(Advance, Status::kReady)) << "the status of every channel's orders moves";
}

TEST_F(AppOrdersTest, AreRefusedAboveTheCaps) {
  ExternalOrder whole = Burger();
  whole.order.combos.assign(kCombosMax + 1, Dish(1));
  EXPECT_THROW(PlaceBurger(whole), Refusal);
  EXPECT_EQ(NewEvents(), (List{}));
}

TEST_F(AppOrdersTest, AreRefusedWhereTheirRecordIsTooLarge) {
  ExternalOrder whole = Burger();
  whole.order.combos.front().product_name = std::string(kRecordBytesMax, 'x');
  try {
    PlaceBurger(whole);
    FAIL() << "the record has more than 512 KiB";
  } catch (const Refusal& refusal) {
    ASSERT_EQ(refusal.errors.size(), 1u);
    EXPECT_EQ(refusal.errors[0].field, "combos");
    EXPECT_EQ(refusal.errors[0].code, FieldCode::kTooManyItems);
  }
  EXPECT_EQ(NewEvents(), (List{}));
}

// Fields

TEST_F(OrdersTest, AppendsCommentsAndKeepsTheVersionWhereNothingChanges) {
  PlaceOrder();
  FieldsDraft fields;
  fields.comment = "sin sal";
  Do(EditFields, fields);
  fields.comment = "con ají";
  EXPECT_EQ(Do(EditFields, fields).version, 3);
  EXPECT_EQ(Stored().comment, "sin sal\ncon ají");
  EXPECT_EQ(NewEvents(), (List{"ORDER_CREATED", "ORDER_UPDATED fields", "ORDER_UPDATED fields"}));

  FieldsDraft title;
  title.order_title = Setting<std::string>(std::in_place, std::nullopt);
  EXPECT_EQ(Do(EditFields, title).version, 3);
  EXPECT_EQ(NewEvents(), (List{}));
}

TEST_F(OrdersTest, TakesOnlyACommentOnAClosedOrder) {
  PlaceOrder();
  Do(Advance, Status::kFinalized);
  FieldsDraft fields;
  fields.comment = "llamó";
  EXPECT_EQ(ProblemOf(EditFields, fields), "none");
  fields.packaging_price = 100;
  EXPECT_EQ(ProblemOf(EditFields, fields), Code(Problem::kOrderClosed));
}

TEST_F(OrdersTest, KeepsDeliveryFieldsToDeliveryOrders) {
  PlaceOrder();
  FieldsDraft fields;
  fields.delivery_price = 0;
  EXPECT_EQ(ProblemOf(EditFields, fields), "delivery_price not_allowed");
}

TEST_F(OrdersTest, RefusesAWholeCommentAboveTwoThousandCharacters) {
  PlaceOrder();
  FieldsDraft fields;
  fields.comment = std::string(500, 'a');
  for (int i = 0; i < 3; ++i) Do(EditFields, fields);
  EXPECT_EQ(ProblemOf(EditFields, fields), "comment too_long");
}

// Combos

TEST_F(OrdersTest, LinksAnItemToTheMenuByItsSku) {
  PlaceOrder();
  Combo combo = Dish(3000);
  combo.product_name.clear();
  combo.sku = "CEV";
  Do(AddCombos, std::vector<Combo>{combo});
  const Combo stored = Stored().combos.at(0);
  EXPECT_EQ(stored.product_id, kProduct);
  EXPECT_EQ(stored.variant_id, kVariant);
  EXPECT_EQ(stored.product_name, "Ceviche");
  EXPECT_EQ(stored.product_category_name, "Pescados");
  EXPECT_EQ(stored.combo_price, 3000);
}

TEST_F(OrdersTest, KeepsAnUnknownSkuOnAFreeFormLine) {
  PlaceOrder();
  Combo combo = Dish(3000);
  combo.sku = "NADA";
  Do(AddCombos, std::vector<Combo>{combo});
  EXPECT_EQ(Stored().combos.at(0).sku, "NADA");
  EXPECT_EQ(Stored().combos.at(0).product_id, std::nullopt);
  combo.product_name.clear();
  EXPECT_EQ(ProblemOf(AddCombos, std::vector<Combo>{combo}), "combos[0].product_name required");
}

TEST_F(OrdersTest, RefusesAllItemsWhereOneLinkFails) {
  PlaceOrder();
  Combo unknown = Dish(100);
  unknown.product_id = kNobody;
  Combo modified = Dish(100);
  modified.modifiers = {{.id = "m", .modifier_id = std::string(kNobody), .name = "x"}};
  EXPECT_EQ(ProblemOf(AddCombos, std::vector<Combo>{Dish(1), unknown}),
            "combos[1].product_id not_found");
  EXPECT_EQ(ProblemOf(AddCombos, std::vector<Combo>{modified}),
            "combos[0].modifiers[0].modifier_id not_allowed");
  EXPECT_TRUE(Stored().combos.empty());
}

TEST_F(OrdersTest, CancelsAnItemOnceAndKeepsTheRow) {
  PlaceOrder();
  Combo combo = Dish(500);
  combo.modifiers = {{.id = "m", .name = "ají", .quantity = 1000, .price = 50}};
  Do(AddCombos, std::vector<Combo>{combo});
  NewEvents();

  EXPECT_EQ(Do(CancelCombo, combo.id).version, 3);
  EXPECT_EQ(Do(CancelCombo, combo.id).version, 3);

  EXPECT_EQ(NewEvents(), (List{"ORDER_UPDATED combos"}));
  EXPECT_EQ(Stored().totals.subtotal, 0);
  EXPECT_EQ(Stored().combos.at(0).modifiers, combo.modifiers);
  EXPECT_EQ(ProblemOf(CancelCombo, kNobody), Code(Problem::kNotFound));
}

TEST_F(OrdersTest, HoldsAtMostFiveHundredItems) {
  PlaceOrder();
  std::vector<Combo> dishes;
  for (int i = 0; i < 200; ++i) dishes.push_back(Dish(1));
  Do(AddCombos, dishes);
  Do(AddCombos, dishes);
  EXPECT_EQ(ProblemOf(AddCombos, dishes), "combos too_many_items");
}

// Payments and discounts

TEST_F(OrdersTest, SaysPaidWhenItFlipsEitherWay) {
  PlaceOrder();
  AddDish(1000);
  const PaymentDraft cash = Cash(1000);
  NewEvents();

  Do(Pay, cash);
  EXPECT_EQ(NewEvents(), (List{"ORDER_UPDATED payments,paid"}));
  EXPECT_TRUE(Stored().totals.paid);

  AddDish(1);
  EXPECT_EQ(NewEvents(), (List{"ORDER_UPDATED combos,paid"}));

  Do(CancelPayment, cash.payment.id);
  Do(CancelPayment, cash.payment.id);
  EXPECT_EQ(NewEvents(), (List{"ORDER_UPDATED payments"}));
  EXPECT_TRUE(Stored().payments.at(0).canceled_at.has_value());
}

TEST_F(OrdersTest, TakesAPaymentOnAFinalizedOrderButNotOnACancelledOne) {
  PlaceOrder();
  Do(Advance, Status::kFinalized);
  EXPECT_EQ(ProblemOf(Pay, Cash(100)), "none");
  PlaceOrder();
  Do(Cancel, "no");
  EXPECT_EQ(ProblemOf(Pay, Cash(100)), Code(Problem::kOrderCancelled));
}

TEST_F(OrdersTest, ChecksThePaymentMethod) {
  PlaceOrder();
  PaymentDraft draft = Cash(100);
  draft.method_code = "gold";
  EXPECT_EQ(ProblemOf(Pay, draft), "payment_method_code not_found");
  draft.method_code = "room";
  EXPECT_EQ(ProblemOf(Pay, draft), "payment_method_code not_allowed");
  draft.method_id = kMethod;
  EXPECT_EQ(ProblemOf(Pay, draft), "payment_method_code not_allowed");
  draft.method_id = kNobody;
  EXPECT_EQ(ProblemOf(Pay, draft), "payment_method_id not_found");
}

TEST_F(OrdersTest, MovesTheEffectOfDiscountsWithTheItems) {
  PlaceOrder();
  AddDish(1000);
  const Discount tenth = Off(DiscountType::kPercentage, 100'000);
  Do(AddDiscount, tenth);
  NewEvents();

  AddDish(500);

  EXPECT_EQ(NewEvents(), (List{"ORDER_UPDATED combos,discounts"}));
  EXPECT_EQ(Stored().discounts.at(0).amount, 150);
  Do(AddDiscount, Off(DiscountType::kAmount, 100));
  Do(RemoveDiscount, tenth.id);
  EXPECT_EQ(Stored().totals.total, 1400);
  ASSERT_EQ(Stored().discounts.size(), 1u);
  EXPECT_EQ(ProblemOf(RemoveDiscount, tenth.id), Code(Problem::kNotFound));
}

TEST_F(OrdersTest, RefusesASumAboveTheBoundOfMoney) {
  PlaceOrder();
  AddDish(999'999'999'999);
  EXPECT_EQ(ProblemOf(AddCombos, std::vector<Combo>{Dish(1)}), "combos out_of_range");
}

// Status

TEST_F(OrdersTest, JumpsOverStepsInOneEvent) {
  PlaceOrder();
  NewEvents();
  Do(Advance, Status::kDelivered);
  EXPECT_EQ(NewEvents(), (List{"ORDER_UPDATED status"}));
  EXPECT_EQ(Stored().status_history.size(), 4u);
  EXPECT_EQ(Do(Advance, Status::kPreparing).version, 2);
  EXPECT_EQ(NewEvents(), (List{}));
}

TEST_F(OrdersTest, CancelsOnceAndKeepsTheFirstReason) {
  PlaceOrder();
  Do(Cancel, "first");
  EXPECT_EQ(Do(Cancel, "second").version, 2);
  EXPECT_EQ(NewEvents(), (List{"ORDER_CREATED", "ORDER_UPDATED status,cancelled"}));
  EXPECT_EQ(Stored().cancel_reason, "first");
  EXPECT_EQ(ProblemOf(Advance, Status::kReady), Code(Problem::kOrderCancelled));
}

TEST_F(OrdersTest, RefusesToCancelWhilePaymentsAreActive) {
  PlaceOrder();
  const PaymentDraft cash = Cash(100);
  Do(Pay, cash);
  EXPECT_EQ(ProblemOf(Cancel, "x"), Code(Problem::kOrderHasActivePayments));
  Do(CancelPayment, cash.payment.id);
  EXPECT_EQ(ProblemOf(Cancel, "x"), "none");
}

TEST_F(OrdersTest, EditsOnlyOrdersOfTheApiButAdvancesAll) {
  PlaceOrder();
  database->Write([&](db::Tx& tx, const db::Stamp&) {
    tx.Run("UPDATE orders SET source = 'RAPPI' WHERE company_id = $1 AND id = $2", kCompany,
           target.key);
    ForgetChecksums(tx);
  });
  EXPECT_EQ(ProblemOf(AddCombos, std::vector<Combo>{Dish(1)}), Code(Problem::kOrderNotEditable));
  EXPECT_EQ(ProblemOf(Cancel, "x"), Code(Problem::kOrderNotEditable));
  EXPECT_EQ(ProblemOf(Advance, Status::kReady), "none");
}

TEST_F(OrdersTest, ChecksWhatTheCallerHasSeenBeforeTheRulesOfState) {
  PlaceOrder();
  Do(Cancel, "x");
  target.require_version = [](int64_t version) {
    if (version != 1) throw Refusal(Problem::kPreconditionFailed, "changed");
  };
  EXPECT_EQ(ProblemOf(Advance, Status::kReady), Code(Problem::kPreconditionFailed));
}

// Logistics

TEST_F(OrdersTest, AssignsAndTakesBackARider) {
  PlaceOrder(ServiceType::kDelivery);
  RiderDraft ana;
  ana.rider.provider = "api";
  ana.rider.user_id = "17";
  NewEvents();

  Do(AssignRider, ana);
  Do(AssignRider, ana);
  EXPECT_EQ(NewEvents(), (List{"ORDER_UPDATED rider,delivery_status"}));
  EXPECT_EQ(Stored().delivery_status, DeliveryStatus::kRiderAssigned);

  Do(UnassignRider);
  Do(UnassignRider);
  EXPECT_EQ(NewEvents(), (List{"ORDER_UPDATED rider,delivery_status"}));
  EXPECT_EQ(Stored().delivery_status, std::nullopt);
}

TEST_F(OrdersTest, TakesAStaffRiderOnlyBehindPendingOnADelivery) {
  PlaceOrder();
  RiderDraft luis;
  luis.kind = RiderProvider::kPlatform;
  luis.rider.provider = "comanda";
  luis.user_uuid = kNobody;
  try {
    Do(AssignRider, luis);
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.errors.size(), 3u);  // user_id, service_type, status
  }
  PlaceOrder(ServiceType::kDelivery);
  luis.user_uuid = kRiderUser;
  EXPECT_EQ(ProblemOf(AssignRider, luis), "status not_allowed");
  Do(Advance, Status::kPreparing);
  Do(AssignRider, luis);
  EXPECT_EQ(Stored().rider->name, "Luis");
}

TEST_F(OrdersTest, LiftsTheOrderWithItsDelivery) {
  PlaceOrder(ServiceType::kDelivery);
  NewEvents();
  Do(ReportDelivery, DeliveryReport{DeliveryStatus::kOnTheWay, std::nullopt});
  EXPECT_EQ(NewEvents(), (List{"ORDER_UPDATED status,delivery_status"}));
  EXPECT_EQ(Stored().status, Status::kReady);
  EXPECT_TRUE(Stored().status_history.back().implied);

  Do(ReportDelivery, DeliveryReport{DeliveryStatus::kNotDelivered, "nobody"});
  EXPECT_EQ(Stored().delivery_status_reason, "nobody");
  EXPECT_EQ(ProblemOf(ReportDelivery, DeliveryReport{DeliveryStatus::kDelivered, std::nullopt}),
            "delivery_status illegal_move");
  Do(ReportDelivery, DeliveryReport{DeliveryStatus::kOnTheWay, std::nullopt});
  EXPECT_EQ(Stored().delivery_status_reason, std::nullopt);
  Do(ReportDelivery, DeliveryReport{DeliveryStatus::kDelivered, std::nullopt});
  EXPECT_EQ(Stored().status, Status::kDelivered);
  EXPECT_FALSE(Stored().status_history.back().implied);
  EXPECT_EQ(Stored().delivered_by, "API");
}

// Reading

TEST_F(OrdersTest, FindsAnOrderByItsPublicIdInAnyCase) {
  const Record record = PlaceOrder();
  database->Read([&](db::Snapshot& snapshot) {
    EXPECT_EQ(FindUuid(snapshot, kCompany, "pe-1000000001"), record.id);
    EXPECT_EQ(FindUuid(snapshot, kOtherCompany, "PE-1000000001"), std::nullopt);
    EXPECT_FALSE(Find(snapshot, kOtherCompany, record.id));
    EXPECT_EQ(FindUuid(snapshot, kCompany, "nonsense"), std::nullopt);
    return 0;
  });
}

TEST_F(OrdersTest, StoresWhatItRenders) {
  PlaceOrder(ServiceType::kDelivery);
  AddDish(1234);
  Do(AddDiscount, Off(DiscountType::kPercentage, 123'456));
  Do(Pay, Cash(500));
  Do(Advance, Status::kReady);
  const Order order = Stored();
  EXPECT_EQ(Render(order), Got());
}

TEST_F(OrdersTest, RendersARecordOfAnOlderVersionAnew) {
  const Record record = PlaceOrder();
  database->Write([&](db::Tx& tx, const db::Stamp&) {
    tx.Run("UPDATE orders SET render_version = 0 WHERE company_id = $1", kCompany);
    tx.Run("UPDATE event SET body = 'old' WHERE company_id = $1", kCompany);
    ForgetChecksums(tx);
  });
  EXPECT_EQ(Got(), record.json);
}

TEST_F(OrdersTest, KeepsWhatWasAskedBesideWhatWasComputed) {
  PlaceOrder();
  target.request_key = "till-1-0002";
  Combo combo = Dish(333);
  combo.quantity = 1500;
  combo.variant_unit_price = 222;
  combo.variant_original_unit_price = 230;
  combo.modifiers.push_back({.id = "m1",
                             .name = "Ají",
                             .quantity = 3000,
                             .price = 150,
                             .original_price = 150,
                             .unit_quantity = 2,
                             .unit_price = 50,
                             .original_unit_price = 55});
  Do(AddCombos, std::vector{combo});
  target.request_key.reset();
  Do(Pay, Cash(500));
  target.request_key = "till-1-0003";
  Do(Advance, Status::kReady);

  const Order order = Stored();

  EXPECT_EQ(order.combos[0].request_key, "till-1-0002");
  EXPECT_EQ(order.combos[0].variant_unit_price, 222);
  EXPECT_EQ(order.combos[0].variant_original_unit_price, 230);
  EXPECT_EQ(order.combos[0].modifiers, combo.modifiers);
  EXPECT_EQ(order.payments[0].request_key, std::nullopt);
  EXPECT_EQ(order.status_history[0].request_key, std::nullopt);
  EXPECT_EQ(order.status_history[1].request_key, "till-1-0003");
  EXPECT_EQ(order.status_history[2].request_key, "till-1-0003");
}

TEST_F(OrdersTest, TakesTheRoundedQuotientForUnitPricesOfOlderPrograms) {
  PlaceOrder();
  Combo combo = Dish(1000);
  combo.quantity = 3000;
  combo.modifiers.push_back({.id = "m1", .name = "Ají", .quantity = 6000, .price = 401});
  Do(AddCombos, std::vector{combo});
  database->Write([](db::Tx& tx, const db::Stamp&) {
    tx.Run("UPDATE combo SET variant_unit_price = NULL, variant_original_unit_price = NULL");
    tx.Run(
        "UPDATE combo_modifier SET unit_quantity = NULL, unit_price = NULL,"
        " original_unit_price = NULL");
    ForgetChecksums(tx);
  });

  const Order order = Stored();

  EXPECT_EQ(order.combos[0].variant_unit_price, 333);
  EXPECT_EQ(order.combos[0].modifiers[0].unit_quantity, 2);
  EXPECT_EQ(order.combos[0].modifiers[0].unit_price, 67) << "66.8, half away from zero";
}

TEST_F(OrdersTest, RendersARecordThatIsNotStored) {
  const Record record = PlaceOrder();
  database->Write([&](db::Tx& tx, const db::Stamp&) {
    Order order = Select(tx, kCompany, record.id).value();
    ForgetRecord(tx, order);
  });
  EXPECT_EQ(Got(), record.json);
}

TEST_F(OrdersTest, LeavesNoOldRecordBehindWhereTheLogHasMovedOn) {
  PlaceOrder();
  database->Write([](db::Tx& tx, const db::Stamp&) {
    tx.Run("UPDATE company_counter SET log_start = event_seq + 1, checksum = NULL");
  });
  const Record changed = AddDish(100);
  database->Read([&](db::Snapshot& snapshot) {
    EXPECT_EQ(snapshot.GetInt("SELECT count(*) FROM event"), 1);
    EXPECT_TRUE(HoldsRecord(snapshot, kCompany, changed.id, *changed.event_seq));
    return 0;
  });
  EXPECT_EQ(Got(), changed.json);
}

TEST_F(OrdersTest, LetsGoOfTheRecordOfAnOrderClosedLongAgoAlone) {
  const Record open = PlaceOrder();
  const Record closed = PlaceOrder();
  const Record finalized = Do(Advance, Status::kFinalized);
  const UtcMs now = database.clock.Now();
  database->Write([&](db::Tx& tx, const db::Stamp&) {
    EXPECT_FALSE(ReleaseRecord(tx, kCompany, open.id, now + 1));
    EXPECT_FALSE(ReleaseRecord(tx, kCompany, closed.id, now));
    EXPECT_TRUE(ReleaseRecord(tx, kCompany, closed.id, now + 1));
    EXPECT_FALSE(HoldsRecord(tx, kCompany, closed.id, *finalized.event_seq));
  });
  EXPECT_EQ(Got(), finalized.json);
}

TEST_F(OrdersTest, ChangesNothingThatIsDamaged) {
  PlaceOrder();
  AddDish(1234);
  const std::string before = Got();
  database->Write([](db::Tx& tx, const db::Stamp&) {
    tx.Run("UPDATE combo SET variant_unit_price = variant_unit_price + 1");
  });
  try {
    Do(Advance, Status::kReady);
    FAIL() << "it could make the damage worse";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.kind, Fault::Kind::kDamaged);
    EXPECT_NE(fault.cause.find(target.key), std::string::npos) << fault.cause;
  }
  EXPECT_EQ(Got(), before) << "the stored record is sound";
}

class OrdersListTest : public OrdersTest {
 protected:
  struct Listed : Page {
    List rows;
  };
  Listed PageOf(std::string_view query) {
    const http::Query parsed = http::Query::Parse(query);
    RequireListParameters(parsed);
    http::PageRows rows;
    Page page = database->Read([&](db::Snapshot& snapshot) {
      return FindPage(snapshot, kCompany, parsed, database.clock.Now(), rows);
    });
    const std::string body = rows.End(page.paging, page.total);
    return {std::move(page), testing::RowsIn(body)};
  }
};

TEST_F(OrdersListTest, ShowsTheNewestFirstAsTheRecordIs) {
  PlaceOrder();
  database.clock.Advance(1);
  const Record second = PlaceOrder();
  const Listed page = PageOf("per_page=1");
  EXPECT_EQ(page.rows, (List{second.json}));
  EXPECT_EQ(page.total, 2);
}

TEST_F(OrdersListTest, CountsWhatItFilters) {
  PlaceOrder();
  PlaceOrder(ServiceType::kDelivery);
  Do(Advance, Status::kReady);
  EXPECT_EQ(PageOf("filter[status]=ready,pending").total, 2);
  EXPECT_EQ(PageOf("filter[status]=READY").total, 1);
  EXPECT_EQ(PageOf("filter[service_type]=delivery").total, 1);
  EXPECT_EQ(PageOf("filter[paid]=true").total, 0);
  EXPECT_EQ(PageOf("filter[reference]=ref-1&filter[source]=api").total, 1);
  EXPECT_EQ(PageOf("filter[public_id]=pe-1000000001").rows.size(), 1u);
  EXPECT_EQ(PageOf("filter[start_date]=2027-01-15&filter[end_date]=2027-01-15").total, 2);
  EXPECT_EQ(PageOf("filter[end_date]=2027-01-14").total, 0);
  EXPECT_EQ(PageOf("filter[end_date]=2027-01-15T08:00:00Z").total, 0);
  EXPECT_EQ(PageOf("filter[end_date]=2027-01-15T08:00:00.001Z").total, 2);
  EXPECT_EQ(PageOf("filter[updated_since]=2027-01-15T08:00:00.001Z").total, 0);
  EXPECT_THROW(PageOf("status=READY"), Refusal);
  EXPECT_THROW(PageOf("filter[snapshot]=x"), Refusal);
}

TEST_F(OrdersListTest, WalksASnapshotWithoutRepeatsWhileOthersWrite) {
  for (int i = 0; i < 5; ++i) PlaceOrder();  // all in one millisecond
  const Listed first = PageOf("per_page=2");
  for (int i = 0; i < 3; ++i) PlaceOrder();

  std::set<std::string> seen(first.rows.begin(), first.rows.end());
  const std::string rest =
      "per_page=2&filter[snapshot]=" + std::to_string(first.snapshot) + "&page=";
  for (const char* number : {"2", "3"}) {
    const Listed page = PageOf(rest + number);
    EXPECT_EQ(page.total, 5);
    seen.insert(page.rows.begin(), page.rows.end());
  }
  EXPECT_EQ(seen.size(), 5u);
  EXPECT_TRUE(PageOf(rest + "4").rows.empty());
}

TEST_F(OrdersListTest, LeavesOutListsOnRequest) {
  PlaceOrder();
  EXPECT_EQ(PageOf("filter[include]=none").rows.at(0).find("\"combos\""), std::string::npos);
  const std::string row = PageOf("filter[include]=combos").rows.at(0);
  EXPECT_NE(row.find("\"combos\":[]"), std::string::npos);
  EXPECT_EQ(row.find("\"payments\""), std::string::npos);
}

TEST_F(OrdersListTest, PutsOrdersWithoutADateLastBothWays) {
  PlaceOrder();
  PlaceOrder();
  FieldsDraft fields;
  fields.scheduled_delivery_date = Setting<UtcMs>(std::in_place, database.clock.Now() + 1000);
  const Record dated = Do(EditFields, fields);
  EXPECT_EQ(PageOf("sort=scheduled_delivery_date").rows.at(0), dated.json);
  EXPECT_EQ(PageOf("sort=-scheduled_delivery_date").rows.at(0), dated.json);
}

}  // namespace
}  // namespace comanda::orders
