#include "machine/hold.h"

#include <gtest/gtest.h>

#include "machine/machine_id.h"
#include "support/restaurant_database.h"

namespace comanda::machine {
namespace {

TEST(MachineId, IsDerivedAsSystemdDoes) {
  // systemd-id128 machine-id --app-specific=5d1b8e0c6f4a4c0f9a7e2b3d6c8f1e42
  constexpr const char* kDerived = "c6c35ab61aa24b4cbcf73089d16db764";
  EXPECT_EQ(DeriveMachineId("0123456789abcdef0123456789abcdef\n"), kDerived);
  EXPECT_EQ(DeriveMachineId("0123456789ABCDEF0123456789ABCDEF"), kDerived);
}

TEST(MachineId, IsEmptyForContentThatIsNoId) {
  for (const char* content :
       {"", "\n", "uninitialized\n", "0123456789abcdef", "00000000000000000000000000000000\n",
        "0123456789abcdef0123456789abcdeg\n", "0123456789abcdef0123456789abcdef0\n"}) {
    EXPECT_EQ(DeriveMachineId(content), "") << content;
  }
}

TEST(MachineHold, HoldsWhatAnotherMachineHasServed) {
  const Kept here{.machine_id = "here", .held_since = {}};
  for (const bool is_restored : {false, true}) {
    EXPECT_EQ(Judge(here, "here", is_restored), Verdict::kSame);
    EXPECT_EQ(Judge(here, "elsewhere", is_restored), Verdict::kHeld);
    EXPECT_EQ(Judge(here, "", is_restored), Verdict::kHeld);
  }
}

TEST(MachineHold, HoldsACopyOfWhichNobodyKnowsTheMachine) {
  const Kept nameless{.machine_id = "", .held_since = {}};
  for (const char* machine : {"here", ""}) {
    EXPECT_EQ(Judge(std::nullopt, machine, true), Verdict::kHeld);
    EXPECT_EQ(Judge(nameless, machine, true), Verdict::kHeld);
    EXPECT_EQ(Judge(std::nullopt, machine, false), Verdict::kAdopted);
    EXPECT_EQ(Judge(nameless, machine, false), Verdict::kAdopted);
  }
}

TEST(MachineHold, StaysInTheDatabaseWithItsTimeUntilItIsResumed) {
  testing::RestaurantDatabase database;
  const auto kept = [&] {
    return database->Read([](db::Snapshot& snapshot) { return Find(snapshot); });
  };
  const auto keep = [&](Verdict verdict, const std::string& machine, UtcMs now) {
    database->Write([&](db::Tx& tx, const db::Stamp&) { Keep(tx, verdict, machine, now); });
  };
  const auto resume = [&] {
    return database->Write([](db::Tx& tx, const db::Stamp&) { return Resume(tx); });
  };
  EXPECT_FALSE(kept());
  EXPECT_FALSE(resume());

  keep(Verdict::kAdopted, "one", 1000);
  EXPECT_EQ(kept()->machine_id, "one");
  EXPECT_FALSE(kept()->held_since);

  keep(Verdict::kHeld, "other", 2000);
  keep(Verdict::kSame, "other", 3000);
  keep(Verdict::kHeld, "third", 4000);
  EXPECT_EQ(kept()->machine_id, "third");
  EXPECT_EQ(kept()->held_since, 2000);

  EXPECT_TRUE(resume());
  EXPECT_FALSE(kept()->held_since);
  EXPECT_EQ(kept()->machine_id, "third");
  EXPECT_FALSE(resume());
}

TEST(MachineHold, SaysWhatToDoWhileItHolds) {
  Hold hold;
  EXPECT_EQ(hold.Describe(), "");
  hold.Set(1'795'458'600'000);
  EXPECT_TRUE(hold.IsHeld());
  EXPECT_NE(hold.Describe().find("comanda resume"), std::string::npos);
  hold.Release();
  EXPECT_FALSE(hold.IsHeld());
}

}  // namespace
}  // namespace comanda::machine
