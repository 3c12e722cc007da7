#include "cloud/orders/record_merge.h"
#include "cloud/orders/went_back.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "aliases/aliases.h"
#include "base/id.h"
#include "cloud/orders/box_made.h"
#include "cloud/orders/journal_store.h"
#include "cloud/link/link.h"
#include "cloud/orders/merge.h"
#include "cloud/orders/pending.h"
#include "company/companies.h"
#include "events/log.h"
#include "json/writer.h"
#include "orders/lifecycle.h"
#include "orders/orders.h"
#include "support/restaurant_database.h"

namespace comanda::cloud {
namespace {

using aliases::Kind;
using orders::DeliveryStatus;
using orders::Order;
using orders::Origin;
using orders::Status;
using testing::kCompany;
using testing::RestaurantDatabase;

constexpr std::string_view kCloudId = "7f3c2f1e-0000-4000-8000-000000000001";
constexpr std::string_view kBoxId = "0190a5c8-1111-7000-8000-000000000001";
constexpr std::string_view kCash = "0190a5c8-0000-7000-8000-000000000001";
constexpr int64_t kMinuteMs = 60'000;
constexpr SendRules kRules{.rider_provider = "theirs"};

// A record of the cloud, put together from its members.
class Record {
 public:
  Record& Set(const std::string& name, const std::string& json) {
    members_[name] = json;
    return *this;
  }
  Record& Status(std::string_view status) { return Set("status", '"' + std::string(status) + '"'); }
  Record& Rider(const std::string& name, UtcMs at = 0) {
    return Set("rider", R"({"provider":"api","name":")" + name + '"' +
                            (at == 0 ? "" : R"(,"assigned_at":")" + FormatInstant(at) + '"') + "}");
  }
  std::string Text() const {
    std::string text = "{";
    for (const auto& [name, json] : members_) {
      if (text.size() > 1) text += ',';
      text += '"' + name + "\":" + json;
    }
    return text + "}";
  }

 private:
  std::map<std::string, std::string> members_ = {
      {"id", '"' + std::string(kCloudId) + '"'},
      {"public_id", R"("PE-9000000001")"},
      {"status", R"("PENDING")"},
      {"service_type", R"("DELIVERY")"},
  };
};

using Kinds = std::vector<StepKind>;

class CloudRecordMerge : public ::testing::Test {
 protected:
  CloudRecordMerge() {
    database->Write([](db::Tx& tx, const db::Stamp&) {
      tx.Run(
          "INSERT INTO payment_method (company_id, id, code, description, service_types,"
          " created_seq) VALUES ($1, $2, 'cash', 'Efectivo', 15, 1)",
          kCompany, kCash);
    });
  }

  // An order of this box with one dish of 20.00.
  void PlaceHere(std::string_view reference = "till-1", std::optional<std::string> comment = {}) {
    database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      orders::OrderDraft draft;
      draft.fields.comment = comment;
      draft.service_type = orders::ServiceType::kDelivery;
      orders::Place(tx, company::Get(tx, kCompany), draft,
                    {.id = std::string(kBoxId),
                     .public_numbers = {"1000000001"},
                     .reference = std::string(reference),
                     .fingerprint = "f",
                     .actor = "key:till"},
                    stamp);
    });
    orders::Combo dish;
    dish.id = "0190a5c8-2222-7000-8000-000000000001";
    dish.product_name = "Lomo";
    dish.quantity = orders::kOneInThousandths;
    dish.variant_price = dish.variant_original_price = dish.combo_price = 2000;
    dish.variant_unit_price = dish.variant_original_unit_price = dish.combo_original_price = 2000;
    Do(orders::AddCombos, std::vector<orders::Combo>{dish});
  }
  void PlaceAndSend() {
    PlaceHere();
    Pair();
    Plan();
    SendAll();
  }
  void Pair() {
    database->Write([](db::Tx& tx, const db::Stamp&) {
      aliases::Put(tx, kCompany,
                   {.kind = Kind::kOrder,
                    .cloud_id = std::string(kCloudId),
                    .box_id = std::string(kBoxId),
                    .cloud_public_id = "PE-9000000001"});
    });
  }
  void Plan() {
    database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      const auto compared = CompareOrder(tx, kCompany, order_id, rules, Makes::kCreation);
      if (compared) StoreCompared(tx, kCompany, *compared, rules, Makes::kCreation, stamp);
    });
  }
  // The next request is in the journal, and its answer has not come.
  Step Ask() {
    Plan();
    return database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      return NextRequest(tx, kCompany, order_id, rules, stamp)->step;
    });
  }
  // The cloud accepts everything that differs, and shows nothing.
  void SendAll() {
    database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      const Order order = *orders::Load(tx, kCompany, order_id);
      while (const auto waiting = NextRequest(tx, kCompany, order_id, rules, stamp)) {
        store::DeleteStep(tx, kCompany, *waiting);
        auto row = *store::FindOrder(tx, kCompany, order_id);
        Accept(row.mirror, waiting->step, order);
        CompareAgain(tx, order, row, rules, Makes::kCreation, stamp);
      }
    });
  }
  std::vector<Step> Remaining() {
    return database->Read([&](db::Snapshot& snapshot) {
      const auto row = store::FindOrder(snapshot, kCompany, order_id);
      return RemainingSteps(snapshot, row.value_or(store::OrderRow{.order_id = order_id}),
                            *orders::Load(snapshot, kCompany, order_id), rules);
    });
  }
  // What would be sent now.
  std::vector<StepKind> Waiting() {
    std::vector<StepKind> kinds;
    for (const Step& step : Remaining()) kinds.push_back(step.kind);
    return kinds;
  }
  std::string FirstBody() { return Remaining().at(0).body; }
  std::vector<StepKind> Planned() {
    Plan();
    return Waiting();
  }
  Mirror MirrorNow() {
    return database->Read([&](db::Snapshot& snapshot) {
      return store::FindOrder(snapshot, kCompany, order_id)->mirror;
    });
  }

  template <typename Command, typename... Input>
  void Do(Command command, const Input&... input) {
    database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      command(tx, {.company = kCompany, .key = order_id, .actor = "key:till"}, input..., stamp);
    });
    database.clock.Advance(1'000);
  }
  void AssignHere(const std::string& name) {
    Do(orders::AssignRider, orders::RiderDraft{.rider = {.provider = "api", .name = name}});
  }
  void ReportHere(DeliveryStatus status) {
    Do(orders::ReportDelivery, orders::DeliveryReport{.status = status});
  }
  void PayHere(const std::string& id, Minor amount) {
    orders::PaymentDraft draft;
    draft.method_code = "cash";
    draft.payment.id = id;
    draft.payment.amount = amount;
    Do(orders::Pay, draft);
  }

  // `answered`: the record is the answer to that request.
  Merged Take(const Record& record, const Step* answered = nullptr) {
    const json::Document document = json::Document::Parse(record.Text());
    const std::vector<std::string> numbers = {"2000000001", "2000000002"};
    const Merged taken = database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      const company::Company company = company::Get(tx, kCompany);
      if (answered) store::DeleteSteps(tx, kCompany, order_id);
      return MergeRecord(tx,
                         {.company = company,
                          .public_numbers = numbers,
                          .rules = rules,
                          .platform_name = "ours",
                          .answered = answered},
                         document.root(), stamp);
    });
    database.clock.Advance(1'000);
    return taken;
  }
  Merged Gone() {
    return database->Write([](db::Tx& tx, const db::Stamp& stamp) {
      return MergeGone(tx, kCompany, kCloudId, stamp);
    });
  }
  bool Finish() {
    return database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      return FinishCancel(tx, kCompany, order_id, rules, stamp);
    });
  }

  Order Here() {
    return database->Read(
        [&](db::Snapshot& snapshot) { return *orders::Load(snapshot, kCompany, order_id); });
  }
  std::string WhyParked() {
    return database->Read(
        [&](db::Snapshot& snapshot) { return store::WhyParked(snapshot, kCompany, order_id); });
  }
  std::vector<Difference> Differences() {
    constexpr int64_t kLimit = 100;
    return database->Read(
        [](db::Snapshot& snapshot) { return store::ListDifferences(snapshot, kCompany, kLimit); });
  }
  int64_t CountOfOrders() {
    return database->Read([](db::Snapshot& snapshot) {
      return snapshot.GetInt("SELECT count(*) FROM orders WHERE company_id = $1", kCompany);
    });
  }
  int64_t Events() {
    return database->Read(
        [](db::Snapshot& snapshot) { return events::ExtentOf(snapshot, kCompany).last; });
  }

  // The record of the order that PlaceHere() makes, as the cloud has it.
  static Record Twin() {
    Record record;
    record.Set("reference", R"("till-1")")
        .Set("combos", R"([{"id":"c1","product_name":"Lomo","quantity":1,"variant_price":20,
                            "combo_price":20}])")
        .Set("payments", "[]")
        .Set("discounts", "[]")
        .Set("total", "20")
        .Set("total_paid", "0");
    return record;
  }

  // The database is a backup, and the cloud may have more than it knows.
  void Restore() {
    database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      NoteRestored(tx, stamp.now, stamp.now);
      events::RaiseEpochs(tx, 7);
      rules.restored_at = stamp.now;
    });
    database.clock.Advance(1'000);
  }

  RestaurantDatabase database;
  SendRules rules = kRules;
  std::string order_id = std::string(kBoxId);
};

