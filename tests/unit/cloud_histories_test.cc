// Histories of an order of the box: tills change it here, people change it in the cloud, requests
// and answers are lost, events come late, the box is restarted, or restored from a backup after the
// cloud had everything. When all is quiet, three things are equal: what the till was answered last,
// the box, and the cloud.
//
// 400 in each run, fewer where COMANDA_HISTORIES says that the run is slow, 20,000 with
// COMANDA_LONG; COMANDA_CLOUD_HISTORIES=1000000 makes that many. A failure names the seed of its
// history, and COMANDA_HISTORY=SEED tells that one step by step.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <random>

#include "aliases/aliases.h"
#include "base/concat.h"
#include "cloud/orders/box_made.h"
#include "cloud/orders/authority.h"
#include "cloud/orders/journal_store.h"
#include "cloud/orders/pending.h"
#include "cloud/orders/refusal.h"
#include "cloud/orders/shown_members.h"
#include "cloud/orders/record_merge.h"
#include "events/log.h"
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

constexpr SendRules kRules{.rider_provider = "cloud-riders"};

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

// Its rows alone, without their ids: a row that a restored box had lost has another one.
std::vector<std::string> RowsOf(const Order& order) {
  Order rows;
  rows.combos = order.combos;
  rows.payments = order.payments;
  rows.discounts = order.discounts;
  return LinesOf(rows, false);
}

// What differs between the clouds that a box may be linked with.
struct CloudKind {
  bool shows_version = true;
  // A repeated request gets the answer that it got first, else the order as it is now.
  bool repeats_first_answer = true;
};

class History {
 public:
  History(Restaurant& box_of_all, CloudRestaurant& cloud_of_all, uint32_t seed)
      : box(box_of_all), cloud(cloud_of_all), till(box, seed), dice_(seed * 7919) {
    kind_ = {.shows_version = Below(3) != 0, .repeats_first_answer = Below(2) == 0};
    box.order_id.clear();
    cloud.order_id.clear();
    till.PlaceOrder();
    told_ = box.Now();
  }

  void TillActs() {
    till.Act();
    told_ = box.Now();
    if (IsBehindNow()) was_told_early_ = true;
  }
  bool IsBehindNow() {
    return box.database->Read([&](db::Snapshot& snapshot) {
      const auto row = store::FindOrder(snapshot, kCompany, box.order_id);
      return IsBehind(snapshot, box.Now(), row ? row->mirror : Mirror(), rules_);
    });
  }

  // Something happens.
  void Happen() {
    const auto maybe = [&](size_t one_of, std::string_view what, auto happens) {
      if (Below(one_of) != 0) return;
      happens();
      Tell(what);
    };
    maybe(3, "till", [&] { TillActs(); });
    maybe(6, "cloud", [&] { ActInCloud(); });
    maybe(3, "look", [&] { Look(); });
    maybe(2, "send", [&] { SendOne(); });
    maybe(4, "poll", [&] { Poll(); });
    maybe(5, "remember", [&] { Remember(); });
    maybe(5, "late event", [&] { TakeLate(); });
    maybe(100, "restart", [&] { Restart(); });
    maybe(30, "backup", [&] { BackUp(); });
    if (!backup_.empty()) maybe(40, "restore", [&] { RestoreBackup(); });
  }

