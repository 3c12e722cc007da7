#include "orders/permission.h"

#include <gtest/gtest.h>

namespace comanda::orders {
namespace {

struct Row {
  std::string_view actor, source;
  bool may_edit;
};

constexpr Row kRows[] = {
    {"key:0190a5c8-0000-7000-8000-000000000001", "API", true},
    {"local", "API", true},
    {"key:0190a5c8-0000-7000-8000-000000000001", "RAPPI", false},
    {"key:0190a5c8-0000-7000-8000-000000000001", "PANEL", false},
    {"local", "IFOOD", false},
    {"app:rappi", "RAPPI", true},
    {"app:uber_eats", "UBER_EATS", true},
    {"app:rappi", "IFOOD", false},
    {"app:rappi", "API", false},
    {"app:rap", "RAPPI", false},
    {"app:", "API", false},
    {"app:api", "API", false},
    {"cloud", "PANEL", true},
    {"cloud", "INBOUND", true},
    {"cloud", "IFOOD", true},
    {"cloud", "API", false},
    {"", "API", false},
    {"", "", false},
    {"somebody", "API", false},
};

TEST(OrdersPermission, AsksTheActorAndTheSource) {
  for (const Row& row : kRows) {
    EXPECT_EQ(MayEdit(row.actor, row.source), row.may_edit) << row.actor << ' ' << row.source;
  }
}

}  // namespace
}  // namespace comanda::orders
