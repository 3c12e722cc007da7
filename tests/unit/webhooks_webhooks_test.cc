#include "webhooks/webhooks.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "crypto/derived_id.h"
#include "events/log.h"
#include "http/page_rows.h"
#include "http/query.h"
#include "support/restaurant_database.h"
#include "webhooks/list.h"
#include "webhooks/store.h"

namespace comanda::webhooks {
namespace {

using testing::kCompany;

// A subscription to orders, and a log of five events of orders behind its position.
class WebhooksWebhooks : public ::testing::Test {
 protected:
  WebhooksWebhooks() {
    database_->Write([this](db::Tx& tx, const db::Stamp& stamp) {
      Draft draft;
      draft.url = "https://example.com/hook";
      id_ = Create(tx, kCompany, draft, stamp).id;
      for (int i = 0; i < 5; ++i) {
        events::Append(tx, kCompany, stamp,
                       {.company_uuid = testing::kCompanyId,
                        .type = events::Type::kOrderCreated,
                        .subject_id = "o" + std::to_string(i),
                        .body = "{}"});
      }
    });
  }
  ~WebhooksWebhooks() override { database_.Close(); }

  // A row of an event that is ahead of the position: the first one's transfer takes its time.
  void PutRow(int64_t seq, State state) {
    database_->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      Delivery row{.id = "d" + std::to_string(seq),
                   .seq = seq,
                   .kind = Kind::kOrderCreated,
                   .event_id = "e" + std::to_string(seq),
                   .subject_type = "order",
                   .subject_id = "o" + std::to_string(seq - 1),
                   .subject_version = 1,
                   .sequence = seq,
                   .state = state};
      if (state == State::kDelivered) row.settled_at = stamp.now;
      store::Put(tx, kCompany, id_, row);
    });
  }
  Subscription Stored() {
    return database_->Read([&](db::Snapshot& snapshot) { return Get(snapshot, kCompany, id_); });
  }
  int64_t Backlog() {
    return database_->Read([&](db::Snapshot& snapshot) {
      return BehindOf(snapshot, kCompany, Get(snapshot, kCompany, id_)).backlog;
    });
  }

  std::string Listed(const std::string& query) {
    http::PageRows rows;
    std::vector<std::string> damage;
    database_->Read([&](db::Snapshot& snapshot) {
      return FindDeliveries(snapshot, kCompany, id_, http::Query::Parse(query), false, rows,
                            damage);
    });
    EXPECT_EQ(damage, std::vector<std::string>());
    return rows.End("]}");
  }

  testing::RestaurantDatabase database_;
  Graces graces_{database_.clock};
  std::string id_;
};

TEST_F(WebhooksWebhooks, WhatHasARowAheadOfThePositionIsCountedOnce) {
  EXPECT_EQ(Backlog(), 5);
  PutRow(2, State::kDelivered);
  PutRow(3, State::kLate);
  EXPECT_EQ(Backlog(), 4);
}

TEST_F(WebhooksWebhooks, APurgeCountsWhatWasNeverSentAndKeepsItsNumbers) {
  PutRow(2, State::kDelivered);
  PutRow(3, State::kLate);  // counted when it is found that its event is gone
  database_->Write([](db::Tx& tx, const db::Stamp&) { Purged(tx, kCompany, 4); });
  const Subscription one = Stored();
  EXPECT_EQ(one.progress.settled_seq, 4);
  EXPECT_EQ(one.progress.sequence, 4);
  EXPECT_EQ(one.progress.events_lost, 2);
  EXPECT_EQ(one.revision, 2);
}

TEST_F(WebhooksWebhooks, SkippingTheBacklogCountsEachMessageOnce) {
  PutRow(2, State::kDelivered);
  PutRow(3, State::kLate);
  database_->Write([this](db::Tx& tx, const db::Stamp& stamp) {
    Draft draft;
    draft.is_active = true;
    draft.skips_backlog = true;
    Change(tx, graces_, kCompany, id_, draft, stamp);
  });
  const Subscription one = Stored();
  EXPECT_EQ(one.progress.sequence, 5);
  EXPECT_EQ(one.progress.events_lost, 4);
  EXPECT_EQ(Backlog(), 0);
}

// Each page that a commit changes is written twice, to the log and to the file.
TEST_F(WebhooksWebhooks, RowsOfDeliveriesShareTheirPages) {
  const auto pages = [&] {
    return database_->Read([](db::Snapshot& snapshot) {
      return snapshot.GetInt("SELECT page_count FROM pragma_page_count");
    });
  };
  constexpr int kRows = 400;
  const int64_t before = pages();
  database_->Write([this](db::Tx& tx, const db::Stamp& stamp) {
    for (int i = 1; i <= kRows; ++i) {
      const std::string event_id = crypto::DerivedId(testing::kCompanyId, std::to_string(i));
      Delivery row{.id = crypto::DerivedId(id_, event_id),
                   .seq = i,
                   .kind = Kind::kOrderUpdated,
                   .event_id = event_id,
                   .subject_type = "order",
                   .subject_id = id_,
                   .subject_version = i,
                   .sequence = i,
                   .state = State::kDelivered,
                   .created_at = stamp.now,
                   .settled_at = stamp.now};
      row.Add({.at = stamp.now,
               .outcome = Outcome::kAcknowledged,
               .status = 204,
               .duration_ms = 3,
               .address = "192.168.1.20",
               .clock_skew_s = 0});
      store::Put(tx, kCompany, id_, row);
    }
  });
  EXPECT_LT(pages() - before, kRows * 3 / 4);
}

TEST_F(WebhooksWebhooks, SubscriptionsOfAPageAreBehindAsEachIsAlone) {
  PutRow(2, State::kLate);
  const std::vector<Subscription> all = database_->Write([](db::Tx& tx, const db::Stamp& stamp) {
    Draft draft;
    draft.url = "https://example.com/hook";
    Create(tx, kCompany, draft, stamp);  // behind the five events
    std::vector<std::string> damage;
    return store::All(tx, kCompany, damage);
  });
  database_->Read([&](db::Snapshot& snapshot) {
    const std::vector<Behind> behind = BehindOf(snapshot, kCompany, all);
    ASSERT_EQ(behind.size(), 2u);
    for (size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(behind[i].backlog, all[i].id == id_ ? 5 : 0);
      EXPECT_EQ(behind[i].oldest_at.has_value(), all[i].id == id_);
      EXPECT_EQ(behind[i].backlog, BehindOf(snapshot, kCompany, all[i]).backlog);
    }
  });
}

TEST_F(WebhooksWebhooks, DeliveriesOfOneMillisecondAreListedAsTheirEventsHappened) {
  for (const int64_t seq : {3, 1, 2}) PutRow(seq, State::kDelivered);
  const std::string list = Listed("sort=-created_at");
  EXPECT_LT(list.find(R"("e3")"), list.find(R"("e2")"));
  EXPECT_LT(list.find(R"("e2")"), list.find(R"("e1")"));
  EXPECT_NE(list.find(R"("e1")"), std::string::npos);
}

}  // namespace
}  // namespace comanda::webhooks