  // Somebody in the cloud moves the order.
  void ActInCloud() {
    if (!IsInCloud()) return;
    has_acted_there = true;
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

  void Look() {
    box.database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      FinishCancel(tx, kCompany, box.order_id, rules_, stamp);
      const Makes makes = Below(2) == 0 ? Makes::kCreation : Makes::kNext;
      const auto one = CompareOrder(tx, kCompany, box.order_id, rules_, makes);
      if (one) StoreCompared(tx, kCompany, *one, rules_, makes, stamp);
    });
  }

  // Makes the next request. False where there is none, or the order is parked.
  bool SendOne() {
    using Found = std::optional<struct Waiting>;
    const auto waiting = box.database->Write([&](db::Tx& tx, const db::Stamp& stamp) -> Found {
      if (!store::IsWaiting(tx, kCompany, box.order_id)) return std::nullopt;
      return NextRequest(tx, kCompany, box.order_id, rules_, stamp);
    });
    if (!waiting) return false;
    if (waiting->step.kind == StepKind::kRead) {
      if (!fails || Below(6) != 0) Take(RecordThere(), {.looked_for = true});
      return true;
    }
    if (!fails || Below(6) != 0) {
      const auto answer = AnswerOfTheCloud(*waiting);
      if (!fails || Below(6) != 0) TakeAnswer(*waiting, answer);
    }
    return true;
  }

  void Poll() {
    if (IsInCloud()) Take(RecordThere());
  }
  // An event that comes late, with what the cloud had then. Of a cloud that shows no version, the
  // order is read instead.
  void Remember() {
    if (!IsInCloud()) return;
    late_ = RecordThere();
    late_version_ = cloud.Now().version;
  }
  void TakeLate() {
    if (late_.empty()) return;
    if (!kind_.shows_version) return Poll();
    const bool is_older = late_version_ < taken_version_;
    const int64_t version = box.Now().version;
    const int64_t taken_version = taken_version_;
    Take(late_);
    taken_version_ = std::max(taken_version, late_version_);
    if (!is_older) return;
    EXPECT_EQ(box.Now().version, version) << "what the cloud had earlier is no change";
  }

  void Restart() {
    box.database.Close();
    box.database.Open();
  }

  // A removed discount leaves no trace in the cloud: that one which waits here was sent and removed
  // since, a restored box cannot know. The difference tells it (cloud/orders/restored_merge.h).
  bool HasDiscountThatWaits() {
    const auto row = box.database->Read(
        [&](db::Snapshot& snapshot) { return store::FindOrder(snapshot, kCompany, box.order_id); });
    return std::ranges::any_of(box.Now().discounts, [&](const orders::Discount& discount) {
      return !row || !row->mirror.discounts.contains(discount.id);
    });
  }
  void BackUp() {
    if (HasDiscountThatWaits()) return;
    box.database.Close();
    std::ifstream file(box.database.settings().path, std::ios::binary);
    backup_.assign(std::istreambuf_iterator<char>(file), {});
    box.database.Open();
  }
  void RestoreBackup() {
    Settle();
    fails = true;
    // Of a parked order not everything is in the cloud: it would be lost.
    if (!WhyParked().empty()) return;
    box.database.Close();
    std::ofstream(box.database.settings().path, std::ios::binary) << backup_;
    box.database.Open();
    box.database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      events::RaiseEpochs(tx, static_cast<int64_t>(1 + Below(1'000)));
      rules_.restored_at = stamp.now;
    });
    // Events are followed from the time of the restore.
    late_.clear();
    was_restored = true;
    was_cancelled_there |= cloud.Now().status == Status::kCancelled;  // by the lost box
  }

  // The two sides come to an end: they do not answer each other's changes with new ones.
  void Settle() {
    constexpr int kStepsMax = 300;
    fails = false;
    int sent = 0;
    for (int i = 0; i < 5; ++i) {
      Look();
      while (sent < kStepsMax && SendOne()) ++sent;
      Tell("sent all");
      Poll();
      Tell("polled");
    }
    EXPECT_LT(sent, kStepsMax);
  }

  std::string WhyParked() {
    return box.database->Read(
        [&](db::Snapshot& snapshot) { return store::WhyParked(snapshot, kCompany, box.order_id); });
  }
  // What would be sent now.
  size_t Remaining() {
    return box.database->Read([&](db::Snapshot& snapshot) {
      return RemainingSteps(snapshot, *store::FindOrder(snapshot, kCompany, box.order_id),
                            box.Now(), rules_)
          .size();
    });
  }
  std::vector<std::string> Differences() {
    const auto differences = box.database->Read(
        [](db::Snapshot& snapshot) { return store::ListDifferences(snapshot, kCompany, 1'000); });
    std::vector<std::string> kinds;
    for (const Difference& one : differences) {
      if (one.order_id == box.order_id) kinds.emplace_back(Name(one.kind));
    }
    return kinds;
  }
  void CancelPaymentsHere() {
    for (const orders::Payment& payment : box.Now().payments) {
      box.Do(orders::CancelPayment, payment.id);
    }
    told_ = box.Now();
  }
  size_t Below(size_t bound) { return dice_() % bound; }
  const Order& told() const { return told_; }
  bool was_refused() const { return was_refused_; }
  // The till was answered before a restored box had its order back.
  bool was_told_early() const { return was_told_early_; }

  Restaurant& box;
  CloudRestaurant& cloud;
  Till till;
  bool was_cancelled_there = false;  // and this box may not know
  bool has_acted_there = false;
  bool was_restored = false;
  bool fails = true;  // requests and answers are lost

 private:
  struct Answer {
    bool is_accepted = false;
    std::string record;
  };

  void Tell(std::string_view what) {
    if (!std::getenv("COMANDA_HISTORY")) return;
    const auto text = [](const Order& order) {
      return Concat({Name(order.status), " ", order.rider ? *order.rider->name : "-", " ",
                     order.delivery_status ? Name(*order.delivery_status) : "-"});
    };
    const auto row = box.database->Read(
        [&](db::Snapshot& snapshot) { return store::FindOrder(snapshot, kCompany, box.order_id); });
    const auto waiting = box.database->Read(
        [&](db::Snapshot& snapshot) { return store::FirstStep(snapshot, kCompany, box.order_id); });
    std::cout << what << ": here " << text(box.Now()) << ", there "
              << (IsInCloud() ? text(cloud.Now()) : "nothing") << ", under way "
              << (waiting ? Concat({Name(waiting->step.kind), " ", waiting->step.body}) : "nothing")
              << ", mirror " << (row ? ToJson(row->mirror) : "none") << "\n";
  }

  bool IsInCloud() const { return !cloud.order_id.empty(); }

  void AssignThere() {
    orders::RiderDraft draft;
    draft.rider.provider = "api";
    draft.rider.name = "Rosa " + std::to_string(Below(3));
    cloud.Do(orders::AssignRider, draft);
  }

  // The path of a request that ends a row names it by the id that the answer to its creation gave.
  void NameRow(const store::OrderRow& row, const Step& step) {
    for (const Rows* rows : {&row.mirror.combos, &row.mirror.payments, &row.mirror.discounts}) {
      const auto found = rows->find(step.row_ids.at(0));
      if (found != rows->end()) cloud.SetTwin(found->first, found->second.cloud_id);
    }
  }
  void NameRow(const struct Waiting& waiting) {
    if (!EndsARow(waiting.step.kind)) return;
    NameRow(*box.database->Read([&](db::Snapshot& snapshot) {
      return store::FindOrder(snapshot, kCompany, box.order_id);
    }),
            waiting.step);
  }

  std::string RecordThere() {
    std::string record = cloud.database->Read([&](db::Snapshot& snapshot) {
      return orders::Find(snapshot, kCompany, cloud.order_id)->json;
    });
    if (kind_.shows_version) return record;
    const size_t at = record.find("\"version\":");
    const size_t end = record.find(',', at);
    return at == record.npos ? record : record.erase(at, end + 1 - at);
  }

  // A key has one effect; its body never changes.
  Answer AnswerOfTheCloud(const struct Waiting& waiting) {
    const Step& step = waiting.step;
    const auto body = bodies_.emplace(step.key, step.body).first;
    EXPECT_EQ(body->second, step.body) << "a request was changed after it was sent";
    const auto known = answers_.find(step.key);
    if (known != answers_.end()) {
      return {.is_accepted = true,
              .record = kind_.repeats_first_answer ? known->second : RecordThere()};
    }
    try {
      NameRow(waiting);
      cloud.Apply(step);
    } catch (const Refusal&) {
      bodies_.erase(body);  // a refusal is not remembered
      return {};
    }
    return {.is_accepted = true, .record = answers_[step.key] = RecordThere()};
  }

  // What a record is to the request under way (MergeSettings).
  struct Role {
    const Step* answered = nullptr;
    bool looked_for = false;
  };
  void Take(const std::string& record) { Take(record, Role()); }
  void Take(const std::string& record, const Role& role) {
    const json::Document document = json::Document::Parse(record);
    box.database->Write(
        [&](db::Tx& tx, const db::Stamp& stamp) { TakeIn(tx, document.root(), stamp, role); });
    taken_version_ = cloud.Now().version;
    box.clock().Advance(1'000);
  }
  void TakeIn(db::Tx& tx, json::Value record, const db::Stamp& stamp, const Role& role) {
    const company::Company company = company::Get(tx, kCompany);
    ASSERT_NE(MergeRecord(tx,
                          {.company = company,
                           .public_numbers = {},
                           .rules = rules_,
                           .answered = role.answered,
                           .looked_for = role.looked_for},
                          record, stamp),
              Merged::kUnreadable);
  }

  void TakeAnswer(const struct Waiting& waiting, const Answer& answer) {
    if (!answer.is_accepted) return NoteRefusal(waiting);
    const json::Document document = json::Document::Parse(answer.record);
    box.database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      if (waiting.step.kind == StepKind::kPlace) {
        aliases::Put(tx, kCompany,
                     {.kind = Kind::kOrder,
                      .cloud_id = cloud.order_id,
                      .box_id = box.order_id,
                      .cloud_public_id = std::nullopt});
      }
      store::DeleteStep(tx, kCompany, waiting);
      TakeIn(tx, document.root(), stamp, {.answered = &waiting.step});
    });
    const auto version = ShownMembers(document.root()).Integer("version");
    taken_version_ = std::max(taken_version_, version.value_or(0));
  }

  // A rider is left out, and a delivery that the cloud has overtaken; anything else waits for a
  // person.
  void NoteRefusal(const struct Waiting& waiting) {
    was_refused_ = true;
    const json::Document record = json::Document::Parse(RecordThere());
    const bool is_left_out = waiting.step.kind == StepKind::kRider ||
                             waiting.step.kind == StepKind::kNoRider ||
                             IsOvertaken(waiting.step, record.root());
    Poll();
    box.database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      if (!store::HasStep(tx, kCompany, waiting)) return;
      store::DeleteStep(tx, kCompany, waiting);
      if (is_left_out) {
        auto row = *store::FindOrder(tx, kCompany, box.order_id);
        GiveUp(row.mirror, waiting.step);
        CompareAgain(tx, *orders::Load(tx, kCompany, box.order_id), row, rules_, Makes::kCreation,
                     stamp);
      } else {
        store::Park(tx, kCompany, box.order_id, kParkedRefused, "");
      }
    });
  }

  std::mt19937 dice_;
  CloudKind kind_;
  SendRules rules_ = kRules;
  std::string backup_;                                   // of the box's database
  Order told_;                                           // as the till was answered last
  std::map<std::string, std::string> answers_, bodies_;  // by key
  std::string late_;
  int64_t late_version_ = 0;   // of `late_`
  int64_t taken_version_ = 0;  // of the newest record that was taken
  bool was_refused_ = false;
  bool was_told_early_ = false;
};