// Orders of the cloud

class CloudRecordMergeOfTheCloud : public CloudRecordMerge {
 protected:
  CloudRecordMergeOfTheCloud() { order_id = kCloudId; }
};

TEST_F(CloudRecordMergeOfTheCloud, StoresItWithItsFiguresAndItsAlias) {
  Record record = Twin();
  EXPECT_EQ(Take(record.Set("total", "19.99").Set("source", R"("RAPPI")")), Merged::kWritten);
  const Order order = Here();
  EXPECT_EQ(order.origin, Origin::kCloud);
  EXPECT_EQ(order.totals.total, 1999);
  EXPECT_EQ(order.source, "RAPPI");
  EXPECT_EQ(order.public_id, "PE-9000000001");
  database->Read([&](db::Snapshot& snapshot) {
    const auto alias = aliases::FindByBoxId(snapshot, kCompany, Kind::kOrder, kCloudId);
    EXPECT_TRUE(alias && alias->cloud_id == kCloudId);
    EXPECT_EQ(alias->cloud_public_id, "PE-9000000001");
    return 0;
  });
  EXPECT_EQ(Planned(), std::vector<StepKind>{}) << "nothing is sent back";
}

TEST_F(CloudRecordMergeOfTheCloud, TheSameRecordWritesNothing) {
  const Record record = Twin();  // shows no dates at all
  Take(record);
  const int64_t events = Events();
  EXPECT_EQ(Take(record), Merged::kUnchanged);
  EXPECT_EQ(Take(record), Merged::kUnchanged);
  EXPECT_EQ(Events(), events);
}

TEST_F(CloudRecordMergeOfTheCloud, ARecordWithoutItsRowsLeavesThem) {
  Take(Twin());
  Record short_record;
  short_record.Set("total", "20").Set("reference", R"("till-1")");
  EXPECT_EQ(Take(short_record.Status("PREPARING")), Merged::kWritten);
  EXPECT_EQ(Here().combos.size(), 1U);
  EXPECT_EQ(Here().status, Status::kPreparing);
}

TEST_F(CloudRecordMergeOfTheCloud, AnItemWithoutANameIsThatOfTheProductHere) {
  constexpr const char* kProduct = "0190a5c8-5555-7000-8000-000000000001";
  database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
    tx.Run("INSERT INTO station (company_id, id, name) VALUES ($1, 'k', 'Parrilla')", kCompany);
    tx.Run(
        "INSERT INTO category (company_id, id, name, slug, position) "
        "VALUES ($1, 'c', 'Fondos', 'fondos', 0)",
        kCompany);
    tx.Run(
        "INSERT INTO product (company_id, id, category_id, name, slug, position, kitchen_id, "
        "created_at, updated_at) VALUES ($1, $2, 'c', 'Lomo', 'lomo', 0, 'k', $3, $3)",
        kCompany, kProduct, stamp.now);
    aliases::Put(tx, kCompany,
                 {.kind = Kind::kProduct,
                  .cloud_id = "p-1",
                  .box_id = kProduct,
                  .cloud_public_id = std::nullopt});
  });
  const Record record =
      Twin().Set("combos", R"([{"id":"c1","product_id":"p-1","quantity":1,"variant_price":20}])");
  Take(record);
  EXPECT_EQ(Here().combos[0].product_name, "Lomo");
  EXPECT_EQ(Here().combos[0].kitchen_id, "k");
  database->Write([](db::Tx& tx, const db::Stamp&) {
    tx.Run("UPDATE product SET name = 'Lomo fino', kitchen_id = NULL WHERE company_id = $1",
           kCompany);
  });
  EXPECT_EQ(Take(record), Merged::kUnchanged);
}

TEST_F(CloudRecordMergeOfTheCloud, AnUnknownStatusIsKeptAndShown) {
  Take(Twin().Status("EN_CAMINO"));
  EXPECT_EQ(Here().unknown_status, "EN_CAMINO");
  EXPECT_EQ(Take(Twin().Status("EN_CAMINO")), Merged::kUnchanged);
  Take(Twin().Status("READY"));
  EXPECT_FALSE(Here().unknown_status);
  EXPECT_EQ(Here().status, Status::kReady);
}

