#include "orders/pricing.h"

#include <gtest/gtest.h>

namespace comanda::orders {
namespace {

constexpr UtcMs kNow = 1'800'000'000'000;

Combo Item(Minor price) {
  Combo combo;
  combo.quantity = kOneInThousandths;
  combo.variant_price = price;
  combo.variant_original_price = price;
  EXPECT_TRUE(SumUp(combo, 2));
  return combo;
}

Order TwoCoffees() {
  Order order;
  order.combos = {Item(250), Item(250)};
  return order;
}

Discount Amount(Minor value) {
  Discount discount;
  discount.value = value;
  return discount;
}

Discount Percentage(int64_t ten_thousandths) {
  Discount discount;
  discount.type = DiscountType::kPercentage;
  discount.value = ten_thousandths;
  return discount;
}

Payment Paid(Minor amount, Minor tip = 0) {
  Payment payment;
  payment.amount = amount;
  payment.tip_amount = tip;
  return payment;
}

TEST(OrdersPricing, RoundsEachLineOnceHalfAwayFromZero) {
  EXPECT_EQ(LineTotal(333, 1500, 2), 500);  // 499.5
  EXPECT_EQ(LineTotal(333, 1, 2), 0);       // 0.333
  EXPECT_EQ(LineTotal(1, 500, 2), 1);       // 0.5
}

TEST(OrdersPricing, RefusesALineAboveTheBoundOfMoney) {
  EXPECT_EQ(LineTotal(999'999'999'999, 1000, 2), 999'999'999'999);
  EXPECT_EQ(LineTotal(999'999'999'999, 1001, 2), std::nullopt);
  EXPECT_EQ(LineTotal(999'999'999'999, int64_t{999} * 9'999'000, 2), std::nullopt);
  EXPECT_EQ(LineTotal(10'000'000'000, 1000, 0), std::nullopt);
}

TEST(OrdersPricing, AddsModifiersToTheLine) {
  Combo combo;
  combo.variant_price = 2000;
  combo.variant_original_price = 2200;
  combo.modifiers = {{.price = 300, .original_price = 300}, {.price = 50, .original_price = 80}};

  ASSERT_TRUE(SumUp(combo, 2));

  EXPECT_EQ(combo.modifiers_price, 350);
  EXPECT_EQ(combo.combo_price, 2350);
  EXPECT_EQ(combo.combo_original_price, 2580);
}

TEST(OrdersPricing, RefusesALineThatModifiersLiftAboveTheBound) {
  Combo combo;
  combo.variant_price = 999'999'999'999;
  combo.modifiers = {{.price = 1}};
  EXPECT_FALSE(SumUp(combo, 2));
}

TEST(OrdersPricing, SumsActiveItemsAndExtras) {
  Order order = TwoCoffees();
  order.delivery_price = 700;
  order.packaging_price = 50;
  order.combos[1].canceled_at = kNow;

  ASSERT_TRUE(Price(order, kNow));

  EXPECT_EQ(order.totals.subtotal, 250);
  EXPECT_EQ(order.totals.total, 1000);
}

TEST(OrdersPricing, TakesPercentagesOfTheSubtotalAlone) {
  Order order = TwoCoffees();
  order.delivery_price = 1000;
  order.discounts = {Percentage(100'000), Percentage(200'000)};

  ASSERT_TRUE(Price(order, kNow));

  EXPECT_EQ(order.discounts[0].amount, 50);
  EXPECT_EQ(order.discounts[1].amount, 100);
  EXPECT_EQ(order.totals.total_discounts, 150);
  EXPECT_EQ(order.totals.total, 1350);
}

TEST(OrdersPricing, CapsTheLatestDiscountWhenTheSumExceedsTheOrder) {
  Order order = TwoCoffees();
  order.discounts = {Amount(400), Amount(300), Amount(1)};

  ASSERT_TRUE(Price(order, kNow));

  EXPECT_EQ(order.totals.total, 0);
  EXPECT_EQ(order.discounts[0].amount, 400);
  EXPECT_EQ(order.discounts[1].amount, 100);
  EXPECT_EQ(order.discounts[2].amount, 0);
  EXPECT_EQ(order.discounts[1].value, 300);
}

TEST(OrdersPricing, RestoresADiscountWhenItemsComeBack) {
  Order order = TwoCoffees();
  order.discounts = {Amount(600)};
  ASSERT_TRUE(Price(order, kNow));
  EXPECT_EQ(order.discounts[0].amount, 500);

  order.combos.push_back(Item(250));
  ASSERT_TRUE(Price(order, kNow));

  EXPECT_EQ(order.discounts[0].amount, 600);
  EXPECT_EQ(order.totals.total, 150);
}

TEST(OrdersPricing, KeepsTipsOutOfTheTotal) {
  Order order = TwoCoffees();
  order.payments = {Paid(400, 100)};

  ASSERT_TRUE(Price(order, kNow));

  EXPECT_EQ(order.totals.total, 500);
  EXPECT_EQ(order.totals.total_tips, 100);
  EXPECT_EQ(order.totals.pending_amount(), 100);
  EXPECT_FALSE(order.totals.paid);
}

TEST(OrdersPricing, SetsPaidAtWhenPaymentsAddUpAndClearsItWhenTheyStop) {
  Order order = TwoCoffees();
  order.payments = {Paid(300), Paid(300, 20)};
  ASSERT_TRUE(Price(order, kNow));
  EXPECT_TRUE(order.totals.paid);
  EXPECT_EQ(order.paid_at, kNow);
  EXPECT_EQ(order.totals.overpayment(), 100);

  ASSERT_TRUE(Price(order, kNow + 1));
  EXPECT_EQ(order.paid_at, kNow);

  order.payments[1].canceled_at = kNow;
  ASSERT_TRUE(Price(order, kNow + 2));
  EXPECT_FALSE(order.totals.paid);
  EXPECT_EQ(order.paid_at, std::nullopt);
  EXPECT_EQ(order.totals.total_tips, 0);
}

TEST(OrdersPricing, CallsAnEmptyOrderUnpaidAndAFreeOnePaid) {
  Order order;
  ASSERT_TRUE(Price(order, kNow));
  EXPECT_FALSE(order.totals.paid);

  order.combos = {Item(0)};
  ASSERT_TRUE(Price(order, kNow));
  EXPECT_TRUE(order.totals.paid);

  order.combos[0].canceled_at = kNow;
  ASSERT_TRUE(Price(order, kNow));
  EXPECT_FALSE(order.totals.paid);
}

TEST(OrdersPricing, RefusesSumsAboveTheBoundOfMoney) {
  Order order;
  order.combos = {Item(999'999'999'999)};
  EXPECT_TRUE(Price(order, kNow));
  order.packaging_price = 1;
  EXPECT_FALSE(Price(order, kNow));

  Order tipped = TwoCoffees();
  tipped.payments = {Paid(1, 999'999'999'999), Paid(1, 1)};
  EXPECT_FALSE(Price(tipped, kNow));
}

}  // namespace
}  // namespace comanda::orders
