#include "orders/lifecycle.h"

#include <gtest/gtest.h>

namespace comanda::orders {
namespace {

constexpr UtcMs kNow = 1'800'000'000'000;

Order Placed() {
  Order order;
  order.status_history = {{Status::kPending, kNow - 10, "key:k", false}};
  return order;
}

TEST(OrdersLifecycle, WritesAStepAsReported) {
  Order order = Placed();

  EXPECT_TRUE(MoveTo(order, Status::kPreparing, kNow, "key:k"));

  EXPECT_EQ(order.status, Status::kPreparing);
  ASSERT_EQ(order.status_history.size(), 2u);
  EXPECT_EQ(order.status_history[1], (StatusChange{Status::kPreparing, kNow, "key:k", false}));
  EXPECT_EQ(order.closed_at, std::nullopt);
}

TEST(OrdersLifecycle, FillsTheStepsOfAJumpAsImplied) {
  Order order = Placed();

  EXPECT_TRUE(MoveTo(order, Status::kFinalized, kNow, "local"));

  ASSERT_EQ(order.status_history.size(), 5u);
  for (size_t i = 1; i < 4; ++i) EXPECT_TRUE(order.status_history[i].implied) << i;
  EXPECT_FALSE(order.status_history[4].implied);
  EXPECT_EQ(ReachedAt(order, Status::kReady), kNow);
  EXPECT_EQ(order.closed_at, kNow);
}

TEST(OrdersLifecycle, LeavesTheSameAndAnEarlierStatusAlone) {
  Order order = Placed();
  MoveTo(order, Status::kReady, kNow, "local");
  const size_t steps = order.status_history.size();

  EXPECT_FALSE(MoveTo(order, Status::kReady, kNow + 1, "local"));
  EXPECT_FALSE(MoveTo(order, Status::kPending, kNow + 1, "local"));

  EXPECT_EQ(order.status, Status::kReady);
  EXPECT_EQ(order.status_history.size(), steps);
}

TEST(OrdersLifecycle, CancelsAFinalizedOrderAtTheTimeOfTheCancel) {
  Order order = Placed();
  MoveTo(order, Status::kFinalized, kNow, "local");

  MarkCancelled(order, "wrong table", kNow + 5, "key:k");

  EXPECT_EQ(order.status, Status::kCancelled);
  EXPECT_EQ(order.closed_at, kNow + 5);
  EXPECT_EQ(order.canceled_at, kNow + 5);
  EXPECT_EQ(order.cancel_reason, "wrong table");
  EXPECT_EQ(ReachedAt(order, Status::kFinalized), kNow);
}

TEST(OrdersLifecycle, MovesADeliveryForwardAndNeverBack) {
  using enum DeliveryStatus;
  EXPECT_EQ(FindMove(std::nullopt, kRiderAssigned), DeliveryMove::kMove);
  EXPECT_EQ(FindMove(std::nullopt, kDelivered), DeliveryMove::kMove);
  EXPECT_EQ(FindMove(kRiderAssigned, kOnTheWay), DeliveryMove::kMove);
  EXPECT_EQ(FindMove(kOnTheWay, kOnTheWay), DeliveryMove::kUnchanged);
  EXPECT_EQ(FindMove(kDelivered, kArrivedAtStore), DeliveryMove::kUnchanged);
}

TEST(OrdersLifecycle, AllowsNotDeliveredOnlyUnderWayAndOnlyBackOnTheWay) {
  using enum DeliveryStatus;
  EXPECT_EQ(FindMove(kArrivedAtStore, kNotDelivered), DeliveryMove::kMove);
  EXPECT_EQ(FindMove(kOnTheWay, kNotDelivered), DeliveryMove::kMove);
  EXPECT_EQ(FindMove(kArrivedAtDestination, kNotDelivered), DeliveryMove::kMove);
  EXPECT_EQ(FindMove(std::nullopt, kNotDelivered), DeliveryMove::kIllegal);
  EXPECT_EQ(FindMove(kRiderAssigned, kNotDelivered), DeliveryMove::kIllegal);
  EXPECT_EQ(FindMove(kDelivered, kNotDelivered), DeliveryMove::kIllegal);

  EXPECT_EQ(FindMove(kNotDelivered, kOnTheWay), DeliveryMove::kMove);
  EXPECT_EQ(FindMove(kNotDelivered, kNotDelivered), DeliveryMove::kUnchanged);
  EXPECT_EQ(FindMove(kNotDelivered, kDelivered), DeliveryMove::kIllegal);
  EXPECT_EQ(FindMove(kNotDelivered, kRiderAssigned), DeliveryMove::kIllegal);
}

TEST(OrdersLifecycle, LiftsTheOrderWithItsDelivery) {
  EXPECT_EQ(LiftOf(DeliveryStatus::kArrivedAtStore).has_value(), false);
  EXPECT_EQ(LiftOf(DeliveryStatus::kOnTheWay)->status, Status::kReady);
  EXPECT_EQ(LiftOf(DeliveryStatus::kOnTheWay)->last_step, LastStep::kImplied);
  EXPECT_EQ(LiftOf(DeliveryStatus::kDelivered)->status, Status::kDelivered);
  EXPECT_EQ(LiftOf(DeliveryStatus::kDelivered)->last_step, LastStep::kReported);
}

TEST(OrdersLifecycle, ImpliesTheLastStepOfALift) {
  Order order = Placed();
  EXPECT_TRUE(MoveTo(order, Status::kReady, kNow, "key:k", LastStep::kImplied));
  EXPECT_TRUE(order.status_history.back().implied);
}

}  // namespace
}  // namespace comanda::orders
