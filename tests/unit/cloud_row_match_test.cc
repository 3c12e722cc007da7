#include "cloud/orders/row_match.h"

#include <gtest/gtest.h>

namespace comanda::cloud {
namespace {

using orders::Combo;
using orders::Order;

Combo Line(const std::string& id, const std::string& name, Minor price) {
  Combo combo;
  combo.id = id;
  combo.product_name = name;
  combo.quantity = orders::kOneInThousandths;
  combo.variant_price = price;
  combo.variant_original_price = price;
  combo.combo_price = price;
  return combo;
}

orders::Payment Paid(const std::string& id, const std::string& code, Minor amount) {
  return {.id = id, .method = {.id = code, .code = code, .description = code}, .amount = amount};
}

class CloudRowMatch : public ::testing::Test {
 protected:
  void InCloud(const std::string& id, Combo combo) {
    cloud.combo_ids.push_back(id);
    combo.id = id;
    cloud.order.combos.push_back(std::move(combo));
  }
  void HereAndPlanned(const Combo& combo) {
    box.combos.push_back(combo);
    mirror.combos.try_emplace(combo.id);
  }

  Mirror mirror;
  Order box;
  CloudRecord cloud;
};

TEST_F(CloudRowMatch, MatchesNewRowsByContent) {
  HereAndPlanned(Line("a", "Chicha", 500));
  HereAndPlanned(Line("b", "Lomo", 2000));
  InCloud("1", Line("", "Lomo", 2000));
  InCloud("2", Line("", "Chicha", 500));
  EXPECT_EQ(MatchRows(mirror, box, cloud), 2U);
  EXPECT_EQ(mirror.combos["a"].cloud_id, "2");
  EXPECT_EQ(mirror.combos["b"].cloud_id, "1");
  EXPECT_EQ(MatchRows(mirror, box, cloud), 0U) << "each row once";
}

TEST_F(CloudRowMatch, EqualRowsAreInterchangeable) {
  HereAndPlanned(Line("a", "Lomo", 2000));
  HereAndPlanned(Line("b", "Lomo", 2000));
  InCloud("1", Line("", "Lomo", 2000));
  EXPECT_EQ(MatchRows(mirror, box, cloud), 1U);
  EXPECT_EQ(mirror.combos["a"].cloud_id, "1");
  InCloud("2", Line("", "Lomo", 2000));
  EXPECT_EQ(MatchRows(mirror, box, cloud), 1U);
  EXPECT_EQ(mirror.combos["b"].cloud_id, "2");
}

TEST_F(CloudRowMatch, ARowThatTheCloudHasAlreadyIsNotSentAgain) {
  box.combos.push_back(Line("a", "Lomo", 2000));
  Combo cancelled = Line("", "Lomo", 2000);
  cancelled.canceled_at = 5;
  InCloud("1", cancelled);
  EXPECT_EQ(MatchRows(mirror, box, cloud), 1U);
  EXPECT_EQ(mirror.combos["a"], (Row{.is_cancelled = true, .cloud_id = "1"}));
}

TEST_F(CloudRowMatch, RowsThatWaitComeBeforeRowsThatAreNotPlanned) {
  box.combos.push_back(Line("a", "Lomo", 2000));
  HereAndPlanned(Line("b", "Lomo", 2000));
  InCloud("1", Line("", "Lomo", 2000));
  MatchRows(mirror, box, cloud);
  EXPECT_EQ(mirror.combos["b"].cloud_id, "1");
  EXPECT_FALSE(mirror.combos.contains("a"));
}

TEST_F(CloudRowMatch, ACancelledRowFitsACancelledOneFirst) {
  Combo cancelled = Line("a", "Lomo", 2000);
  cancelled.canceled_at = 5;
  HereAndPlanned(cancelled);
  HereAndPlanned(Line("b", "Lomo", 2000));
  InCloud("1", Line("", "Lomo", 2000));
  MatchRows(mirror, box, cloud);
  EXPECT_EQ(mirror.combos["b"].cloud_id, "1");
}

TEST_F(CloudRowMatch, WhatTheCloudDoesNotShowDoesNotSeparate) {
  Combo here = Line("a", "Lomo", 2000);
  here.comment = "jugoso";
  here.modifiers = {{.id = "m", .name = "Papas", .quantity = 1000, .price = 300},
                    {.id = "n", .name = "Arroz", .quantity = 1000, .price = 200}};
  here.modifiers_price = 500;
  HereAndPlanned(here);
  Combo there = here;
  there.product_name.clear();
  there.comment.reset();
  for (orders::Modifier& modifier : there.modifiers) modifier.name.clear();
  std::swap(there.modifiers[0], there.modifiers[1]);
  InCloud("1", there);
  EXPECT_EQ(MatchRows(mirror, box, cloud), 1U);
}

TEST_F(CloudRowMatch, AnotherProductIsAnotherRow) {
  HereAndPlanned(Line("a", "Lomo", 2000));
  InCloud("1", Line("", "Pollo", 2000));
  Combo two = Line("", "Lomo", 2000);
  two.quantity = 2 * orders::kOneInThousandths;
  InCloud("2", two);
  EXPECT_EQ(MatchRows(mirror, box, cloud), 0U);
}

TEST_F(CloudRowMatch, ARoundedPriceIsStillTheRow) {
  HereAndPlanned(Line("a", "Queso", 1234));
  HereAndPlanned(Line("b", "Queso", 999));
  InCloud("1", Line("", "Queso", 999));
  InCloud("2", Line("", "Queso", 1235));
  EXPECT_EQ(MatchRows(mirror, box, cloud), 2U);
  EXPECT_EQ(mirror.combos["b"].cloud_id, "1");
  EXPECT_EQ(mirror.combos["a"].cloud_id, "2");
}

TEST_F(CloudRowMatch, PaymentsAndDiscountsToo) {
  box.payments = {Paid("a", "cash", 1000), Paid("b", "card", 1000)};
  box.discounts = {{.id = "d", .value = 100, .amount = 100}};
  mirror.payments = {{"a", {}}, {"b", {}}};
  mirror.discounts = {{"d", {}}};
  cloud.order.payments = {Paid("1", "card", 1000), Paid("2", "cash", 1000)};
  cloud.payment_ids = {"1", "2"};
  cloud.order.discounts = {{.id = "3", .value = 100, .amount = 100, .reason = "amigo"}};
  cloud.discount_ids = {"3"};
  EXPECT_EQ(MatchRows(mirror, box, cloud), 3U);
  EXPECT_EQ(mirror.payments["a"].cloud_id, "2");
  EXPECT_EQ(mirror.payments["b"].cloud_id, "1");
  EXPECT_EQ(mirror.discounts["d"].cloud_id, "3");
}

TEST_F(CloudRowMatch, ADiscountThatWasRemovedBeforeItWasSentGetsItsIdToo) {
  mirror.discounts = {{"d", {.is_cancelled = true, .cloud_id = ""}}};
  cloud.order.discounts = {{.id = "3", .value = 100, .amount = 100}};
  cloud.discount_ids = {"3"};
  const Step step{.kind = StepKind::kDiscount, .row_ids = {"d"}};
  EXPECT_EQ(MatchMade(mirror, box, cloud, step), 1U);
  EXPECT_EQ(mirror.discounts["d"], (Row{.is_cancelled = true, .cloud_id = "3"}));
}

// Two equal discounts, the first of which was removed here before the second was sent: the answer
// to the first step shows one row, that to the second both.
TEST_F(CloudRowMatch, EqualRowsGetTheIdsThatTheirOwnStepsHaveMade) {
  const orders::Discount equal{.id = "second", .value = 100, .amount = 100};
  box.discounts = {equal};
  mirror.discounts = {{"first", {.is_cancelled = true, .cloud_id = ""}}, {"second", {}}};
  cloud.order.discounts = {{.id = "1", .value = 100, .amount = 100}};
  cloud.discount_ids = {"1"};
  EXPECT_EQ(MatchRows(mirror, box, cloud, {"first", "second"}), 0U) << "their steps wait";
  const Step first{.kind = StepKind::kDiscount, .row_ids = {"first"}};
  EXPECT_EQ(MatchMade(mirror, box, cloud, first), 1U);
  EXPECT_EQ(mirror.discounts["first"].cloud_id, "1");
  cloud.order.discounts.push_back({.id = "2", .value = 100, .amount = 100});
  cloud.discount_ids.emplace_back("2");
  const Step second{.kind = StepKind::kDiscount, .row_ids = {"second"}};
  EXPECT_EQ(MatchMade(mirror, box, cloud, second), 1U);
  EXPECT_EQ(mirror.discounts["second"].cloud_id, "2");
}

TEST_F(CloudRowMatch, ARowWithoutAnIdIsLeftOut) {
  HereAndPlanned(Line("a", "Lomo", 2000));
  InCloud("", Line("", "Lomo", 2000));
  EXPECT_EQ(MatchRows(mirror, box, cloud), 0U);
}

}  // namespace
}  // namespace comanda::cloud
