// What an app says of its orders, and what becomes of it here: the same demands on every source.

#include <gtest/gtest.h>

#include <map>

#include "base/concat.h"
#include "base/problem.h"
#include "delivery/orders/order_reading.h"
#include "delivery/orders/order_source.h"
#include "delivery/orders/whole_order.h"
#include "orders/pricing.h"

namespace comanda::delivery {
namespace {

using Codes = std::map<std::string, News>;

struct Example {
  Dialect dialect;
  std::string name;
  Variables account;
  std::string order;  // as the app shows it
  std::string event;  // with CODE for its kind
  Codes codes;        // every one that the app's documents name
  size_t at_once;     // the most events of one acknowledgement; 0: there is none
};

constexpr std::string_view kIfoodOrder = R"({
  "id": "o-1", "displayId": "4711", "orderType": "DELIVERY", "orderTiming": "IMMEDIATE", "isTest": true,
  "customer": {"name": "Ana", "phone": {"number": "0800", "localizer": "99"}},
  "items": [{"name": "Pizza", "externalCode": "PZ", "quantity": 2, "unitPrice": 20, "totalPrice": 47,
             "options": [{"name": "Borda", "externalCode": "B", "quantity": 1, "price": 3.5}]}],
  "benefits": [{"value": 5, "sponsorshipValues": [{"name": "IFOOD", "value": 3}, {"name": "MERCHANT", "value": 2}]}],
  "total": {"deliveryFee": 9, "additionalFees": 1, "benefits": 5, "orderAmount": 52},
  "payments": {"prepaid": 12, "pending": 40, "methods": [{"value": 52, "currency": "BRL"}]},
  "delivery": {"deliveredBy": "MERCHANT", "deliveryAddress": {"streetName": "Rua A", "streetNumber": "1"}}})";

constexpr std::string_view kOpenDeliveryOrder = R"({
  "id": "o-1", "type": "TAKEOUT", "displayId": "4711", "orderTiming": "INSTANT",
  "items": [{"name": "Pizza", "externalCode": "PZ", "quantity": 2, "unitPrice": {"value": 20, "currency": "BRL"},
             "totalPrice": {"value": 47, "currency": "BRL"},
             "options": [{"name": "Borda", "externalCode": "B", "quantity": 1,
                          "totalPrice": {"value": 3.5, "currency": "BRL"}}]}],
  "otherFees": [{"type": "SERVICE_FEE", "price": {"value": 10, "currency": "BRL"}}],
  "discounts": [{"amount": {"value": 5, "currency": "BRL"}, "sponsorshipValues": []}],
  "total": {"orderAmount": {"value": 52, "currency": "BRL"}},
  "payments": {"prepaid": 12, "pending": 40, "methods": [{"value": 52, "currency": "BRL"}]}})";

constexpr std::string_view kRappiOrder = R"({
  "order_detail": {"order_id": "o-1", "delivery_method": "marketplace",
    "totals": {"total_order": 52, "total_to_pay": 40, "charges": {"shipping": 9}, "other_totals": {"tip": 1}},
    "items": [{"sku": "PZ", "name": "Pizza", "price": 20, "quantity": 2,
               "subitems": [{"sku": "B", "name": "Borde", "price": 3.5, "quantity": 1}]}],
    "discounts": [{"title": "2x1", "value": 9, "amount_by_partner": 5, "amount_by_rappi": 4}]},
  "store": {"internal_id": "900"}})";

void PrintTo(const Example& example, std::ostream* out) { *out << example.name; }

