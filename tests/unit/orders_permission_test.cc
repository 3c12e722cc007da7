#include "orders/permission.h"

#include <gtest/gtest.h>

namespace comanda::orders {
namespace {

struct Row {
  std::string_view actor, source;
  bool may_edit;
};

constexpr std::string_view kKey = "key:0190a5c8-0000-7000-8000-000000000001";

constexpr Row kRows[] = {
    {kKey, "API", true},
    {"local", "API", true},
    {kKey, "RAPPI", false},
    {kKey, "PANEL", false},
    {"local", "IFOOD", false},
    {"app:rappi", "RAPPI", true},
    {"app:uber_eats", "UBER_EATS", true},
    {"app:rappi", "IFOOD", false},
    {"app:rappi", "API", false},
    {"app:rap", "RAPPI", false},
    {"app:", "API", false},
    {"app:api", "API", false},
    {"cloud", "PANEL", false},
    {"cloud", "IFOOD", false},
    {"cloud", "API", false},
    {"", "API", false},
    {"", "", false},
    {"somebody", "API", false},
};

TEST(OrdersPermission, AsksTheActorAndTheSource) {
  for (const Row& row : kRows) {
    const bool may = MayEdit(row.actor, row.source, Origin::kBox);
    EXPECT_EQ(may, row.may_edit) << row.actor << ' ' << row.source;
  }
}

TEST(OrdersPermission, TheCloudAloneEditsTheOrdersThatItMade) {
  for (const Row& row : kRows) {
    const bool may = MayEdit(row.actor, row.source, Origin::kCloud);
    EXPECT_EQ(may, row.actor == "cloud") << row.actor << ' ' << row.source;
  }
}

TEST(OrdersPermission, TheCloudCancelsEveryOrderAndOthersWhatTheyMayEdit) {
  for (const Origin origin : {Origin::kBox, Origin::kCloud}) {
    for (const Row& row : kRows) {
      const bool may = row.actor == "cloud" || MayEdit(row.actor, row.source, origin);
      EXPECT_EQ(MayCancel(row.actor, row.source, origin), may) << row.actor << ' ' << row.source;
    }
  }
  EXPECT_TRUE(MayCancel(kKey, "API", Origin::kBox));
  EXPECT_FALSE(MayCancel(kKey, "API", Origin::kCloud));
}

}  // namespace
}  // namespace comanda::orders
