#include "cloud/orders/cloud_record.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <set>

#include "base/id.h"
#include "json/writer.h"
#include "orders/pricing.h"
#include "orders/record.h"

namespace comanda::cloud {
namespace {

using orders::Order;
using orders::Status;

constexpr std::string_view kId = "7f3c2f1e-0000-4000-8000-000000000001";
constexpr std::string_view kComboId = "7f3c2f1e-0000-4000-8000-0000000000c1";

company::Company Peru() {
  company::Company company;
  company.id = "0190a5c8-6f2e-7c3a-9d41-2b7f5e8a1c90";
  company.country_code = "PE";
  company.timezone = "America/Lima";
  company.currency = "PEN";
  return company;
}

class CloudRecordReader : public ::testing::Test {
 protected:
  CloudRecord Read(const std::string& record) {
    const json::Document document = json::Document::Parse(record);
    return ReadCloudRecord(document.root(), Context());
  }
  Order OrderOf(const std::string& record) { return Read(record).order; }

  // Why the record is unreadable; empty if it is not.
  std::string WhyNot(const std::string& record) {
    try {
      Read(record);
      return "";
    } catch (const UnreadableRecord& unreadable) {
      return unreadable.why;
    }
  }

  RecordContext Context() {
    return {.company = company,
            .platform_there = "theirs",
            .platform_here = "ours",
            .find_here = [this](aliases::Kind kind, std::string_view cloud_id) {
              const auto found = aliases.find({kind, std::string(cloud_id)});
              return found == aliases.end() ? std::nullopt : std::optional(found->second);
            }};
  }

  // A record with one more member.
  static std::string With(const std::string& member) {
    return R"({"id":"7f3c2f1e-0000-4000-8000-000000000001","status":"PENDING",)" + member + "}";
  }

