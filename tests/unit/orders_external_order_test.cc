#include "orders/external_order.h"

#include <gtest/gtest.h>

#include "aliases/aliases.h"
#include "base/id.h"
#include "base/problem.h"
#include "company/companies.h"
#include "events/log.h"
#include "orders/lifecycle.h"
#include "orders/record.h"
#include "orders/store.h"
#include "support/restaurant_database.h"

namespace comanda::orders {
namespace {

using testing::kCompany;
using testing::RestaurantDatabase;

constexpr std::string_view kId = "7f3c2f1e-0000-4000-8000-000000000001";
constexpr UtcMs kMade = 1'763'000'000'000;
constexpr UtcMs kMinuteMs = 60'000;
constexpr UtcMs kHourMs = 60 * kMinuteMs;

class OrdersExternalOrder : public ::testing::Test {
 protected:
  // A sale of 21.90 whose totals no rule of this program gives: they are the cloud's.
  Order Sale() {
    Order order;
    order.id = kId;
    order.public_id = "PE-1000000007";
    order.order_number = 41;
    order.reference = "made-in-the-cloud";
    order.source = "PANEL";
    order.country_code = "PE";
    order.timezone = "America/Lima";
    order.currency = "PEN";
    order.origin = Origin::kCloud;
    order.created_at = kMade;
    order.status_history = {{.status = Status::kPending, .at = kMade, .by = "cloud"}};
    order.totals = {.subtotal = 2190, .total_discounts = 3, .total = 2187, .total_paid = 100};
    order.combos.push_back({.id = "7f3c2f1e-0000-4000-8000-0000000000c1",
                            .product_name = "Lomo",
                            .quantity = kOneInThousandths,
                            .variant_price = 2190,
                            .combo_price = 2190,
                            .created_at = kMade});
    order.payments.push_back({.id = "7f3c2f1e-0000-4000-8000-0000000000b1",
                              .method = {.id = "m", .code = "cash", .description = "Efectivo"},
                              .amount = 100,
                              .created_at = kMade});
    return order;
  }

  Record Take(Order order) {
    return database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      return Ingest(tx, company::Get(tx, kCompany),
                    {.order = order,
                     .figures = Figures::kTheirs,
                     .actor = "cloud",
                     .public_numbers = {"2000000001", "2000000002"}},
                    stamp);
    });
  }

  Order Stored() {
    return database->Read([](db::Snapshot& snapshot) { return *Select(snapshot, kCompany, kId); });
  }

  events::StoredEvent EventOf(const Record& record) {
    return database->Read([&](db::Snapshot& snapshot) {
      return *events::Find(snapshot, kCompany, *record.event_seq);
    });
  }

  Target Here(std::string actor = "key:till") {
    return {.company = kCompany, .key = std::string(kId), .actor = std::move(actor)};
  }

  template <typename Command, typename... Input>
  Record Do(Command command, const Target& target, const Input&... input) {
    return database->Write(
        [&](db::Tx& tx, const db::Stamp& stamp) { return command(tx, target, input..., stamp); });
  }

  RestaurantDatabase database;
};

TEST_F(OrdersExternalOrder, IsStoredWithTheCloudsFiguresAndOneEvent) {
  const Record record = Take(Sale());
  const Order stored = Stored();
  EXPECT_EQ(stored.totals, Sale().totals);
  EXPECT_EQ(stored.combos, Sale().combos);
  EXPECT_EQ(stored.payments, Sale().payments);
  EXPECT_EQ(stored.public_id, "PE-1000000007");
  EXPECT_EQ(stored.order_number, 41);
  EXPECT_EQ(stored.created_at, kMade);
  EXPECT_EQ(stored.origin, Origin::kCloud);
  EXPECT_EQ(EventOf(record).type, "ORDER_CREATED");
  EXPECT_EQ(EventOf(record).body, Render(stored));
}

TEST_F(OrdersExternalOrder, WritesNothingWhereNothingDiffers) {
  const Record first = Take(Sale());
  const Record again = Take(Sale());
  EXPECT_EQ(again.version, 1);
  EXPECT_EQ(again.json, first.json);
  EXPECT_FALSE(again.event_seq);
}

