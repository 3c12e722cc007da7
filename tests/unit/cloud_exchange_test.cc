// An order of the box that tills change here while the cloud changes what it may: whenever steps
// are sent, answers taken, and the cloud read in between, in the end both sides have the same
// order.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "aliases/aliases.h"
#include "cloud/authority.h"
#include "cloud/journal.h"
#include "cloud/journal_store.h"
#include "cloud/order_plan.h"
#include "cloud/refusal.h"
#include "cloud/taken_store.h"
#include "cloud/taker.h"
#include "support/two_restaurants.h"

namespace comanda::cloud {
namespace {

using aliases::Kind;
using orders::DeliveryStatus;
using orders::Order;
using orders::Status;
using testing::CloudRestaurant;
using testing::kCompany;
using testing::Restaurant;
using testing::Till;

constexpr std::string_view kRiders = "cloud-riders";

// The lines of an order in an order of their own: equal rows are interchangeable.
std::vector<std::string> LinesOf(Order order, bool has_delivery) {
  if (!has_delivery) {
    order.rider.reset();
    order.delivery_status.reset();
    order.delivery_status_reason.reset();
  }
  std::vector<std::string> lines;
  std::string text = testing::Shown(order);
  for (std::string_view rest = text; !rest.empty();) {
    lines.emplace_back(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(std::min(rest.find('\n') + 1, rest.size()));
  }
  std::ranges::sort(lines);
  return lines;
}

class Exchange {
 public:
  explicit Exchange(uint32_t seed) : till(box, seed), dice_(seed * 7919) {}

  // Somebody in the cloud moves the order.
  void ActInCloud() {
    if (!IsInCloud()) return;
    try {
      switch (Below(8)) {
        case 0:
        case 1:
          return cloud.Do(orders::Advance, static_cast<Status>(Below(4)));
        case 2:
        case 3:
          return AssignThere();
        case 4:
          return cloud.Do(orders::UnassignRider);
        case 5:
        case 6:
          return cloud.Do(orders::ReportDelivery,
                          orders::DeliveryReport{.status = static_cast<DeliveryStatus>(Below(6))});
        default:
          if (Below(2) != 0) return;
          cloud.Do(orders::Cancel, std::string_view("no vino"));
          was_cancelled_there = true;
      }
    } catch (const Refusal&) {  // the order is as it was
    }
  }

  void Plan() {
    box.database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      FinishCancel(tx, kCompany, box.order_id, stamp);
      PlanOrder(tx, kCompany, box.order_id, {.rider_provider = kRiders}, stamp);
    });
  }

  // Sends the first step that waits. False where there is none, or the order is parked.
  bool SendOne() {
    const auto waiting = box.database->Read([&](db::Snapshot& snapshot) {
      return store::WhyParked(snapshot, kCompany, box.order_id).empty()
                 ? store::FirstStep(snapshot, kCompany, box.order_id)
                 : std::nullopt;
    });
    if (!waiting) return false;
    try {
      NameRow(*waiting);
      cloud.Apply(waiting->step);
      TakeAnswer(*waiting);
    } catch (const Refusal&) {
      NoteRefusal(*waiting);
    }
    return true;
  }

  void Poll() {
    if (IsInCloud()) Take(RecordThere());
  }
  // An event that comes late, with what the cloud had then.
  void Remember() {
    if (!IsInCloud()) return;
    late_ = RecordThere();
    late_version_ = cloud.Now().version;
  }
  void TakeLate() {
    if (late_.empty()) return;
    const bool is_older = late_version_ < taken_version_;
    const int64_t version = box.Now().version;
    const int64_t taken_version = taken_version_;
    Take(late_);
    taken_version_ = std::max(taken_version, late_version_);
    if (!is_older) return;
    EXPECT_EQ(box.Now().version, version) << "what the cloud had earlier is no change";
  }

  // The two sides come to an end: they do not answer each other's changes with new ones.
  void Settle() {
    constexpr int kStepsMax = 300;
    int sent = 0;
    for (int i = 0; i < 5; ++i) {
      Plan();
      while (sent < kStepsMax && SendOne()) ++sent;
      Poll();
    }
    EXPECT_LT(sent, kStepsMax);
  }

  std::string WhyParked() {
    return box.database->Read(
        [&](db::Snapshot& snapshot) { return store::WhyParked(snapshot, kCompany, box.order_id); });
  }
  std::vector<StepKind> Waiting() {
    return box.database->Read([&](db::Snapshot& snapshot) {
      return store::WaitingKinds(snapshot, kCompany, box.order_id);
    });
  }
  bool HasDifference(std::string_view kind) {
    const auto differences = box.database->Read(
        [](db::Snapshot& snapshot) { return ListDifferences(snapshot, kCompany, 100); });
    return std::ranges::any_of(differences,
                               [&](const Difference& one) { return one.kind == kind; });
  }
  void CancelPaymentsHere() {
    for (const orders::Payment& payment : box.Now().payments) {
      box.Do(orders::CancelPayment, payment.id);
    }
  }
  size_t Below(size_t bound) { return dice_() % bound; }

  Restaurant box;
  CloudRestaurant cloud;
  Till till;
  bool was_cancelled_there = false;  // by somebody in the cloud

 private:
  bool IsInCloud() const { return !cloud.order_id.empty(); }

  void AssignThere() {
    orders::RiderDraft draft;
    draft.rider.provider = "api";
    draft.rider.name = "Rosa " + std::to_string(Below(3));
    cloud.Do(orders::AssignRider, draft);
  }