TEST_F(CloudRecordMergeOfTheCloud, WhatATillMovedIsSentAndNotTakenBack) {
  Take(Twin().Set("rider", "null").Set("delivery_status", "null"));
  Do(orders::Advance, Status::kReady);
  AssignHere("Ana");
  Take(Twin().Set("rider", "null").Set("delivery_status", "null").Status("PREPARING"));
  EXPECT_EQ(Here().status, Status::kReady);
  EXPECT_EQ(Here().rider->name, "Ana");
  EXPECT_EQ(Here().delivery_status, DeliveryStatus::kRiderAssigned);
  EXPECT_EQ(Waiting(), (std::vector<StepKind>{StepKind::kStatus, StepKind::kRider}));
}

TEST_F(CloudRecordMergeOfTheCloud, ANewRiderOfTheCloudIsTaken) {
  Take(Twin().Rider("Ana").Set("delivery_status", R"("RIDER_ASSIGNED")"));
  EXPECT_EQ(Here().rider->name, "Ana");
  Take(Twin().Rider("Luz").Set("delivery_status", R"("DRIVER_ARRIVED_AT_STORE")"));
  EXPECT_EQ(Here().rider->name, "Luz");
  EXPECT_EQ(Here().delivery_status, DeliveryStatus::kArrivedAtStore);
  Take(Twin().Set("rider", "null"));
  EXPECT_FALSE(Here().rider);
  EXPECT_EQ(Planned(), std::vector<StepKind>{});
}

TEST_F(CloudRecordMergeOfTheCloud, IdsThatAreNoUuidAreDerived) {
  Take(Twin().Set("id", R"("o/17")").Set("public_id", R"("R-17")"));
  database->Read([&](db::Snapshot& snapshot) {
    const auto id = aliases::FindBoxId(snapshot, kCompany, Kind::kOrder, "o/17");
    EXPECT_TRUE(id && ParseId(*id));
    EXPECT_EQ(orders::Load(snapshot, kCompany, *id)->public_id, "PE-2000000001");
    return 0;
  });
  EXPECT_EQ(Take(Twin().Set("id", R"("o/17")").Set("public_id", R"("R-17")")), Merged::kUnchanged);
}

TEST_F(CloudRecordMergeOfTheCloud, TheIdOfAnOrderOfThisBoxIsNotTakenOver) {
  order_id = kBoxId;
  PlaceHere();
  Take(Record().Set("id", '"' + std::string(kBoxId) + '"').Set("reference", R"("other")"));
  EXPECT_EQ(CountOfOrders(), 2);
  EXPECT_EQ(Here().origin, Origin::kBox);
}

TEST_F(CloudRecordMergeOfTheCloud, OneThatIsGoneStaysReadable) {
  Take(Twin());
  EXPECT_EQ(Gone(), Merged::kWritten);
  EXPECT_EQ(Gone(), Merged::kUnchanged);
  EXPECT_TRUE(Here().gone_at);
  EXPECT_EQ(Take(Twin()), Merged::kWritten);
  EXPECT_FALSE(Here().gone_at);
}

TEST_F(CloudRecordMergeOfTheCloud, OneThatTheCloudMayHaveLostStaysAsItIsAndIsNamedOnce) {
  Take(Twin().Status("READY"));
  for (int i = 0; i < 2; ++i) {
    database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      ReadAgain(tx, kCompany, order_id, rules, stamp);
    });
  }
  EXPECT_EQ(Here().status, Status::kReady);
  EXPECT_EQ(Waiting(), Kinds());
  ASSERT_EQ(Differences().size(), 1);
  EXPECT_EQ(Differences().front().box, "READY");
}

TEST_F(CloudRecordMergeOfTheCloud, ACancelDropsWhatATillMoved) {
  Take(Twin());
  Do(orders::Advance, Status::kReady);
  EXPECT_EQ(Planned(), std::vector<StepKind>{StepKind::kStatus});
  Take(Twin().Status("CANCELLED").Set("cancel_reason", R"("no vino")"));
  EXPECT_EQ(Here().status, Status::kCancelled);
  EXPECT_EQ(Here().cancel_reason, "no vino");
  EXPECT_EQ(Waiting(), std::vector<StepKind>{});
  ASSERT_EQ(Differences().size(), 1U);
  EXPECT_EQ(Differences()[0].kind, DifferenceKind::kStatus);
}