TEST_F(OrdersExternalOrder, EveryRowMayChangeInTheCloud) {
  Take(Sale());
  Order edited = Sale();
  edited.combos[0].product_name = "Lomo saltado";
  edited.combos.insert(edited.combos.begin(), {.id = "7f3c2f1e-0000-4000-8000-0000000000c2",
                                               .product_name = "Chicha",
                                               .quantity = 2 * kOneInThousandths,
                                               .modifiers = {{.id = "x", .name = "Hielo"}},
                                               .created_at = kMade});
  edited.payments.clear();
  edited.discounts.push_back({.id = "d", .value = 3, .amount = 3, .created_at = kMade});
  edited.comment = "sin ají";
  edited.service_fee_price = 5;
  const Record record = Take(edited);
  const Order stored = Stored();
  EXPECT_EQ(stored.combos, edited.combos);
  EXPECT_TRUE(stored.payments.empty());
  EXPECT_EQ(stored.discounts.size(), 1U);
  EXPECT_EQ(stored.service_fee_price, 5);
  EXPECT_EQ(record.version, 2);
  const std::string changes = EventOf(record).changes;
  for (const char* change : {"combos", "payments", "discounts", "fields"}) {
    EXPECT_NE(changes.find(change), std::string::npos) << changes;
  }
  EXPECT_EQ(changes.find("status"), std::string::npos) << changes;
}

TEST_F(OrdersExternalOrder, AStatusNeverGoesBackAndCancelledIsTheLast) {
  Take(Sale());
  Do(Advance, Here(), Status::kReady);
  EXPECT_FALSE(Take(Sale()).event_seq);
  EXPECT_EQ(Stored().status, Status::kReady);

  Order later = Sale();
  MoveTo(later, Status::kDelivered, kMade + kMinuteMs, "cloud");
  Take(later);
  EXPECT_EQ(Stored().status, Status::kDelivered);
  EXPECT_EQ(Stored().status_history.size(), 4U);

  Order cancelled = Sale();
  MarkCancelled(cancelled, "no vino", kMade + kHourMs, "cloud");
  Take(cancelled);
  EXPECT_EQ(Stored().status, Status::kCancelled);
  EXPECT_EQ(Stored().cancel_reason, "no vino");
  EXPECT_EQ(Stored().closed_at, kMade + kHourMs);
  EXPECT_FALSE(Take(later).event_seq);
  EXPECT_EQ(Stored().status, Status::kCancelled);
}

TEST_F(OrdersExternalOrder, ATillMovesItAndChangesNoFigure) {
  Take(Sale());
  Do(Advance, Here(), Status::kDelivered);
  EXPECT_EQ(Stored().totals, Sale().totals);
  EXPECT_EQ(Stored().status, Status::kDelivered);
  FieldsDraft fields;
  fields.comment = "x";
  try {
    Do(EditFields, Here(), fields);
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.problem, Problem::kOrderNotEditable);
    EXPECT_NE(refusal.detail.find("cloud"), std::string::npos) << refusal.detail;
  }
}

TEST_F(OrdersExternalOrder, WhatIsUnknownHereIsKeptAndShown) {
  Order strange = Sale();
  strange.unknown_status = "EN_CAMINO";
  strange.unknown_members =
      R"({"loyalty":{"combos":[1],"points":7},"foreign_status":"of an older program",)"
      R"("combos_note":"x"})";
  const Record record = Take(strange);
  EXPECT_NE(record.json.find(R"("status":"PENDING","foreign_status":"EN_CAMINO","service_type")"),
            std::string::npos);
  EXPECT_NE(record.json.find(R"("loyalty":{"combos":[1],"points":7},"combos_note":"x","combos":[)"),
            std::string::npos);
  const std::string cut = Cut(record.json, {.combos = false, .payments = false});
  EXPECT_NE(cut.find(R"("points":7},"combos_note":"x","discounts":[])"), std::string::npos) << cut;
  EXPECT_FALSE(Take(strange).event_seq);
  const Record moved = Do(Advance, Here(), Status::kReady);
  EXPECT_NE(moved.json.find(R"("status":"READY","foreign_status":null,"service_type")"),
            std::string::npos);
}