  company::Company company = Peru();
  std::map<std::pair<aliases::Kind, std::string>, std::string> aliases;
};

// An order with every member set.
Order Full() {
  constexpr UtcMs kAt = 1'763'000'000'000;
  Order order;
  order.company_uuid = Peru().id;
  order.id = kId;
  order.public_id = "PE-1000000007";
  order.order_number = 41;
  order.reference = "till-1";
  order.source = "RAPPI";
  order.country_code = "PE";
  order.timezone = "America/Lima";
  order.currency = "PEN";
  order.version = 7;
  order.status = Status::kFinalized;
  order.service_type = orders::ServiceType::kDelivery;
  for (size_t i = 0; i <= 4; ++i) {
    order.status_history.push_back({.status = static_cast<Status>(i),
                                    .at = kAt + static_cast<UtcMs>(i),
                                    .by = "cloud",
                                    .implied = i == 2});
  }
  order.delivery_status = orders::DeliveryStatus::kNotDelivered;
  order.delivery_status_reason = "nobody there";
  order.delivered_by = "API";
  order.rider = {.provider = "api",
                 .user_id = "12345678901234567890",
                 .name = "Ana",
                 .phone_number = "999",
                 .country_calling_code = "51",
                 .assigned_at = kAt};
  order.closed_at = kAt + 9;
  order.scheduled_delivery_date = kAt + 10;
  order.client_id = "7f3c2f1e-0000-4000-8000-0000000000a1";
  order.client = R"({"id":"7f3c2f1e-0000-4000-8000-0000000000a1","name":"Luz"})";
  order.address_id = "7f3c2f1e-0000-4000-8000-0000000000a2";
  order.address = R"({"id":"7f3c2f1e-0000-4000-8000-0000000000a2","latitude":-12.0464})";
  order.comment = "sin ají\ny rápido";
  order.order_title = "Luz";
  order.delivery_comment = "timbre";
  order.delivery_price = 500;
  order.packaging_price = 100;
  order.service_fee_price = 30;
  order.totals = {.subtotal = 3000,
                  .total_discounts = 301,
                  .total_tips = 100,
                  .total = 3329,
                  .total_paid = 3329,
                  .paid = true};
  order.paid_at = kAt + 3;
  orders::Combo combo;
  combo.id = kComboId;
  combo.product_id = "7f3c2f1e-0000-4000-8000-0000000000d1";
  combo.product_name = "Lomo";
  combo.product_category_name = "Fondos";
  combo.variant_name = "Grande";
  combo.sku = "LOMO-G";
  combo.quantity = 1500;
  combo.comment = "jugoso";
  combo.variant_price = 2700;
  combo.variant_original_price = 3000;
  combo.modifiers.push_back({.id = "7f3c2f1e-0000-4000-8000-0000000000e1",
                             .group_name = "Guarnición",
                             .name = "Papas",
                             .quantity = 3000,
                             .price = 300,
                             .original_price = 300,
                             .unit_quantity = 2,
                             .unit_price = 100,
                             .original_unit_price = 100});
  combo.variant_unit_price = 1800;
  combo.variant_original_unit_price = 2000;
  EXPECT_TRUE(orders::SumUp(combo, 2));
  combo.created_at = kAt + 1;
  order.combos.push_back(combo);
  combo.id = "7f3c2f1e-0000-4000-8000-0000000000c2";
  combo.modifiers.clear();
  EXPECT_TRUE(orders::SumUp(combo, 2));
  combo.canceled_at = kAt + 2;
  order.combos.push_back(combo);
  order.payments.push_back({.id = "7f3c2f1e-0000-4000-8000-0000000000b1",
                            .method = {.id = "7f3c2f1e-0000-4000-8000-0000000000f1",
                                       .code = "cash",
                                       .description = "Efectivo"},
                            .amount = 3329,
                            .tip_amount = 100,
                            .received_amount = 4000,
                            .reference = "r",
                            .comment = "c",
                            .created_at = kAt + 3});
  order.discounts.push_back({.id = "7f3c2f1e-0000-4000-8000-0000000000b2",
                             .type = orders::DiscountType::kPercentage,
                             .value = 100'000,
                             .amount = 301,
                             .reason = "amigo",
                             .created_at = kAt + 2});
  order.created_at = kAt;
  order.updated_at = kAt + 20;
  order.unknown_members = R"({"loyalty":{"points":12345678901234567890}})";
  return order;
}

TEST_F(CloudRecordReader, ReadsWhatThisProgramWrites) {
  const Order order = Full();
  const CloudRecord record = Read(orders::Render(order));
  EXPECT_EQ(orders::Render([&] {
              Order read = record.order;
              read.company_uuid = order.company_uuid;
              return read;
            }()),
            orders::Render(order));
  EXPECT_EQ(record.order.combos, order.combos);
  EXPECT_EQ(record.cloud_id, kId);
  EXPECT_EQ(record.cloud_public_id, "PE-1000000007");
  EXPECT_EQ(record.combo_ids.front(), kComboId);
  EXPECT_TRUE(record.shows.combos && record.shows.payments && record.shows.discounts);
  EXPECT_TRUE(record.shows.rider && record.shows.delivery_status && record.shows.total);
}

TEST_F(CloudRecordReader, ComputesWhatTheSpecificationDoesNotNameFromTheRows) {
  const Order order = OrderOf(R"({"id":"o-17","status":"READY","service_type":"DELIVERY",
      "delivery_price":5,"packaging_price":1,
      "combos":[{"id":1,"quantity":2,"variant_price":20,"canceled_at":null,
                 "modifiers":[{"quantity":4,"price":2},{"quantity":2,"price":1.5}]},
                {"id":2,"quantity":1,"variant_price":99,"canceled_at":"2026-11-20T18:03:11Z"}],
      "payments":[{"amount":10,"canceled_at":null},{"amount":50,"canceled_at":true}],
      "discounts":[{"type":"PERCENTAGE","value":10}]})");
  EXPECT_EQ(order.combos[0].modifiers_price, 350);
  EXPECT_EQ(order.combos[0].combo_price, 2350);
  EXPECT_EQ(order.combos[0].variant_original_price, 2000);
  EXPECT_EQ(order.combos[0].modifiers[0].unit_quantity, 2);
  EXPECT_TRUE(order.combos[1].canceled_at);
  EXPECT_EQ(order.totals.subtotal, 2350);
  EXPECT_EQ(order.totals.total_discounts, 235);
  EXPECT_EQ(order.totals.total, 2350 - 235 + 500 + 100);
  EXPECT_EQ(order.totals.total_paid, 1000);
  EXPECT_FALSE(order.totals.paid);
  EXPECT_EQ(order.status_history.size(), 3U);
}

TEST_F(CloudRecordReader, TakesTheFiguresOfTheCloudAsTheyAre) {
  const Order order = OrderOf(With(R"("total":9.99,"subtotal":1,"total_paid":9.98,"paid":true,
      "combos":[{"quantity":1,"variant_price":5,"combo_price":7}],"discounts":[])"));
  EXPECT_EQ(order.totals.total, 999);
  EXPECT_EQ(order.totals.subtotal, 100);
  EXPECT_EQ(order.totals.total_paid, 998);
  EXPECT_TRUE(order.totals.paid);
  EXPECT_EQ(order.combos[0].combo_price, 700);
}

TEST_F(CloudRecordReader, RoundsNoAmount) {
  EXPECT_NE(WhyNot(With(R"("total":1.005)")), "");
  EXPECT_NE(WhyNot(With(R"("total":-1)")), "");
  EXPECT_NE(WhyNot(With(R"("total":{})")), "");
  EXPECT_NE(WhyNot(With(R"("total":"a lot")")), "");
  EXPECT_NE(WhyNot(With(R"("total":12345678901234567890)")), "");
  EXPECT_NE(WhyNot(With(R"("combos":[{"variant_price":0.001}])")), "");
  EXPECT_NE(WhyNot(With(R"("combos":[{"quantity":0.0001}])")), "");
  EXPECT_NE(WhyNot(With(R"("combos":[{"modifiers":[{"price":true}]}])")), "");
  EXPECT_NE(WhyNot(With(R"("payments":[{"amount":[]}])")), "");
  EXPECT_NE(WhyNot(With(R"("discounts":[{"type":"PERCENTAGE","value":100.0001}])")), "");
  EXPECT_EQ(OrderOf(With(R"("total":1.500)")).totals.total, 150);
  EXPECT_EQ(OrderOf(With(R"("total":"1.5")")).totals.total, 150);
  EXPECT_EQ(OrderOf(With(R"("total":15e-1)")).totals.total, 150);
}

TEST_F(CloudRecordReader, CountsInTheDecimalsOfTheCompany) {
  company.currency = "CLP";
  company.currency_decimals = 0;
  EXPECT_EQ(OrderOf(With(R"("total":1500.0)")).totals.total, 1500);
  EXPECT_NE(WhyNot(With(R"("total":0.5)")), "");
  company.currency = "KWD";
  company.currency_decimals = 3;
  EXPECT_EQ(OrderOf(With(R"("total":1.005,"currency":"kwd")")).totals.total, 1005);
  EXPECT_NE(WhyNot(With(R"("total":1,"currency":"PEN")")), "");
}

TEST_F(CloudRecordReader, HasAnIdAndAStatusOrIsUnreadable) {
  for (const char* record : {"null", "[]", "7", "{}", R"({"id":"x"})", R"({"status":"READY"})",
                             R"({"id":"","status":"READY"})", R"({"id":{},"status":"READY"})",
                             R"({"id":"x","status":null})", R"({"id":true,"status":"READY"})"}) {
    EXPECT_NE(WhyNot(record), "") << record;
  }
  EXPECT_EQ(Read(R"({"id":123456789012345678901234567890,"status":"READY"})").cloud_id,
            "123456789012345678901234567890");
}

TEST_F(CloudRecordReader, DerivesTheSameIdsEachTime) {
  const std::string text = R"({"id":"o/17","status":"READY","combos":[
      {"id":"a"},{"id":"a"},{"id":7},{},{},{"id":"7F3C2F1E-0000-4000-8000-0000000000C1"}]})";
  const CloudRecord first = Read(text);
  const CloudRecord second = Read(text);
  EXPECT_EQ(first.order.combos, second.order.combos);
  EXPECT_EQ(first.order.id, second.order.id);
  EXPECT_TRUE(ParseId(first.order.id));
  std::set<std::string> ids;
  for (const orders::Combo& combo : first.order.combos) {
    EXPECT_TRUE(ParseId(combo.id)) << combo.id;
    EXPECT_TRUE(ids.insert(combo.id).second) << combo.id;
  }
  EXPECT_EQ(first.order.combos.back().id, kComboId);
  EXPECT_EQ(first.combo_ids,
            (std::vector<std::string>{"a", "a", "7", "", "", std::string(kComboId)}));
  EXPECT_NE(Read(R"({"id":"o/18","status":"READY"})").order.id, first.order.id);
}