  // The path of a step that ends a row names it by the id that the answer to its creation gave.
  void NameRow(const store::OrderRow& row, const Step& step) {
    for (const Rows* rows : {&row.image.combos, &row.image.payments, &row.image.discounts}) {
      const auto found = rows->find(step.row_ids.at(0));
      if (found != rows->end()) cloud.SetTwin(found->first, found->second.cloud_id);
    }
  }
  void NameRow(const struct Waiting& waiting) {
    using enum StepKind;
    const StepKind kind = waiting.step.kind;
    if (kind != kCancelCombo && kind != kCancelPayment && kind != kRemoveDiscount) return;
    NameRow(*box.database->Read([&](db::Snapshot& snapshot) {
      return store::FindOrder(snapshot, kCompany, box.order_id);
    }),
            waiting.step);
  }

  std::string RecordThere() {
    return cloud.database->Read([&](db::Snapshot& snapshot) {
      return orders::Find(snapshot, kCompany, cloud.order_id)->json;
    });
  }

  void Take(const std::string& record) {
    const json::Document document = json::Document::Parse(record);
    box.database->Write(
        [&](db::Tx& tx, const db::Stamp& stamp) { TakeIn(tx, document.root(), stamp); });
    taken_version_ = cloud.Now().version;
    box.clock().Advance(1'000);
  }
  static void TakeIn(db::Tx& tx, json::Value record, const db::Stamp& stamp,
                     const Step* answered = nullptr) {
    const company::Company company = company::Get(tx, kCompany);
    ASSERT_NE(TakeOrder(tx,
                        {.company = company,
                         .public_numbers = {},
                         .rider_provider = kRiders,
                         .answered = answered},
                        record, stamp),
              Taken::kUnreadable);
  }

  void TakeAnswer(const struct Waiting& waiting) {
    const json::Document document = json::Document::Parse(RecordThere());
    box.database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      if (waiting.step.kind == StepKind::kPlace) {
        aliases::Put(tx, kCompany,
                     {.kind = Kind::kOrder,
                      .cloud_id = cloud.order_id,
                      .box_id = box.order_id,
                      .cloud_public_id = std::nullopt});
      }
      RemoveStep(tx, kCompany, waiting);
      TakeIn(tx, document.root(), stamp, &waiting.step);
    });
    taken_version_ = cloud.Now().version;
  }

  // A rider is left out, and a delivery that the cloud has overtaken; anything else waits for a
  // person.
  void NoteRefusal(const struct Waiting& waiting) {
    const json::Document record = json::Document::Parse(RecordThere());
    const bool is_left_out = waiting.step.kind == StepKind::kRider ||
                             waiting.step.kind == StepKind::kNoRider ||
                             IsOvertaken(waiting.step, record.root());
    Poll();
    box.database->Write([&](db::Tx& tx, const db::Stamp&) {
      if (is_left_out) {
        RemoveStep(tx, kCompany, waiting);
      } else {
        Park(tx, kCompany, box.order_id, kParkedRefused, "");
      }
    });
  }

  std::mt19937 dice_;
  std::string late_;
  int64_t late_version_ = 0;   // of `late_`
  int64_t taken_version_ = 0;  // of the newest record that was taken
};

void ExpectTheSame(Exchange& exchange) {
  const Order here = exchange.box.Now();
  const Order there = exchange.cloud.Now();
  EXPECT_EQ(here.status, there.status);
  EXPECT_EQ(exchange.Waiting(), std::vector<StepKind>{});
  if (exchange.was_cancelled_there && here.status == Status::kCancelled) return;
  EXPECT_FALSE(exchange.HasDifference("totals"));
  EXPECT_EQ(here.totals, there.totals);
  EXPECT_EQ(here.comment, there.comment);
  // The cloud may have moved it before the cancel came.
  if (here.status == Status::kCancelled) return;
  // A closed order takes no delivery from the other side any more.
  const bool has_delivery = !orders::IsClosed(here.status) && !exchange.HasDifference("status");
  EXPECT_EQ(LinesOf(here, has_delivery), LinesOf(there, has_delivery));
}

TEST(CloudExchange, EndsWithTheSameOrderOnBothSides) {
  const uint32_t runs = std::getenv("COMANDA_LONG") ? 3'000 : 30;
  int parked = 0;
  int cancelled_but_paid = 0;
  for (uint32_t seed = 1; seed <= runs; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Exchange exchange(seed);
    exchange.till.PlaceOrder();
    for (int i = 0; i < 60; ++i) {
      if (exchange.Below(3) == 0) exchange.till.Act();
      if (exchange.Below(6) == 0) exchange.ActInCloud();
      if (exchange.Below(3) == 0) exchange.Plan();
      if (exchange.Below(2) == 0) exchange.SendOne();
      if (exchange.Below(4) == 0) exchange.Poll();
      if (exchange.Below(5) == 0) exchange.Remember();
      if (exchange.Below(5) == 0) exchange.TakeLate();
      ASSERT_FALSE(::testing::Test::HasFailure());
    }
    exchange.Settle();
    if (exchange.WhyParked() == kCancelledButPaid) {
      ++cancelled_but_paid;
      exchange.CancelPaymentsHere();
      exchange.Settle();
      EXPECT_EQ(exchange.WhyParked(), "");
    }
    if (exchange.WhyParked() == kParkedRefused) {
      ++parked;  // the cloud closed the order before a change was sent
      EXPECT_TRUE(orders::IsClosed(exchange.cloud.Now().status));
      continue;
    }
    ExpectTheSame(exchange);
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
  EXPECT_LT(parked, static_cast<int>(runs) / 3);
  EXPECT_GT(cancelled_but_paid, 0);
}

}  // namespace
}  // namespace comanda::cloud