TEST_F(OrdersExternalOrder, APublicIdThatIsTakenIsReplaced) {
  Take(Sale());
  Order other = Sale();
  other.id = "7f3c2f1e-0000-4000-8000-000000000002";
  other.reference = "another";
  const Record record = Take(other);
  EXPECT_NE(record.json.find(R"("public_id":"PE-2000000001")"), std::string::npos);
}

TEST_F(OrdersExternalOrder, OneThatIsGoneIsAnnouncedOnceAndStaysReadable) {
  Take(Sale());
  const auto mark = [&] {
    return database->Write(
        [](db::Tx& tx, const db::Stamp& stamp) { return MarkGone(tx, kCompany, kId, stamp); });
  };
  const auto gone = mark();
  ASSERT_TRUE(gone && gone->event_seq);
  EXPECT_EQ(EventOf(*gone).type, "ORDER_DELETED");
  EXPECT_FALSE(mark()->event_seq);
  EXPECT_TRUE(Stored().gone_at);
  const Record back = Take(Sale());
  EXPECT_TRUE(back.event_seq);
  EXPECT_FALSE(Stored().gone_at);
}

TEST_F(OrdersExternalOrder, TheIdsOfTheCloudLeadToTheOrderHere) {
  const std::string box_id = NewId(kMade);
  database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
    OrderDraft draft;
    Place(tx, company::Get(tx, kCompany), draft,
          {.id = box_id, .public_numbers = {"1000000001"}, .reference = "r", .actor = "key:till"},
          stamp);
    aliases::Put(tx, kCompany,
                 {.kind = aliases::Kind::kOrder,
                  .cloud_id = std::string(kId),
                  .box_id = box_id,
                  .cloud_public_id = "PE-9999999999"});
  });
  database->Read([&](db::Snapshot& snapshot) {
    for (const std::string& key :
         {box_id, std::string(kId), std::string("PE-9999999999"), std::string("PE-1000000001")}) {
      EXPECT_EQ(FindUuid(snapshot, kCompany, key), box_id) << key;
    }
    EXPECT_EQ(FindByReference(snapshot, kCompany, "r"), box_id);
    return 0;
  });
  EXPECT_NE(Do(Advance, Here(), Status::kPreparing).json.find(box_id), std::string::npos);
}

TEST_F(OrdersExternalOrder, WhatOccurredEarlierIsDatedThen) {
  const UtcMs yesterday = kMade - 24 * kHourMs;
  Record record = database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
    OrderDraft draft;
    return Place(tx, company::Get(tx, kCompany), draft,
                 {.id = std::string(kId),
                  .public_numbers = {"1000000001"},
                  .reference = "r",
                  .actor = "key:box",
                  .occurred_at = yesterday},
                 stamp)
        .record;
  });
  Target target = Here("key:box");
  target.occurred_at = yesterday + kMinuteMs;
  Combo dish;
  dish.id = NewId(kMade);
  dish.product_name = "Chicha";
  dish.quantity = kOneInThousandths;
  Do(AddCombos, target, std::vector<Combo>{dish});
  target.occurred_at = yesterday + kHourMs;
  record = Do(Advance, target, Status::kFinalized);
  const Order stored = Stored();
  EXPECT_EQ(stored.created_at, yesterday);
  EXPECT_EQ(stored.combos[0].created_at, yesterday + kMinuteMs);
  EXPECT_EQ(stored.closed_at, yesterday + kHourMs);
  EXPECT_EQ(ReachedAt(stored, Status::kReady), yesterday + kHourMs);
  EXPECT_GT(stored.updated_at, yesterday + kHourMs);
  const std::optional<std::string> first =
      database->Read([&](db::Snapshot& snapshot) { return FirstRecord(snapshot, stored); });
  ASSERT_TRUE(first);
  EXPECT_NE(first->find(R"("combos":[])"), std::string::npos);
}

}  // namespace
}  // namespace comanda::orders
