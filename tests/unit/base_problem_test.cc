#include "base/problem.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

namespace comanda {
namespace {

TEST(Problem, NamesFieldCodesAsTheyStandOnTheWire) {
  EXPECT_EQ(Name(FieldCode::kRequired), "required");
  EXPECT_EQ(Name(FieldCode::kTooManyDecimals), "too_many_decimals");
  EXPECT_EQ(Name(FieldCode::kIdOrSkuRequired), "id_or_sku_required");
  EXPECT_EQ(Name(FieldCode::kLooksLikeCardNumber), "looks_like_card_number");
}

TEST(Problem, OneWrongFieldIsAlsoTheDetail) {
  const Refusal refusal = Invalid("quantity", FieldCode::kMustBePositive, "must be above 0");

  EXPECT_EQ(refusal.problem, Problem::kValidationFailed);
  EXPECT_EQ(refusal.detail, "quantity: must be above 0");
  ASSERT_EQ(refusal.errors.size(), 1U);
  EXPECT_EQ(refusal.errors[0].field, "quantity");
  EXPECT_EQ(refusal.errors[0].code, FieldCode::kMustBePositive);
  EXPECT_EQ(refusal.errors[0].message, "must be above 0");
}

template <typename Thrown>
Fault::Kind KindOf(const Thrown& thrown) {
  try {
    throw thrown;
  } catch (const std::exception&) {
    return KindOfHandled();
  }
}

TEST(Problem, WhatIsThrownComesToAFault) {
  EXPECT_EQ(KindOf(Fault(Fault::Kind::kDiskFull, "full")), Fault::Kind::kDiskFull);
  EXPECT_EQ(KindOf(std::bad_alloc()), Fault::Kind::kUnavailable) << "others give memory back";
  EXPECT_EQ(KindOf(std::runtime_error("?")), Fault::Kind::kInternal);
}

}  // namespace
}  // namespace comanda