TEST_F(CloudRecordMergeOfTheCloud, WhatCannotBeReadChangesNothing) {
  EXPECT_EQ(Take(Twin().Set("total", "1.005")), Merged::kUnreadable);
  EXPECT_EQ(Take(Twin().Set("status", "[]")), Merged::kUnreadable);
  std::string large = "\"" + std::string(600'000, 'x') + "\"";
  EXPECT_EQ(Take(Twin().Set("note", large)), Merged::kUnreadable);
  EXPECT_EQ(CountOfOrders(), 0);
}

TEST_F(CloudRecordMergeOfTheCloud, TwoOrdersWithOneReferenceAreTwo) {
  Take(Twin());
  Take(Twin().Set("id", R"("o-2")").Set("public_id", R"("PE-9000000002")"));
  EXPECT_EQ(CountOfOrders(), 2);
  EXPECT_EQ(Here().reference, "till-1");
}

TEST_F(CloudRecordMergeOfTheCloud, APublicIdIsNotStolen) {
  Take(Twin());
  Take(Record().Set("id", R"("o-2")"));
  database->Read([&](db::Snapshot& snapshot) {
    EXPECT_EQ(aliases::FindByPublicId(snapshot, kCompany, "PE-9000000001"), kCloudId);
    return 0;
  });
}

// Orders of this box

TEST_F(CloudRecordMerge, AnUnknownOrderWithOurReferenceIsPaired) {
  PlaceHere();
  EXPECT_EQ(Take(Twin()), Merged::kUnchanged);
  EXPECT_EQ(CountOfOrders(), 1);
  EXPECT_EQ(Here().origin, Origin::kBox);
  database->Read([&](db::Snapshot& snapshot) {
    EXPECT_EQ(aliases::FindBoxId(snapshot, kCompany, Kind::kOrder, kCloudId), kBoxId);
    return 0;
  });
  EXPECT_EQ(Planned(), std::vector<StepKind>{}) << "the cloud has the order and its row already";
}

TEST_F(CloudRecordMerge, ACreationThatWaitsIsSentAllTheSame) {
  PlaceHere();
  const Step place = Ask();
  Take(Twin());
  EXPECT_EQ(Waiting(), std::vector<StepKind>{StepKind::kPlace})
      << "the cloud has the row already, and the creation has no answer yet";
  Take(Twin(), &place);
  EXPECT_EQ(Waiting(), std::vector<StepKind>{});
}

TEST_F(CloudRecordMerge, ACommentThatTheCloudDoesNotShowIsNotSentTwice) {
  PlaceHere("till-1", "sin cebolla");
  const Step place = Ask();
  Take(Twin().Set("comment", "null"));
  EXPECT_EQ(Waiting(), std::vector<StepKind>{StepKind::kPlace}) << "paired before its answer";
  Take(Twin().Set("comment", "null"), &place);
  EXPECT_EQ(Waiting(), std::vector<StepKind>{});
}

TEST_F(CloudRecordMerge, RowsOfARequestUnderWayGetTheirIdsFromItsAnswer) {
  PlaceHere();
  Pair();
  const Step place = Ask();
  Take(Twin().Set("combos", "[]").Set("total", "0"), &place);
  const Step combos = Ask();
  ASSERT_EQ(combos.kind, StepKind::kCombos);
  Take(Twin());
  EXPECT_TRUE(MirrorNow().combos.empty());
  Take(Twin(), &combos);
  EXPECT_EQ(MirrorNow().combos.begin()->second.cloud_id, "c1");
}

TEST_F(CloudRecordMerge, ARowOfARequestUnderWayIsNoEqualRowThatWaits) {
  PlaceAndSend();
  Take(Twin());
  PayHere("0190a5c8-3333-7000-8000-000000000001", 500);
  PayHere("0190a5c8-3333-7000-8000-000000000002", 500);
  const Step first = Ask();
  ASSERT_EQ(first.kind, StepKind::kPayment);
  const Record paid =
      Twin()
          .Set("total_paid", "5")
          .Set("payments",
               R"([{"id":"p1","payment_method":{"code":"cash"},"amount":5,"tip_amount":0}])");
  Take(paid);
  EXPECT_TRUE(MirrorNow().payments.empty());
  Take(paid, &first);
  EXPECT_EQ(MirrorNow().payments.size(), 1U);
  EXPECT_EQ(Waiting(), std::vector<StepKind>{StepKind::kPayment})
      << "the second is still to be sent";
}

TEST_F(CloudRecordMerge, AStatusMovesOnlyForward) {
  PlaceAndSend();
  EXPECT_EQ(Take(Twin().Status("READY")), Merged::kWritten);
  EXPECT_EQ(Here().status, Status::kReady);
  EXPECT_EQ(Here().status_history.back().by, "cloud");
  EXPECT_EQ(Planned(), std::vector<StepKind>{});
  EXPECT_EQ(Take(Twin().Status("PREPARING")), Merged::kUnchanged);
  EXPECT_EQ(Here().status, Status::kReady);
  Take(Twin().Status("FINALIZED"));
  EXPECT_EQ(Here().status, Status::kFinalized);
  EXPECT_EQ(Planned(), std::vector<StepKind>{});
}

TEST_F(CloudRecordMerge, WhatTheCloudChangesOfAnOrderOfTheBoxIsNotTaken) {
  PlaceAndSend();
  EXPECT_EQ(Take(Twin().Set("comment", R"("more")").Set("delivery_price", "5").Set("total", "25")),
            Merged::kUnchanged);
  EXPECT_FALSE(Here().comment);
  EXPECT_EQ(Here().totals.total, 2000);
}

TEST_F(CloudRecordMerge, EachMemberThatDiffersIsADifferenceUntilItIsEqual) {
  PlaceAndSend();
  Take(Twin().Set("order_title", R"("Mesa 5")").Set("packaging_price", "1.5"));
  std::map<std::string, std::string> found;
  for (const Difference& one : Differences())
    found[std::string(Name(one.kind))] = one.box + " | " + one.cloud;
  EXPECT_EQ(found, (std::map<std::string, std::string>{{"order_title", " | Mesa 5"},
                                                       {"packaging_price", "0 | 1.5"}}));
  Take(Twin().Set("order_title", "null").Set("packaging_price", "0"));
  EXPECT_TRUE(Differences().empty());
}

TEST_F(CloudRecordMerge, OtherTotalsAreOneDifferenceUntilTheyAreEqual) {
  PlaceAndSend();
  Take(Twin().Set("total", "20.01"));
  ASSERT_EQ(Differences().size(), 1U);
  EXPECT_EQ(Differences()[0].kind, DifferenceKind::kTotals);
  EXPECT_EQ(Differences()[0].box, "total 20, paid 0");
  EXPECT_EQ(Differences()[0].cloud, "total 20.01, paid 0");
  Take(Twin().Set("total", "20.02"));
  ASSERT_EQ(Differences().size(), 1U);
  EXPECT_EQ(Differences()[0].cloud, "total 20.02, paid 0");
  Take(Twin());
  EXPECT_TRUE(Differences().empty());
}

TEST_F(CloudRecordMerge, TotalsAreComparedOnceAllIsSent) {
  PlaceHere();
  Pair();
  Plan();
  Take(Twin().Set("total", "0").Set("combos", "[]"));
  EXPECT_TRUE(Differences().empty()) << "steps wait";
  SendAll();
  PayHere("0190a5c8-3333-7000-8000-000000000001", 500);
  Take(Twin());
  EXPECT_TRUE(Differences().empty()) << "a change is not planned yet";
}

TEST_F(CloudRecordMerge, AnotherBusinessDayIsCountedOncePerOrder) {
  PlaceAndSend();
  const UtcMs made = Here().created_at;
  const std::string later = '"' + FormatInstant(made + 24 * 60 * kMinuteMs) + '"';
  Take(Twin().Set("created_at", later));
  Take(Twin().Set("created_at", later).Status("READY"));
  ASSERT_EQ(Differences().size(), 1U);
  EXPECT_EQ(Differences()[0].kind, DifferenceKind::kDate);
  EXPECT_EQ(Differences()[0].detail, "1 order");
  EXPECT_EQ(Differences()[0].order_id, "");
}

TEST_F(CloudRecordMerge, TheSameBusinessDayIsNoDifference) {
  PlaceAndSend();
  Take(Twin().Set("created_at", '"' + FormatInstant(Here().created_at + kMinuteMs) + '"'));
  EXPECT_TRUE(Differences().empty());
}

TEST_F(CloudRecordMerge, AnOlderVersionChangesNothing) {
  PlaceAndSend();
  Take(Twin().Set("version", "7").Rider("Luz"));
  EXPECT_EQ(Take(Twin().Set("version", "6").Set("rider", "null").Status("READY")),
            Merged::kUnchanged);
  EXPECT_EQ(Here().rider->name, "Luz");
  EXPECT_EQ(Here().status, Status::kPending);
}

TEST_F(CloudRecordMerge, ACloudThatWasRestoredCountsFromItsBackup) {
  PlaceAndSend();
  const UtcMs now = database.clock.Now();
  Take(Twin().Set("version", "7").Set("updated_at", '"' + FormatInstant(now) + '"'));
  Take(Twin()
           .Set("version", "3")
           .Set("updated_at", '"' + FormatInstant(now + kMinuteMs) + '"')
           .Status("READY"));
  EXPECT_EQ(Here().status, Status::kReady);
}

// A cloud that went back

TEST_F(CloudRecordMerge, WhatACloudThatWentBackHasLostOfAnOrderIsSentAgain) {
  PlaceAndSend();
  const std::string before = FormatInstant(database.clock.Now());
  PayHere("0190a5c8-3333-7000-8000-000000000001", 2000);
  const Step payment = Ask();
  const auto at = [](Record record, std::string_view version, const std::string& updated_at) {
    record.Set("version", std::string(version)).Set("updated_at", '"' + updated_at + '"');
    return record;
  };
  Record paid = Twin();
  paid.Set("payments", R"([{"id":"p1","amount":20,"payment_method":{"code":"cash"}}])");
  Take(at(paid, "7", FormatInstant(database.clock.Now())), &payment);
  ASSERT_EQ(Waiting(), Kinds());

  Take(at(Twin(), "6", before));
  EXPECT_EQ(Waiting(), Kinds()) << "an old event says nothing of what the cloud has now";
  rules.went_back_at = database.clock.Now();
  Take(at(Twin(), "6", before));
  EXPECT_EQ(Waiting(), Kinds{StepKind::kPayment});
  EXPECT_NE(Remaining().at(0).position, payment.position);
  Take(at(Twin(), "6", before));
  EXPECT_EQ(Waiting(), Kinds{StepKind::kPayment});
}

TEST_F(CloudRecordMerge, AfterTheCloudWentBackAnOrderIsReadBeforeAnythingOfItIsSent) {
  PlaceAndSend();
  PayHere("0190a5c8-3333-7000-8000-000000000001", 2000);
  rules.went_back_at = database.clock.Now();
  EXPECT_EQ(Ask().kind, StepKind::kRead);
  Take(Twin());
  EXPECT_EQ(Ask().kind, StepKind::kPayment) << "the cloud has shown it since";
  rules.went_back_at = database.clock.Now();
  EXPECT_EQ(Ask().kind, StepKind::kRead) << "it went back once more";
}

TEST_F(CloudRecordMerge, AnOldOrderThatWasChangedLatelyIsComparedToo) {
  constexpr UtcMs kDayMs = 24LL * 60 * kMinuteMs;
  PlaceAndSend();
  const auto sent = [&] {
    return database->Read(
        [&](db::Snapshot& snapshot) { return FindSent(snapshot, kCompany, database.clock.Now()); });
  };
  database.clock.Advance(100 * kDayMs);
  EXPECT_TRUE(sent().empty());
  PayHere("0190a5c8-3333-7000-8000-000000000001", 2000);
  EXPECT_EQ(sent(), std::vector<std::string>{order_id});
}

TEST_F(CloudRecordMerge, WhatACancelThatWasLostWithItKeepsFromBeingSentIsTold) {
  PlaceAndSend();
  PayHere("0190a5c8-3333-7000-8000-000000000001", 2000);
  SendAll();
  Take(Twin()
           .Set("version", "7")
           .Set("payments", R"([{"id":"p1","amount":20,"payment_method":{"code":"cash"}}])"));
  rules.went_back_at = database.clock.Now();
  Do(orders::CancelPayment, std::string("0190a5c8-3333-7000-8000-000000000001"));
  Take(Twin().Set("version", "6").Status("CANCELLED"));
  const std::vector<Difference> told = Differences();
  const auto lost = std::ranges::find(told, DifferenceKind::kStatus, &Difference::kind);
  ASSERT_NE(lost, told.end());
  EXPECT_EQ(lost->box, "payment, cancel_payment");
}

TEST_F(CloudRecordMerge, AnOrderThatTheCloudHasLostIsReadAndPlacedAgain) {
  PlaceAndSend();
  const int64_t position = MirrorNow().last_position;
  const auto in_doubt = [&] {
    database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      ReadAgain(tx, kCompany, order_id, rules, stamp);
    });
  };
  in_doubt();
  EXPECT_EQ(Ask().kind, StepKind::kRead);
  EXPECT_EQ(Gone(), Merged::kUnchanged) << "it is not parked";
  Take(Twin());
  EXPECT_EQ(Planned(), Kinds()) << "the cloud has all of it";

  in_doubt();
  const bool is_placed = database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
    return PlaceAgain(tx, kCompany, order_id, rules, stamp);
  });
  EXPECT_TRUE(is_placed);
  EXPECT_EQ(Waiting(), (Kinds{StepKind::kPlace, StepKind::kCombos}));
  EXPECT_GT(Remaining().at(0).position, position) << "a key is used once";
}