void ExpectTheSame(History& history) {
  const Order here = history.box.Now();
  const Order there = history.cloud.Now();
  EXPECT_EQ(here.status, there.status);
  EXPECT_EQ(history.Remaining(), 0U);
  // What the till was answered for an order that the lost box had closed, the cloud refuses.
  if (history.was_told_early() && orders::IsClosed(there.status)) return;
  const Order& told = history.was_told_early() ? here : history.told();
  if (history.was_restored) {
    EXPECT_EQ(RowsOf(here), RowsOf(told));
  } else {
    EXPECT_EQ(here.combos, told.combos);
    EXPECT_EQ(here.payments, told.payments);
    EXPECT_EQ(here.discounts, told.discounts);
  }
  EXPECT_EQ(here.totals, told.totals);
  EXPECT_EQ(FieldsOf(here), FieldsOf(told));
  EXPECT_GE(here.status, told.status);
  if (!history.has_acted_there) {
    EXPECT_EQ(here.status, told.status);
    EXPECT_EQ(here.rider, told.rider);
    EXPECT_EQ(here.delivery_status, told.delivery_status);
  }
  if (history.was_cancelled_there && here.status == Status::kCancelled) return;
  EXPECT_EQ(here.totals, there.totals);
  EXPECT_EQ(here.comment, there.comment);
  // The cloud may have moved it before the cancel came.
  if (here.status == Status::kCancelled) return;
  // A closed order takes no delivery from the other side any more.
  const std::vector<std::string> differences = history.Differences();
  const bool differs = std::ranges::find(differences, "status") != differences.end();
  const bool has_delivery = !orders::IsClosed(here.status) && !history.was_refused() && !differs;
  EXPECT_EQ(LinesOf(here, has_delivery), LinesOf(there, has_delivery));
  for (const std::string& kind : differences) {
    EXPECT_TRUE(kind == "status" || kind == "rider" || kind == "link") << kind;
  }
}