TEST_F(CloudRecordReader, KeepsStatusesSourcesAndMembersThatItDoesNotKnow) {
  const Order order = OrderOf(
      R"({"id":"x","status":"EN_CAMINO","source":"TOTEM","loyalty":{"points":1234567890123456789012},
          "ready_at":"2026-11-20T18:03:11Z","note":null})");
  EXPECT_EQ(order.unknown_status, "EN_CAMINO");
  EXPECT_EQ(order.status, Status::kReady);
  EXPECT_EQ(order.source, "TOTEM");
  EXPECT_EQ(order.unknown_members, R"({"loyalty":{"points":1234567890123456789012},"note":null})");
  EXPECT_NE(orders::Render(order).find(R"("status":"READY","foreign_status":"EN_CAMINO")"),
            std::string::npos);
  const Order further = OrderOf(orders::Render(order));
  EXPECT_EQ(further.unknown_status, "EN_CAMINO") << "of a cloud that has a cloud";
  EXPECT_EQ(further.status, Status::kReady);
  EXPECT_EQ(OrderOf(R"({"id":"x","status":"Canceled"})").status, Status::kCancelled);
  EXPECT_EQ(OrderOf(R"({"id":"x","status":"ready"})").status, Status::kReady);
}

TEST_F(CloudRecordReader, UnknownMembersOfRowsAreKeptByTheRowsId) {
  const std::string shown = With(R"(
      "combos":[{"id":"7f3c2f1e-0000-4000-8000-0000000000c1","product_name":"Lomo","combo_price":5,
                 "station":"horno","weight":0.12345678901234567,
                 "modifiers":[{"id":"7f3c2f1e-0000-4000-8000-0000000000c5","name":"Extra","price":0,
                               "allergens":["nuez"]}]},
                {"id":"7f3c2f1e-0000-4000-8000-0000000000c2","combo_price":5}],
      "payments":[{"id":"7f3c2f1e-0000-4000-8000-0000000000c3","payment_method_code":"cash",
                   "payment_method":{"code":"cash","brand":"x"},"amount":5,"terminal":null}],
      "rider":{"provider":"own","name":"Ana","vehicle":{"plate":"A1"}},
      "discounts":[{"id":"7f3c2f1e-0000-4000-8000-0000000000c4","type":"AMOUNT","value":1,
                    "campaign":{"id":7}}])");
  const Order order = OrderOf(shown);
  EXPECT_EQ(order.unknown_members,
            R"({"unknown_row_members":{)"
            R"("7f3c2f1e-0000-4000-8000-0000000000c1":)"
            R"({"station":"horno","weight":0.12345678901234567},)"
            R"("7f3c2f1e-0000-4000-8000-0000000000c3":)"
            R"({"payment_method":{"brand":"x"},"terminal":null},)"
            R"("7f3c2f1e-0000-4000-8000-0000000000c4":{"campaign":{"id":7}},)"
            R"("7f3c2f1e-0000-4000-8000-0000000000c5":{"allergens":["nuez"]},)"
            R"("rider":{"vehicle":{"plate":"A1"}}}})");
  const CloudRecord again = Read(orders::Render(order));
  EXPECT_EQ(again.order.unknown_members, order.unknown_members) << "a Comanda passes them on";
}