// Riders

TEST_F(CloudRecordMerge, ARiderOfTheCloudIsTakenAndNotSentBack) {
  PlaceAndSend();
  EXPECT_EQ(Take(Twin().Rider("Ana")), Merged::kWritten);
  EXPECT_EQ(Here().rider->name, "Ana");
  EXPECT_EQ(Planned(), std::vector<StepKind>{});
  Take(Twin().Set("rider", "null"));
  EXPECT_FALSE(Here().rider);
  EXPECT_EQ(Planned(), std::vector<StepKind>{});
}

TEST_F(CloudRecordMerge, TheOldStateOfTheCloudIsNoChange) {
  PlaceAndSend();
  Take(Twin().Set("rider", "null"));
  AssignHere("Ana");
  EXPECT_EQ(Take(Twin().Set("rider", "null")), Merged::kUnchanged) << "not planned yet";
  Plan();
  EXPECT_EQ(Take(Twin().Set("rider", "null")), Merged::kUnchanged) << "not sent yet";
  SendAll();
  EXPECT_EQ(Take(Twin().Rider("Ana")), Merged::kUnchanged) << "the answer";
  EXPECT_EQ(Here().rider->name, "Ana");
  EXPECT_EQ(Planned(), std::vector<StepKind>{});
}

TEST_F(CloudRecordMerge, TheLaterRiderWins) {
  PlaceAndSend();
  Take(Twin().Set("rider", "null"));
  AssignHere("Ana");
  Plan();
  const UtcMs here_at = Here().rider->assigned_at;
  Take(Twin().Rider("Luz", here_at - kMinuteMs));
  EXPECT_EQ(Here().rider->name, "Ana") << "the cloud's is earlier, and will be overwritten";
  Take(Twin().Rider("Eva", here_at + kMinuteMs));
  EXPECT_EQ(Here().rider->name, "Eva");
  EXPECT_EQ(Waiting(), std::vector<StepKind>{}) << "the cloud has Eva";
}