uint32_t CountOfHistories() {
  constexpr uint32_t kInEachRun = 400, kWhereSlow = 100, kLong = 20'000;
  if (const char* const wanted = std::getenv("COMANDA_CLOUD_HISTORIES")) {
    return static_cast<uint32_t>(std::atoi(wanted));
  }
  if (std::getenv("COMANDA_LONG")) return kLong;
  return std::getenv("COMANDA_HISTORIES") ? kWhereSlow : kInEachRun;
}

TEST(CloudHistories, EndWithTheSameOrderOnBothSidesAsTheTillWasTold) {
  constexpr uint32_t kHistoriesOfADatabase = 50;  // a small one is copied soon
  const uint32_t runs = CountOfHistories();
  std::optional<Restaurant> box;
  std::optional<CloudRestaurant> cloud;
  uint32_t parked = 0, cancelled_but_paid = 0;
  const char* const one = std::getenv("COMANDA_HISTORY");
  const auto first = one ? static_cast<uint32_t>(std::atoi(one)) : 1;
  for (uint32_t seed = first; seed <= (one ? first : runs); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    if (seed % kHistoriesOfADatabase == first % kHistoriesOfADatabase) {
      box.emplace();
      cloud.emplace();
    }
    History history(*box, *cloud, seed);
    const size_t length = 10 + history.Below(50);
    for (size_t i = 0; i < length; ++i) {
      history.Happen();
      ASSERT_FALSE(::testing::Test::HasFailure());
    }
    history.Settle();
    if (history.WhyParked() == kCancelledButPaid) {
      ++cancelled_but_paid;
      history.CancelPaymentsHere();
      history.Settle();
      EXPECT_EQ(history.WhyParked(), "");
    }
    if (history.WhyParked() == kParkedRefused) {
      ++parked;  // the cloud closed the order before a change was sent
      EXPECT_TRUE(orders::IsClosed(history.cloud.Now().status));
      ASSERT_FALSE(::testing::Test::HasFailure());
      continue;
    }
    ExpectTheSame(history);
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
  if (one) return;
  EXPECT_LT(parked, runs / 3);
  EXPECT_GT(cancelled_but_paid, 0U);
}

}  // namespace
}  // namespace comanda::cloud