TEST_F(CloudRecordReader, ReferencesAreThoseOfThisBox) {
  aliases[{aliases::Kind::kClient, "c-1"}] = "0190a5c8-0000-7000-8000-0000000000a1";
  aliases[{aliases::Kind::kVariant, "v-1"}] = "0190a5c8-0000-7000-8000-0000000000a2";
  aliases[{aliases::Kind::kPaymentMethod, "9"}] = "0190a5c8-0000-7000-8000-0000000000a3";
  const Order order = OrderOf(With(R"(
      "client":{"id":"c-1","name":"Luz","vip":true},"table_id":"mesa-4",
      "address_id":"7F3C2F1E-0000-4000-8000-0000000000A9",
      "combos":[{"variant_id":"v-1","product_id":"p-1"}],
      "payments":[{"payment_method":{"id":9,"code":"cash"}}])"));
  EXPECT_EQ(order.client_id, "0190a5c8-0000-7000-8000-0000000000a1");
  EXPECT_EQ(order.client,
            R"({"id":"0190a5c8-0000-7000-8000-0000000000a1","name":"Luz","vip":true})");
  EXPECT_FALSE(order.table_id) << "no UUID, and unknown here";
  EXPECT_EQ(order.address_id, "7f3c2f1e-0000-4000-8000-0000000000a9");
  EXPECT_EQ(order.combos[0].variant_id, "0190a5c8-0000-7000-8000-0000000000a2");
  EXPECT_FALSE(order.combos[0].product_id);
  EXPECT_EQ(order.payments[0].method.id, "0190a5c8-0000-7000-8000-0000000000a3");
}

TEST_F(CloudRecordReader, ARiderOfTheCompanyIsTheUserHere) {
  constexpr const char* kRider = R"("rider":{"provider":"theirs","user_id":"u-1","name":"Ana"})";
  EXPECT_EQ(OrderOf(With(kRider)).rider->provider, "api") << "no user here";
  aliases[{aliases::Kind::kUser, "u-1"}] = "0190a5c8-0000-7000-8000-0000000000a4";
  const Order order = OrderOf(With(kRider));
  EXPECT_EQ(order.rider->provider, "ours");
  EXPECT_EQ(order.rider->user_id, R"("0190a5c8-0000-7000-8000-0000000000a4")");
  EXPECT_EQ(OrderOf(With(R"("rider":{"user_id":12345678901234567890})")).rider->user_id,
            "12345678901234567890");
  EXPECT_TRUE(Read(With(R"("rider":null)")).shows.rider);
  EXPECT_FALSE(Read(With(R"("rider":"Ana")")).shows.rider);
  EXPECT_FALSE(Read(With(R"("comment":"x")")).shows.rider);
}

TEST_F(CloudRecordReader, TextsHaveNoControlCharacters) {
  const Order order = OrderOf(With(R"("comment":"a\u0000b\u001fc\r\nd","order_title":"\u0001")"));
  EXPECT_EQ(order.comment, "abc\nd");
  EXPECT_FALSE(order.order_title);
}

TEST_F(CloudRecordReader, TooManyRowsAreUnreadable) {
  std::string rows;
  for (size_t i = 0; i <= orders::kCombosMax; ++i) rows += i == 0 ? "{}" : ",{}";
  EXPECT_NE(WhyNot(With(R"("combos":[)" + rows + "]")), "");
}

// The same record with one value after the other replaced by one of every kind.

struct Place {
  size_t number = 0;  // of the value to be replaced, in document order
  std::string_view with;
};

void CopyWith(json::Writer& out, json::Value value, Place& place) {
  if (place.number-- == 0) {
    out.Raw(place.with);
    return;
  }
  if (value.kind() == json::Kind::kObject) {
    out.BeginObject();
    for (const auto& [name, member] : value.members()) {
      out.KeyOf(name);
      CopyWith(out, member, place);
    }
    out.EndObject();
  } else if (value.kind() == json::Kind::kArray) {
    out.BeginArray();
    for (const json::Value item : value.items()) CopyWith(out, item, place);
    out.EndArray();
  } else {
    out.Raw(value.Canonical());
  }
}

constexpr std::array<std::string_view, 16> kKinds = {"null",
                                                     "true",
                                                     "false",
                                                     "0",
                                                     "-1",
                                                     "1.23456789",
                                                     "1e300",
                                                     "99999999999999999999999999",
                                                     R"("")",
                                                     R"("x")",
                                                     R"("2026-02-31T00:00:00Z")",
                                                     R"("7f3c2f1e-0000-4000-8000-0000000000c1")",
                                                     "[]",
                                                     "[null,[],{},7]",
                                                     "{}",
                                                     R"({"id":{"id":[]},"name":7})"};

std::string Changed(const std::string& record, size_t number, std::string_view with) {
  const json::Document document = json::Document::Parse(record);
  std::string text;
  json::Writer out(text);
  Place place{number, with};
  CopyWith(out, document.root(), place);
  return text;
}

size_t CountOfValues(json::Value value) {
  size_t count = 1;
  if (value.kind() == json::Kind::kObject) {
    for (const auto& member : value.members()) count += CountOfValues(member.second);
  } else if (value.kind() == json::Kind::kArray) {
    for (const json::Value item : value.items()) count += CountOfValues(item);
  }
  return count;
}

// What is read of a hostile record can be rendered, and read again.
void ExpectSound(const CloudRecord& record, const std::string& text) {
  ASSERT_FALSE(record.cloud_id.empty()) << text;
  ASSERT_TRUE(ParseId(record.order.id)) << text;
  ASSERT_EQ(record.order.combos.size(), record.combo_ids.size()) << text;
  ASSERT_FALSE(record.order.status_history.empty()) << text;
  ASSERT_EQ(record.order.status_history.back().status, record.order.status) << text;
  for (const orders::Combo& combo : record.order.combos) ASSERT_TRUE(ParseId(combo.id)) << text;
  ASSERT_NO_THROW(json::Document::Parse(orders::Render(record.order))) << text;
}

TEST_F(CloudRecordReader, EveryMemberMayBeOfEveryKind) {
  const std::string record = orders::Render(Full());
  const size_t values = CountOfValues(json::Document::Parse(record).root());
  size_t read = 0;
  for (size_t number = 0; number < values; ++number) {
    for (const std::string_view with : kKinds) {
      const std::string text = Changed(record, number, with);
      try {
        ExpectSound(Read(text), text);
        ++read;
      } catch (const UnreadableRecord& unreadable) {
        EXPECT_NE(unreadable.why, "");
      }
    }
  }
  EXPECT_GT(read, values * kKinds.size() / 2);
}

TEST_F(CloudRecordReader, NoMixtureOfMistakesIsACrash) {
  std::mt19937 random(20261125);
  for (int round = 0; round < 3000; ++round) {
    std::string text = orders::Render(Full());
    for (int mistake = 0; mistake < 4; ++mistake) {
      const size_t values = CountOfValues(json::Document::Parse(text).root());
      text = Changed(text, 1 + random() % (values - 1), kKinds[random() % kKinds.size()]);
    }
    try {
      ExpectSound(Read(text), text);
    } catch (const UnreadableRecord& unreadable) {
      EXPECT_NE(unreadable.why, "");
    }
  }
}

}  // namespace
}  // namespace comanda::cloud