TEST_F(CloudRecordMerge, AnEarlierRiderOfTheCloudIsOverwritten) {
  PlaceAndSend();
  AssignHere("Ana");
  Plan();
  SendAll();
  Take(Twin().Rider("Ana"));
  AssignHere("Luz");  // not planned yet
  Take(Twin().Rider("Eva", Here().rider->assigned_at - kMinuteMs));
  EXPECT_EQ(Here().rider->name, "Luz");
  EXPECT_EQ(Planned(), std::vector<StepKind>{StepKind::kRider});
}

TEST_F(CloudRecordMerge, ARiderWhoIsNoRiderHereIsShownAsAnExternalOne) {
  PlaceAndSend();
  database->Write([](db::Tx& tx, const db::Stamp&) {
    aliases::Put(tx, kCompany,
                 {.kind = Kind::kUser,
                  .cloud_id = "u-1",
                  .box_id = "0190a5c8-4444-7000-8000-000000000001",
                  .cloud_public_id = std::nullopt});
  });
  Take(Twin().Set("rider", R"({"provider":"theirs","user_id":"u-1","name":"Ana"})"));
  EXPECT_EQ(Here().rider->provider, "api");
  EXPECT_EQ(Here().rider->name, "Ana");
  EXPECT_EQ(Planned(), std::vector<StepKind>{});
}

TEST_F(CloudRecordMerge, ARecordWithoutARiderSaysNothingOfIt) {
  PlaceAndSend();
  AssignHere("Ana");
  Take(Twin().Status("READY"));
  EXPECT_EQ(Here().rider->name, "Ana");
}

// Delivery

TEST_F(CloudRecordMerge, ADeliveryStatusFollowsItsOrder) {
  PlaceAndSend();
  Take(Twin().Status("READY").Set("delivery_status", R"("DRIVER_ON_THE_WAY_TO_DESTINATION")"));
  EXPECT_EQ(Here().delivery_status, DeliveryStatus::kOnTheWay);
  EXPECT_EQ(Take(Twin().Status("READY").Set("delivery_status", R"("DRIVER_ARRIVED_AT_STORE")")),
            Merged::kUnchanged);
  Take(Twin()
           .Status("READY")
           .Set("delivery_status", R"("NOT_DELIVERED")")
           .Set("delivery_status_reason", R"("nobody there")"));
  EXPECT_EQ(Here().delivery_status, DeliveryStatus::kNotDelivered);
  EXPECT_EQ(Here().delivery_status_reason, "nobody there");
  EXPECT_EQ(Planned(), std::vector<StepKind>{});
}

TEST_F(CloudRecordMerge, NotDeliveredIsReachedFromAnywhereThroughAMiddleStatus) {
  PlaceAndSend();
  Take(Twin().Status("READY").Set("delivery_status", R"("NOT_DELIVERED")"));
  EXPECT_EQ(Here().delivery_status, DeliveryStatus::kNotDelivered);
  EXPECT_EQ(Planned(), std::vector<StepKind>{});
}

TEST_F(CloudRecordMerge, DeliveredThereAndNotHereIsADifference) {
  PlaceAndSend();
  ReportHere(DeliveryStatus::kOnTheWay);
  ReportHere(DeliveryStatus::kNotDelivered);
  Plan();
  SendAll();
  Take(Twin().Status("DELIVERED").Set("delivery_status", R"("DELIVERED")"));
  EXPECT_EQ(Here().delivery_status, DeliveryStatus::kNotDelivered);
  ASSERT_EQ(Differences().size(), 1U);
  EXPECT_EQ(Differences()[0].box, "NOT_DELIVERED");
  EXPECT_EQ(Differences()[0].cloud, "DELIVERED");
}

TEST(CloudMerge, ATableOfDeliveries) {
  using enum DeliveryStatus;
  using enum DeliveryChoice;
  struct Case {
    std::optional<DeliveryStatus> here, there, before;
    std::optional<std::string> shown;
    bool has_changed_rider;
    DeliveryChoice choice;
  };
  for (const Case& row : std::initializer_list<Case>{
           {std::nullopt, kRiderAssigned, std::nullopt, "", false, kTake},
           {kRiderAssigned, kOnTheWay, kRiderAssigned, "RIDER_ASSIGNED", false, kTake},
           {kOnTheWay, kRiderAssigned, kOnTheWay, "RIDER_ASSIGNED", false, kKeep},
           {kOnTheWay, kArrivedAtStore, kOnTheWay, "RIDER_ASSIGNED", false, kKeep},
           {kNotDelivered, kOnTheWay, kArrivedAtStore, "DRIVER_ARRIVED_AT_STORE", false, kKeep},
           {kNotDelivered, kOnTheWay, kNotDelivered, "NOT_DELIVERED", false, kTake},
           {std::nullopt, kNotDelivered, std::nullopt, "", false, kTakeVia},
           {kDelivered, kNotDelivered, kDelivered, "RIDER_ASSIGNED", false, kKeep},
           {kNotDelivered, kDelivered, kNotDelivered, "NOT_DELIVERED", false, kConflict},
           {kRiderAssigned, std::nullopt, kRiderAssigned, "RIDER_ASSIGNED", false, kTake},
           {kRiderAssigned, std::nullopt, kRiderAssigned, "RIDER_ASSIGNED", true, kKeep},
           {kOnTheWay, std::nullopt, kOnTheWay, "RIDER_ASSIGNED", false, kKeep},
           {kOnTheWay, kDelivered, kDelivered, "RIDER_ASSIGNED", false, kKeep}}) {
    const Mirror before{.delivery_status = row.before, .shown = {.delivery_status = row.shown}};
    const DeliverySides sides{.here = row.here,
                              .there = row.there,
                              .before = before,
                              .requested = before,
                              .here_by_rider = true,
                              .has_changed_rider = row.has_changed_rider};
    EXPECT_EQ(ChooseDelivery(sides), row.choice) << (row.here ? Name(*row.here) : "none") << " and "
                                                 << (row.there ? Name(*row.there) : "none");
  }
}

