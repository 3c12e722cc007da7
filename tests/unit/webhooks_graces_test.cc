#include "webhooks/graces.h"

#include <string>

#include <gtest/gtest.h>

#include "base/time/settled_clock.h"
#include "support/restaurant_database.h"
#include "webhooks/store.h"
#include "webhooks/webhooks.h"

namespace comanda::webhooks {
namespace {

using testing::kCompany;

constexpr int64_t kHourMs = 60LL * 60 * 1000;
constexpr int64_t kYearMs = 365 * 24 * kHourMs;

class WebhooksGraces : public ::testing::Test {
 protected:
  WebhooksGraces() {
    database_->Write([this](db::Tx& tx, const db::Stamp& stamp) {
      Draft draft;
      draft.url = "https://example.com/hook";
      id_ = Create(tx, kCompany, draft, stamp).id;
    });
  }
  ~WebhooksGraces() override { database_.Close(); }

  Subscription Rotate(int64_t grace_s) {
    Draft draft;
    draft.rotates_secret = true;
    draft.grace_s = grace_s;
    return database_->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      return Change(tx, *graces_, kCompany, id_, draft, stamp);
    });
  }
  Subscription Stored() {
    return database_->Read([&](db::Snapshot& snapshot) { return Get(snapshot, kCompany, id_); });
  }
  bool WriteDown() { return WriteDownEndedGraces(*database_, *graces_); }
  void Restart() {
    settled_.emplace(clock_, [] { return false; });
    graces_.emplace(*settled_);
    database_->Read([&](db::Snapshot& snapshot) { LoadGraces(snapshot, *graces_); });
  }

  testing::RestaurantDatabase database_;
  testing::FakeClock& clock_ = database_.clock;
  std::optional<SettledClock> settled_{std::in_place, clock_, [] { return false; }};
  std::optional<Graces> graces_{std::in_place, *settled_};
  std::string id_;
};

TEST_F(WebhooksGraces, EndWithTheOldSecretOutOfTheRow) {
  const Subscription rotated = Rotate(3600);
  ASSERT_TRUE(rotated.secrets.old);
  EXPECT_EQ(graces_->DueInMs(), kHourMs);
  EXPECT_FALSE(WriteDown());
  EXPECT_TRUE(graces_->Lasts(kCompany, rotated));

  clock_.Advance(kHourMs);
  EXPECT_FALSE(graces_->Lasts(kCompany, rotated)) << "also before it is written down";
  EXPECT_TRUE(WriteDown());
  EXPECT_FALSE(WriteDown()) << "once";
  EXPECT_EQ(graces_->DueInMs(), std::nullopt);
  const Subscription after = Stored();
  EXPECT_EQ(after.secrets.old, std::nullopt);
  EXPECT_EQ(after.secret_rotates_until, std::nullopt);
  EXPECT_EQ(after.secrets.current, rotated.secrets.current);
  EXPECT_EQ(after.updated_at, rotated.updated_at) << "nobody changed it";
  EXPECT_GT(after.revision, rotated.revision) << "the deliverer reads it again";
}

TEST_F(WebhooksGraces, ThatHaveEndedDoNotComeBackWithTheClock) {
  const Subscription rotated = Rotate(60);
  clock_.Advance(60'000);
  for (const int64_t back_ms : {kHourMs, kYearMs}) {
    clock_.SetWall(clock_.Now() - back_ms);
    EXPECT_FALSE(graces_->Lasts(kCompany, rotated)) << "not written down yet: a full disk";
  }
  WriteDown();
  EXPECT_FALSE(graces_->Lasts(kCompany, rotated)) << "a deliverer that has read the row before";
  Restart();
  EXPECT_EQ(Stored().secret_rotates_until, std::nullopt);
  EXPECT_EQ(graces_->DueInMs(), std::nullopt);
}

TEST_F(WebhooksGraces, AreAsLongAsWasSaidWhateverTheClockDoes) {
  const Subscription rotated = Rotate(3600);
  for (const int64_t step_ms : {kYearMs, -2 * kYearMs, kYearMs}) {
    clock_.SetWall(clock_.Now() + step_ms);
    EXPECT_TRUE(graces_->Lasts(kCompany, rotated));
    EXPECT_FALSE(WriteDown());
  }
  clock_.Advance(kHourMs - 1);
  EXPECT_TRUE(graces_->Lasts(kCompany, rotated));
  clock_.Advance(1);
  EXPECT_FALSE(graces_->Lasts(kCompany, rotated));
}

TEST_F(WebhooksGraces, HaveTheirRestAfterARestart) {
  const Subscription rotated = Rotate(3600);
  clock_.Advance(kHourMs / 2);
  Restart();
  EXPECT_EQ(graces_->DueInMs(), kHourMs / 2);
  clock_.SetWall(clock_.Now() - kYearMs);
  Restart();
  EXPECT_EQ(graces_->DueInMs(), kGraceMaxMs) << "no grace is longer than a day";
  clock_.Advance(kGraceMaxMs);
  EXPECT_FALSE(graces_->Lasts(kCompany, rotated));
  EXPECT_TRUE(WriteDown());
}

TEST_F(WebhooksGraces, OfARotationTakeThePlaceOfTheFormer) {
  Rotate(60);
  const Subscription second = Rotate(3600);
  clock_.Advance(60'000);
  EXPECT_FALSE(WriteDown());
  EXPECT_TRUE(graces_->Lasts(kCompany, second));
  Rotate(0);
  EXPECT_EQ(Stored().secrets.old, std::nullopt);
  clock_.Advance(kHourMs);
  WriteDown();
  EXPECT_EQ(Stored().secret_rotates_until, std::nullopt);
}

TEST_F(WebhooksGraces, OfARemovedWebhookEndTheirWay) {
  Rotate(60);
  database_->Write([this](db::Tx& tx, const db::Stamp&) { Remove(tx, kCompany, id_); });
  clock_.Advance(60'000);
  WriteDown();
  EXPECT_FALSE(WriteDown());
}

}  // namespace
}  // namespace comanda::webhooks