std::vector<Example> Examples() {
  std::vector<Example> examples;
  examples.push_back(
      {Dialect::kIfood,
       "ifood",
       {{"merchant_id", "m-1"}},
       std::string(kIfoodOrder),
       R"({"id":"e-N","code":"CODE","orderId":"o-1","createdAt":"2026-11-25T12:00:00Z"})",
       {{"PLC", News::kPlaced},
        {"CFM", News::kConfirmed},
        {"PRS", News::kInPreparation},
        {"SPS", News::kInPreparation},
        {"SPE", News::kInPreparation},
        {"RTP", News::kReady},
        {"DSP", News::kOnTheWay},
        {"CLT", News::kOnTheWay},
        {"CON", News::kConcluded},
        {"CAN", News::kCancelled},
        {"PLACED", News::kPlaced},
        {"RPS", News::kOther},
        {"CAR", News::kOther},
        {"CARF", News::kOther},
        {"HSD", News::kOther},
        {"OPA", News::kOther},
        {"ADR", News::kOther},
        {"", News::kOther}},
       2'000});
  examples.push_back(
      {Dialect::kOpenDelivery,
       "99food",
       {},
       std::string(kOpenDeliveryOrder),
       R"({"eventId":"e-N","eventType":"CODE","orderId":"o-1","createdAt":"2026-11-25T12:00:00Z"})",
       {{"CREATED", News::kPlaced},
        {"CONFIRMED", News::kConfirmed},
        {"PREPARATION_REQUESTED", News::kInPreparation},
        {"PREPARING", News::kInPreparation},
        {"READY_FOR_PICKUP", News::kReady},
        {"DISPATCHED", News::kOnTheWay},
        {"PICKED_UP", News::kDelivered},
        {"DELIVERED", News::kDelivered},
        {"CONCLUDED", News::kConcluded},
        {"CANCELLED", News::kCancelled},
        {"PICKUP_AREA_ASSIGNED", News::kOther},
        {"CANCELLATION_REQUESTED", News::kOther},
        {"CANCELLATION_REQUEST_DENIED", News::kOther},
        {"ORDER_CANCELLATION_REQUEST", News::kOther},
        {"CANCELLED_DENIED", News::kOther}},
       100});
  examples.push_back(
      {Dialect::kKeeta,
       "keeta",
       {{"merchant_id", "m-1"}},
       std::string(kOpenDeliveryOrder),
       R"({"eventId":"e-N","eventType":"CODE","orderId":"o-1","createdAt":"2026-11-25T12:00:00Z"})",
       {{"CREATED", News::kPlaced},
        {"CANCELLED", News::kCancelled},
        {"PICKUP_ONGOING", News::kOther},
        {"RECOMMENDED_PREPARATION_START", News::kOther},
        {"USER_REFUND_REQUEST", News::kOther},
        {"REFUNDED", News::kOther},
        {"REFUND_FAILED", News::kOther}},
       100});
  examples.push_back(
      {Dialect::kRappi, "rappi", {{"store_id", "900"}}, std::string(kRappiOrder), "", {}, 0});
  return examples;
}

std::string Replaced(std::string text, std::string_view what, std::string_view by) {
  const size_t at = text.find(what);
  return at == text.npos ? text : text.replace(at, what.size(), by);
}

company::Company Company() {
  company::Company company;
  company.currency = "BRL";
  company.currency_decimals = 2;
  return company;
}

class EverySource : public testing::TestWithParam<Example> {
 protected:
  const OrderSource& source() const { return SourceOf(GetParam().dialect); }
  AppOrder Map(std::string_view text) const {
    return source().Map(json::Document::Parse(text).root(), "BRL", 2);
  }
  AppOrder Map() const { return Map(GetParam().order); }
  std::optional<Report> Read(std::string_view text) const {
    return source().Read(GetParam().account, json::Document::Parse(text).root());
  }
  Converted ConvertedOf(const AppOrder& order) const {
    return Convert(order, {.name = GetParam().name, .display_name = "App"}, Company(), 1'000);
  }
};

INSTANTIATE_TEST_SUITE_P(Apps, EverySource, testing::ValuesIn(Examples()),
                         [](const auto& one) { return "of_" + one.param.name; });

TEST_P(EverySource, MapsAnOrderToTheCent) {
  const AppOrder order = Map();

  EXPECT_EQ(order.external_id, "o-1");
  ASSERT_EQ(order.lines.size(), 1u);
  EXPECT_EQ(order.lines[0].total, 4700);
  EXPECT_EQ(order.lines[0].quantity, 2000);
  ASSERT_EQ(order.lines[0].options.size(), 1u);
  EXPECT_EQ(order.lines[0].options[0].quantity, 2000) << "of the whole line";
  EXPECT_EQ(order.lines[0].options[0].price, 700);
  EXPECT_EQ(order.delivery_fee + order.other_fees, 1000);
  Minor discounts = 0;
  for (const AppDiscount& discount : order.discounts) discounts += discount.amount;
  EXPECT_EQ(discounts, 500);
  EXPECT_EQ(order.total, 5200);
  EXPECT_EQ(order.paid_online, 1200);
}

TEST_P(EverySource, DraftsAnOrderWhoseTotalIsTheApps) {
  const Converted converted = ConvertedOf(Map());

  EXPECT_EQ(converted.adjustment, 0);
  EXPECT_EQ(converted.whole.order.totals.total, 5200);
  EXPECT_EQ(converted.whole.order.payments.at(0).amount, 1200);
  EXPECT_EQ(converted.whole.order.combos.at(0).modifiers.at(0).price, 700);
  EXPECT_EQ(converted.whole.order.combos.at(0).variant_price, 4000);
}

TEST_P(EverySource, MakesTheTotalTheAppsWhereItDoesNotAddUp) {
  for (const Minor total : {Minor{1}, Minor{5199}, Minor{5201}, Minor{90'000}}) {
    AppOrder order = Map();
    order.total = total;
    const Converted converted = ConvertedOf(order);
    EXPECT_EQ(converted.whole.order.totals.total, total);
    EXPECT_EQ(converted.adjustment, total - 5200);
    EXPECT_EQ(converted.whole.order.combos.size(), 1u) << "the kitchen cooks no difference";
  }
}

TEST_P(EverySource, RefusesWhatWouldCostMoney) {
  const std::string order = GetParam().order;
  for (const auto& [what, by] : std::vector<std::pair<std::string, std::string>>{
           {"\"quantity\": 2", "\"quantity\": 0"},
           {"\"quantity\": 2", "\"quantity\": -1"},
           {"\"quantity\": 2", "\"quantity\": 0.0001"},
           {"\"quantity\": 2", "\"quantity\": \"two\""},
           {": 52", ": -52"},
           {": 52", ": 52.001"},
           {": 52", ": \"much\""},
           {": 52", ": 1e30"},
           {": 52", ": null"},
           {"\"items\": [", "\"items\": [], \"was\": ["}}) {
    ASSERT_NE(order.find(what), order.npos) << what;
    EXPECT_THROW(Map(Replaced(order, what, by)), Refusal) << what << " as " << by;
  }
  EXPECT_THROW(Map("{}"), Refusal);
  EXPECT_THROW(Map("[]"), Refusal);
}

TEST_P(EverySource, TakesANumberThatIsWrittenAsAText) {
  EXPECT_EQ(Map(Replaced(GetParam().order, ": 52", ": \"52.00\"")).total, 5200);
  const std::string text = Replaced(GetParam().order, "\"quantity\": 2", "\"quantity\": \"2\"");
  EXPECT_EQ(Map(text).lines.at(0).quantity, 2000);
}

TEST_P(EverySource, RoundsBinaryNoiseAway) {
  for (const std::string number : {"52.0000000000000071", "51.99999999999999", "52.00", "5.2e1"}) {
    EXPECT_EQ(Map(Replaced(GetParam().order, ": 52", ": " + number)).total, 5200) << number;
  }
}

TEST_P(EverySource, KnowsEveryCodeThatTheDocumentsName) {
  for (const auto& [code, news] : GetParam().codes) {
    const auto report = Read(Concat({"[", Replaced(GetParam().event, "CODE", code), "]"}));
    ASSERT_TRUE(report) << code;
    ASSERT_EQ(report->events.size(), 1u);
    EXPECT_EQ(report->events.front().news, news) << code;
    EXPECT_EQ(report->events.front().external_id, "o-1");
  }
}

TEST_P(EverySource, AcknowledgesEachEventOnceAndNoMoreAtOnceThanTheAppTakes) {
  const size_t at_once = GetParam().at_once;
  if (at_once == 0) {
    EXPECT_TRUE(source().Acknowledge({{}}).empty());
    EXPECT_TRUE(source().capabilities().is_read_once);
    return;
  }
  std::string list = "[";
  for (size_t i = 0; i <= 2 * at_once; ++i) {
    const std::string event = Replaced(GetParam().event, "e-N", Concat({"e-", i}));
    list += Concat({i == 0 ? "" : ",", Replaced(event, "CODE", "CANCELLED")});
  }
  const auto calls = source().Acknowledge(Read(list + "]")->events);
  ASSERT_EQ(calls.size(), 3u);
  size_t count = 0;
  for (const OrderCall& call : calls) {
    const json::Document body = json::Document::Parse(call.json);
    EXPECT_LE(body.root().items().size(), at_once);
    for (const json::Value& item : body.root().items()) {
      EXPECT_EQ(item.Find("id")->text(), Concat({"e-", count++}));
    }
  }
  EXPECT_EQ(count, 2 * at_once + 1);
}

TEST_P(EverySource, TakesAnythingElseForNoAnswer) {
  for (const std::string_view text : {"{}", "1", "null", R"("x")"}) {
    EXPECT_FALSE(Read(text)) << text;
  }
  EXPECT_TRUE(Read("[]")->events.empty());
}

TEST_P(EverySource, LeavesOutOfAListWhatIsNoEventAndTakesTheOthers) {
  const std::string event = GetParam().event.empty() ? GetParam().order : GetParam().event;
  for (const std::string_view element :
       {R"("x")", "1", "true", "null", "[]", "{}", R"({"hello":1})"}) {
    const auto report = Read(Concat({"[", element, ",", event, "]"}));
    ASSERT_TRUE(report) << element;
    EXPECT_EQ(report->events.size(), 1u) << element;
    EXPECT_EQ(report->left_out, std::vector{std::string(element)});
  }
}

TEST_P(EverySource, TellsTheStepsInAnOrdersPathAndNothingOfAForeignRider) {
  for (const CommandKind kind : {CommandKind::kConfirm, CommandKind::kPrepare, CommandKind::kReady,
                                 CommandKind::kDispatch}) {
    const auto call =
        source().Tell(GetParam().account, {.kind = kind, .external_id = "o/1", .order_id = "here"});
    if (kind == CommandKind::kDispatch) {
      EXPECT_FALSE(call) << "the app's rider brings it";
    }
    if (call) {
      EXPECT_NE(call->path.find("o%2F1"), std::string::npos);
    }
  }
  EXPECT_TRUE(
      source().Tell(GetParam().account, {.kind = CommandKind::kConfirm, .external_id = "o"}));
}

TEST_P(EverySource, AsksForNoPlainTextsWhereAllIsPlain) {
  const json::Document order = json::Document::Parse(GetParam().order);
  EXPECT_FALSE(source().AskPlainTexts(order.root()));
}

TEST(Keeta, AsksForThePlainTextsOfWhatIsPersonal) {
  const OrderSource& source = SourceOf(Dialect::kKeeta);
  const json::Document order = json::Document::Parse(
      Replaced(std::string(kOpenDeliveryOrder), "\"type\": \"TAKEOUT\"",
               R"("type": "DELIVERY", "customer": {"name": "Ana", "phone": {"number": "ENC_a/b=="}},
         "delivery": {"deliveryAddress": {"formattedAddress": "ENC_c", "district": "ENC_d"}})"));

  const auto call = source.AskPlainTexts(order.root());
  ASSERT_TRUE(call);
  EXPECT_EQ(call->path, "/v1/batchDecrypt");
  EXPECT_EQ(
      call->json,
      R"({"cipherInfos":[{"cipherText":"ENC_a/b=="},{"cipherText":"ENC_c"},{"cipherText":"ENC_d"}]})");

  const AppCustomer before = source.Map(order.root(), "BRL", 2).customer;
  EXPECT_EQ(before.name, "Ana");
  EXPECT_FALSE(before.phone) << "what is encrypted is left out";
  EXPECT_FALSE(before.address);

  const json::Document answer = json::Document::Parse(
      R"({"plainInfos":[{"cipherText":"ENC_a\/b==","plainText":"119","errorCode":0},
                        {"cipherText":"ENC_c","plainText":"Rua \"A\", 10"},
                        {"cipherText":"ENC_d","plainText":null,"errorCode":1}]})");
  const json::Document plain =
      json::Document::Parse(source.WithPlainTexts(order.root(), answer.root()));
  const AppCustomer after = source.Map(plain.root(), "BRL", 2).customer;
  EXPECT_EQ(after.phone, "119");
  EXPECT_EQ(after.address, "Rua \"A\", 10");
  EXPECT_FALSE(after.area);
}

// Amounts that are told in another form

AppOrder MapAs(Dialect dialect, std::string_view text) {
  return SourceOf(dialect).Map(json::Document::Parse(text).root(), "BRL", 2);
}

struct Form {
  Dialect dialect;
  std::string what, by;  // in the order of the example
  Minor fees, discounts;
};

TEST(AmountsOfAnOrder, AreFoundInEveryFormThatAppsTellThem) {
  const auto money = [](std::string_view name, std::string_view value) {
    return Concat({"\"", name, R"(": {"value": )", value, R"(, "currency": "BRL"})"});
  };
  const std::string listed_fee =
      Concat({R"("otherFees": [{"type": "SERVICE_FEE", )", money("price", "10"), "}],"});
  for (
      const Form& form : std::vector<Form>{
          // The sum without its list.
          {Dialect::kOpenDelivery, listed_fee, "", 1000, 500},
          // A fee of the app itself is outside the total.
          {Dialect::kOpenDelivery, R"("otherFees": [{)",
           Concat({R"("otherFees": [{"receivedBy": "MARKETPLACE", )", money("price", "3"), "}, {"}),
           1000, 500},
          // The discount in the total alone.
          {Dialect::kOpenDelivery,
           Concat({R"("discounts": [{)", money("amount", "5"), R"(, "sponsorshipValues": []}],)"}),
           "", 1000, 500},
          // A benefit that lessens nothing.
          {Dialect::kIfood, R"("benefits": [)",
           R"("benefits": [{"value": 7, "sponsorshipValues": [{"name": "IFOOD", "value": 7}]}], "others": [)",
           1000, 500},
          {Dialect::kIfood, R"("additionalFees": 1,)", "", 1000, 500},
          // The portal's own example has the fee in the total.
          {Dialect::kRappi, R"("charges": {"shipping": 9}, "other_totals": {"tip": 1})",
           R"("charges": {"shipping": 7, "service_fee": 2}, "other_totals": {"tip": 1})", 1000,
           500},
          {Dialect::kRappi, R"("value": 9, "amount_by_partner": 5)",
           R"("value": 5, "amount_by_partner": 2)", 1000, 500}}) {
    std::string text(form.dialect == Dialect::kIfood   ? kIfoodOrder
                     : form.dialect == Dialect::kRappi ? kRappiOrder
                                                       : kOpenDeliveryOrder);
    ASSERT_NE(text.find(form.what), text.npos) << form.what;
    text = Replaced(text, form.what, form.by);
    text = Replaced(text, R"("total": {"orderAmount")",
                    Concat({R"("total": {)", money("otherFees", "10"), ",", money("discount", "5"),
                            R"(,"orderAmount")"}));
    text =
        Replaced(text, R"("total": {"deliveryFee")",
                 R"("additionalFees": [{"type": "SMALL", "value": 1}], "total": {"deliveryFee")");
    const AppOrder order = MapAs(form.dialect, text);
    EXPECT_EQ(order.delivery_fee + order.other_fees, form.fees) << text;
    Minor discounts = 0;
    for (const AppDiscount& discount : order.discounts) discounts += discount.amount;
    EXPECT_EQ(discounts, form.discounts) << text;
    EXPECT_EQ(Convert(order, {.name = "app", .display_name = "App"}, Company(), 1'000).adjustment,
              0)
        << text;
  }
}

// What the kitchen and the rider read

TEST(OptionsOfAnOption, AreModifiersWithBothNamesTheirQuantityAndTheirPrice) {
  const AppOrder order = MapAs(Dialect::kIfood, R"({"id": "o", "orderType": "TAKEOUT",
      "items": [{"name": "Combo", "quantity": 1, "unitPrice": 20, "totalPrice": 34, "options": [
        {"name": "Burger", "groupName": "Sanduíche", "quantity": 2, "price": 4, "observations": "bem passado", "customizations": [
          {"name": "Sem cebola", "groupName": "Tirar?", "quantity": 1, "price": 0},
          {"name": "Bacon extra", "groupName": "Pôr?", "quantity": 2, "price": 10}]},
        {"name": "Não", "groupName": "Talheres?", "quantity": 1, "price": 0, "customization": [{"name": "Guardanapo"}]}]}],
      "total": {"orderAmount": 34}})");
  std::vector<std::string> lines;
  for (const AppOption& option : order.lines.at(0).options) {
    lines.push_back(Concat({option.quantity / 1'000, " ", option.name, " ",
                            option.group_name.value_or("-"), " ", option.price}));
  }
  EXPECT_EQ(lines,
            std::vector<std::string>({"2 Burger Sanduíche 400", "2 Burger: Sem cebola Tirar? 0",
                                      "4 Burger: Bacon extra Pôr? 1000", "1 Não Talheres? 0",
                                      "1 Não: Guardanapo - 0"}));
  EXPECT_EQ(order.lines[0].comment, "Burger: bem passado");
  const auto converted =
      Convert(order, {.name = "ifood", .display_name = "iFood"}, Company(), 1'000);
  EXPECT_EQ(converted.whole.order.combos.at(0).variant_price, 2000)
      << "money of options is not the dish's";
  EXPECT_EQ(converted.whole.order.combos[0].modifiers.at(2).group_name, "Pôr?");
}

TEST(AnOrderOfAnApp, KeepsOptionsForWhichTheRecordHasNoRoom) {
  AppOrder order{.lines = {{.name = "Buffet", .total = 100}}, .total = 100};
  for (int i = 0; i < 60; ++i) order.lines[0].options.push_back({.name = Concat({"o", i})});
  order.lines[0].options[3].name = std::string(210, 'x') + "nut allergy";
  const auto converted = Convert(order, {.name = "app", .display_name = "App"}, Company(), 1'000);
  const orders::Combo& combo = converted.whole.order.combos.at(0);
  EXPECT_EQ(combo.modifiers.size(), orders::kModifiersMax);
  EXPECT_NE(combo.comment.value_or("").find("nut allergy"), std::string::npos);
  EXPECT_NE(combo.comment.value_or("").find("1 x o59"), std::string::npos);
}

TEST(AnOrderOfAnApp, TellsTheRiderWhatToCollectInTheRestaurantsLanguage) {
  AppOrder order{.lines = {{.name = "Pizza", .total = 4000}},
                 .total = 4000,
                 .charges = {{.means = AppCharge::Means::kCash,
                              .amount = 4000,
                              .word = "CASH",
                              .change_for = 5000}},
                 .delivery_comment = "portão azul",
                 .pickup_code = "0815"};
  company::Company company = Company();
  const auto comment = [&] {
    return Convert(order, {.name = "ifood", .display_name = "iFood"}, company, 1'000).whole.order;
  };
  company.country_code = "BR";
  EXPECT_EQ(comment().delivery_comment,
            "Cobrar BRL 40.00 em dinheiro (CASH)\nLevar troco para BRL 50.00\nCódigo de coleta: "
            "0815\nportão azul");
  company.language = "es-PE";
  order.charges = {{.means = AppCharge::Means::kCard, .amount = 4000, .word = "DEBIT VISA"}};
  EXPECT_EQ(comment().delivery_comment,
            "Cobrar BRL 40.00 con tarjeta: llevar el POS (DEBIT VISA)\nCódigo de recojo: "
            "0815\nportão azul");
  order.service_type = orders::ServiceType::kTakeaway;
  EXPECT_FALSE(comment().delivery_comment);
  EXPECT_NE(comment().comment.value_or("").find("Cobrar BRL 40.00"), std::string::npos);
  order.paid_online = 4000;
  EXPECT_EQ(comment().comment, "Código de recojo: 0815\nportão azul");
}

TEST(AnOrderOfAnApp, SaysThatNotAllOfItCouldBeRead) {
  const AppOrder order = MapAs(Dialect::kIfood, R"({"id": "o", "orderType": "BY_DRONE",
      "items": [null, {"name": "Pizza", "quantity": 1, "totalPrice": 34, "options": ["x", {"name": "Borda", "quantity": 0}]}],
      "benefits": 5, "total": {"orderAmount": 34}})");
  EXPECT_EQ(order.unread, std::vector<std::string>({"orderType", "items[0]", "items[1].options[0]",
                                                    "items[1].options[1].quantity", "benefits"}));
  const auto converted =
      Convert(order, {.name = "ifood", .display_name = "iFood"}, Company(), 1'000);
  EXPECT_NE(converted.whole.order.comment.value_or("").find("items[1].options[0]"),
            std::string::npos);
}

TEST(OptionsOfALine, AreOfOneItemOrOfTheLineAsTheTotalSays) {
  AppLine of_one = {.quantity = 2000, .total = 4700, .options = {{.price = 350}}};
  SpreadOptions(of_one, 2000);
  EXPECT_EQ(of_one.options[0].price, 700);
  AppLine of_line = {.quantity = 2000, .total = 4350, .options = {{.price = 350}}};
  SpreadOptions(of_line, 2000);
  EXPECT_EQ(of_line.options[0].price, 350);
}

}  // namespace
}  // namespace comanda::delivery