TEST_F(CloudRecordMerge, ADeliveryThatAnAnswerShowsIsTakenUnlessTheStepHasMadeIt) {
  PlaceAndSend();
  AssignHere("Ana");
  Plan();
  SendAll();
  const Step rider{.kind = StepKind::kRider, .body = MirrorNow().rider};
  Take(Twin().Rider("Ana").Set("delivery_status", R"("DRIVER_ARRIVED_AT_DESTINATION")"), &rider);
  EXPECT_EQ(Here().delivery_status, DeliveryStatus::kArrivedAtDestination);

  const Step report{.kind = StepKind::kDelivery, .body = R"({"delivery_status":"NOT_DELIVERED"})"};
  Do(orders::ReportDelivery, orders::DeliveryReport{.status = DeliveryStatus::kNotDelivered});
  Do(orders::ReportDelivery, orders::DeliveryReport{.status = DeliveryStatus::kOnTheWay});
  Plan();
  Take(Twin().Rider("Ana").Set("delivery_status", R"("NOT_DELIVERED")"), &report);
  EXPECT_EQ(Here().delivery_status, DeliveryStatus::kOnTheWay);
  Take(Twin().Rider("Ana").Set("delivery_status", R"("DELIVERED")"), &report);
  EXPECT_EQ(Here().delivery_status, DeliveryStatus::kDelivered);
}

// Cancel

TEST_F(CloudRecordMerge, CancelledWinsAndNothingIsSentBack) {
  PlaceAndSend();
  EXPECT_EQ(Take(Twin().Status("CANCELLED").Set("cancel_reason", R"("no vino")")),
            Merged::kWritten);
  EXPECT_EQ(Here().status, Status::kCancelled);
  EXPECT_EQ(Here().cancel_reason, "no vino");
  EXPECT_EQ(Planned(), std::vector<StepKind>{});
  EXPECT_EQ(Take(Twin().Status("CANCELLED")), Merged::kUnchanged);
}

TEST_F(CloudRecordMerge, ACancelDropsWhatWaits) {
  PlaceHere();
  Pair();
  Plan();
  Take(Twin().Status("CANCELLED"));
  EXPECT_EQ(Here().status, Status::kCancelled);
  EXPECT_EQ(Waiting(), std::vector<StepKind>{});
  ASSERT_EQ(Differences().size(), 1U);
  EXPECT_EQ(Differences()[0].kind, DifferenceKind::kStatus);
  EXPECT_EQ(Differences()[0].box, "place") << "the cloud has the row";
}

TEST_F(CloudRecordMerge, ACancelDropsNoCommentThatComesAlone) {
  PlaceAndSend();
  orders::FieldsDraft fields;
  fields.comment = "para llevar";
  fields.order_title.emplace("Ana");
  Do(orders::EditFields, fields);
  Plan();
  Do(orders::Cancel, std::string_view("se fue"));
  Plan();
  Do(orders::EditFields, orders::FieldsDraft{.comment = "vuelve el lunes"});
  Plan();
  EXPECT_EQ(Waiting(), (std::vector<StepKind>{StepKind::kFields, StepKind::kCancel}));

  Take(Twin().Status("CANCELLED"));
  EXPECT_EQ(Waiting(), std::vector<StepKind>{StepKind::kFields});
  EXPECT_EQ(FirstBody(), R"({"comment":"para llevar\nvuelve el lunes"})");
  ASSERT_EQ(Differences().size(), 1U);
  EXPECT_EQ(Differences()[0].box, "fields") << "the title and what was written with it";
}

TEST_F(CloudRecordMerge, ACancelDoesNotGoOverPaymentsHere) {
  PlaceAndSend();
  PayHere("0190a5c8-3333-7000-8000-000000000001", 2000);
  Plan();
  const Record cancelled = Twin().Status("CANCELLED").Set("cancel_reason", R"("no vino")");
  EXPECT_EQ(Take(cancelled), Merged::kParked);
  EXPECT_EQ(Take(cancelled), Merged::kParked);
  EXPECT_EQ(Here().status, Status::kPending);
  EXPECT_EQ(WhyParked(), kCancelledButPaid);
  EXPECT_FALSE(Finish()) << "the payment is active";

  Do(orders::CancelPayment, "0190a5c8-3333-7000-8000-000000000001");
  EXPECT_TRUE(Finish());
  EXPECT_EQ(Here().status, Status::kCancelled);
  EXPECT_EQ(Here().cancel_reason, "no vino");
  EXPECT_EQ(WhyParked(), "");
  EXPECT_EQ(Planned(), std::vector<StepKind>{});
  ASSERT_FALSE(Differences().empty());
  EXPECT_EQ(Differences()[0].kind, DifferenceKind::kStatus);
  EXPECT_EQ(Differences()[0].box, "payment, cancel_payment");
  EXPECT_FALSE(Finish());
}

TEST_F(CloudRecordMerge, TheNextReadingEndsTheCancelToo) {
  PlaceAndSend();
  PayHere("0190a5c8-3333-7000-8000-000000000001", 2000);
  Take(Twin().Status("CANCELLED"));
  Do(orders::CancelPayment, "0190a5c8-3333-7000-8000-000000000001");
  EXPECT_EQ(Take(Twin().Status("CANCELLED")), Merged::kWritten);
  EXPECT_EQ(WhyParked(), "");
  EXPECT_EQ(Planned(), std::vector<StepKind>{});
}

TEST_F(CloudRecordMerge, AnOrderThatIsNotParkedHasNoCancelToFinish) {
  PlaceAndSend();
  EXPECT_FALSE(Finish());
  EXPECT_EQ(Here().status, Status::kPending);
}

TEST_F(CloudRecordMerge, OneOfThisBoxThatIsGoneIsParkedUntilItIsBack) {
  PlaceAndSend();
  EXPECT_EQ(Gone(), Merged::kParked);
  EXPECT_EQ(WhyParked(), kParkedGone);
  EXPECT_EQ(Gone(), Merged::kUnchanged);
  Take(Twin());
  EXPECT_EQ(WhyParked(), "");
}

TEST_F(CloudRecordMerge, AnUnknownOrderThatIsGoneIsNothing) {
  EXPECT_EQ(Gone(), Merged::kUnchanged);
}

// The same order

TEST_F(CloudRecordMerge, AnOrderIsTheSameIfEachOfItsRowsIsHere) {
  PlaceHere();
  const auto matches = [&](const Record& record) {
    const json::Document document = json::Document::Parse(record.Text());
    return database->Read([&](db::Snapshot& snapshot) {
      return MatchesWholly(snapshot, company::Get(snapshot, kCompany),
                           *orders::Load(snapshot, kCompany, kBoxId), document.root());
    });
  };
  EXPECT_TRUE(matches(Twin()));
  EXPECT_TRUE(matches(Twin().Set("combos", "[]")));
  EXPECT_FALSE(matches(Twin().Set("service_type", R"("ONSITE")")));
  EXPECT_FALSE(matches(Twin().Set("combos", R"([{"product_name":"Pollo","variant_price":20}])")));
  EXPECT_FALSE(matches(Twin().Set("payments", R"([{"amount":20}])")));
  EXPECT_FALSE(matches(Twin().Set("total", "-1")));
}

// A restored box

constexpr std::string_view kTwoDishesPaid =
    R"([{"id":"c1","product_name":"Lomo","quantity":1,"variant_price":20,"combo_price":20},
        {"id":"c2","product_name":"Ceviche","quantity":1,"variant_price":30,"combo_price":30}])";

TEST_F(CloudRecordMerge, ARestoredOrderHasBackWhatTheCloudHasBeforeAnythingIsSent) {
  PlaceAndSend();
  Take(Twin());
  Restore();
  PayHere("0190a5c8-3333-7000-8000-000000000001", 500);
  EXPECT_EQ(Ask().kind, StepKind::kRead);
  Take(Twin()
           .Set("combos", std::string(kTwoDishesPaid))
           .Set("payments", R"([{"id":"p1","amount":15,"payment_method_code":"cash"}])")
           .Set("comment", R"("sin sal")")
           .Set("total", "50")
           .Set("total_paid", "15"));
  EXPECT_EQ(Here().combos.size(), 2U);
  EXPECT_EQ(Here().totals.total, 5000);
  EXPECT_EQ(Here().totals.total_paid, 2000) << "that of the till, and the one that was lost";
  EXPECT_EQ(Here().comment, "sin sal");
  EXPECT_EQ(Here().origin, Origin::kBox);
  EXPECT_EQ(Waiting(), std::vector<StepKind>{StepKind::kPayment});
  EXPECT_EQ(Ask().kind, StepKind::kPayment);
}

TEST_F(CloudRecordMerge, ARestoredOrderLosesWhatTheLostBoxHadEnded) {
  PlaceAndSend();
  Take(Twin());
  Restore();
  Take(Twin()
           .Set("combos", R"([{"id":"c1","product_name":"Lomo","quantity":1,"variant_price":20,
                                 "combo_price":20,"canceled_at":"2026-11-27T12:00:00Z"}])")
           .Set("total", "0"));
  EXPECT_TRUE(Here().combos.at(0).canceled_at);
  EXPECT_EQ(Here().totals.total, 0);
  EXPECT_EQ(Waiting(), std::vector<StepKind>{});
}

TEST_F(CloudRecordMerge, ARestoredOrderKeepsTheRowsOfAListThatTheCloudDoesNotShow) {
  PlaceAndSend();
  PayHere("0190a5c8-3333-7000-8000-000000000001", 500);
  Plan();
  SendAll();
  Take(Twin().Set("payments", R"([{"id":"p1","amount":5,"payment_method_code":"cash"}])"));
  Restore();
  Take(Twin().Set("payments", "null").Set("comment", R"("sin sal")"));
  EXPECT_EQ(Here().payments.size(), 1U);
  EXPECT_EQ(Here().totals.total_paid, 500);
  EXPECT_EQ(Here().comment, "sin sal");
}

TEST_F(CloudRecordMerge, ARowThatIsInTheCloudAloneIsADifferenceWhereNothingWasRestored) {
  PlaceAndSend();
  Take(Twin().Set("combos", std::string(kTwoDishesPaid)).Set("total", "50"));
  EXPECT_EQ(Here().combos.size(), 1U);
  EXPECT_EQ(Differences().size(), 2U) << "of the items, of the total";
}

TEST_F(CloudRecordMerge, AnOrderOfLostTimeIsOfTheBoxUnlessTheCloudNamesAnotherMaker) {
  const auto origin_of = [&](const std::string& number, const std::string& history) {
    order_id = "7f3c2f1e-0000-4000-8000-00000000000" + number;
    Take(Record()
             .Set("id", '"' + order_id + '"')
             .Set("public_id", R"("PE-900000000)" + number + '"')
             .Set("reference", R"("lost-)" + number + '"')
             .Set("created_at", '"' + FormatInstant(database.clock.Now()) + '"')
             .Set("status_history", history));
    return Here().origin;
  };
  database->Write([](db::Tx& tx, const db::Stamp&) {
    PutLink(tx, kCompany, {.url = "https://cloud.example"});
  });
  Restore();
  Makers ours = {"key:ours"};
  rules.makers = &ours;
  const auto made_by = [&](const std::string& maker) {
    return R"([{"status":"PENDING","at":")" + FormatInstant(database.clock.Now()) + R"(","by":")" +
           maker + R"("}])";
  };
  EXPECT_EQ(origin_of("2", made_by("key:ours")), Origin::kBox);
  EXPECT_EQ(origin_of("3", made_by("key:till")), Origin::kCloud);
  EXPECT_EQ(origin_of("4", "[]"), Origin::kBox) << "it names no makers";
  ours.clear();
  EXPECT_EQ(origin_of("5", made_by("key:till")), Origin::kBox) << "ours is not known";
}

TEST_F(CloudRecordMerge, TheMakerIsLearntFromACreationThatTheCloudDatesAsItWasSent) {
  database->Write([](db::Tx& tx, const db::Stamp&) {
    PutLink(tx, kCompany, {.url = "https://cloud.example"});
  });
  PlaceHere();
  const auto makers = [&] {
    return database->Read(
        [](db::Snapshot& snapshot) { return FindLink(snapshot, kCompany)->features.makers; });
  };
  const Step place = Ask();
  const std::string history =
      R"([{"status":"PENDING","at":"2026-11-27T12:00:00Z","by":"key:one"}])";
  Take(Twin().Set("status_history", history).Set("created_at", R"("2026-11-01T12:00:00Z")"),
       &place);
  EXPECT_TRUE(makers().empty()) << "a till may have sent it there itself";
  Take(Twin()
           .Set("status_history", history)
           .Set("created_at", '"' + FormatInstant(place.occurred_at) + '"'),
       &place);
  EXPECT_TRUE(makers().contains("key:one"));
}

TEST_F(CloudRecordMerge, ADeliveryThatTheCloudKeepsWithoutTheRiderWasReportedThere) {
  PlaceAndSend();
  AssignHere("Ana");
  SendAll();
  const std::string assigned = R"("RIDER_ASSIGNED")";
  Take(Twin().Rider("Ana").Set("delivery_status", assigned));
  Do(orders::UnassignRider);
  const Step step = Ask();
  EXPECT_EQ(step.kind, StepKind::kNoRider);
  EXPECT_FALSE(Here().delivery_status);
  Take(Twin().Set("rider", "null").Set("delivery_status", assigned), &step);
  EXPECT_EQ(Here().delivery_status, DeliveryStatus::kRiderAssigned);
  EXPECT_EQ(Waiting(), std::vector<StepKind>{});
}

}  // namespace
}  // namespace comanda::cloud
