#include "cloud/orders/refusal.h"

#include <gtest/gtest.h>

#include "base/problem.h"

namespace comanda::cloud {
namespace {

struct Row {
  StepKind kind;
  int status;
  std::string problem;
  Remedy remedy;
  std::vector<std::string> fields = {};
};

// Of a server that knows the specification alone: no code, the type says it.
std::string Typed(const std::string& code) {
  return R"({"type":"https://cloud.example/errors/)" + code + R"(","title":"x","status":422})";
}

std::string Naming(const std::vector<std::string>& fields) {
  std::string errors;
  for (const std::string& field : fields) {
    if (!errors.empty()) errors += ",";
    errors += R"({"field":")" + field + R"(","message":"x"})";
  }
  return R"({"type":"https://cloud.example/errors/validation_failed","errors":[)" + errors + "]}";
}

TEST(CloudRefusal, ALineWithoutItsLinkIsNamedByItsSku) {
  const std::string body = R"({"combos":[{"product_id":"p","variant_id":"v","quantity":1}]})";
  EXPECT_EQ(Without(body, {"combos[0].variant_id"}, {{"combos[0].variant_id", "CEV"}}),
            R"({"combos":[{"product_id":"p","sku":"CEV","quantity":1}]})");
}

TEST(CloudRefusal, HasTheRemedyOfItsCause) {
  using enum StepKind;
  const std::vector<Row> rows = {
      {kPlace, 422, Typed("idempotency_key_reused"), Remedy::kFindOrder},
      {kPlace, 422, R"({"code":"idempotency_key_reused"})", Remedy::kFindOrder},
      {kPayment, 422, Typed("idempotency_key_reused"), Remedy::kReadOrder},
      {kPlace, 422, Naming({"client_id"}), Remedy::kLeaveOut, {"client_id"}},
      {kPlace,
       422,
       Naming({"table_id", "scheduled_delivery_date"}),
       Remedy::kLeaveOut,
       {"table_id", "scheduled_delivery_date"}},
      {kCombos,
       422,
       Naming({"combos[1].modifiers[0].modifier_id"}),
       Remedy::kLeaveOut,
       {"combos[1].modifiers[0].modifier_id"}},
      // Also about money, which nobody leaves out.
      {kCombos, 422, Naming({"combos[1].product_id", "combos[1].variant_price"}), Remedy::kPark},
      {kPayment, 422, Naming({"amount"}), Remedy::kPark},
      {kRider, 422, Naming({"user_id"}), Remedy::kDrop},
      {kRider, 409, "", Remedy::kDrop},
      {kNoRider, 422, "{}", Remedy::kDrop},
      {kRider, 404, "", Remedy::kGone},
      {kStatus, 404, Typed("not_found"), Remedy::kGone},
      {kCancelCombo, 404, Typed("not_found"), Remedy::kReadOrder},
      {kPlace, 404, Typed("not_found"), Remedy::kPark},
      {kStatus, 422, Typed("order_closed"), Remedy::kPark},
      {kCancel, 409, Typed("active_payments"), Remedy::kPark},
  };
  for (const Row& row : rows) {
    const Judgement judged = JudgeRefusal(row.kind, row.status, row.problem);
    EXPECT_EQ(judged.remedy, row.remedy) << Name(row.kind) << " " << row.problem;
    EXPECT_EQ(judged.fields, row.fields) << Name(row.kind) << " " << row.problem;
  }
}

TEST(CloudRefusal, OfADeliveryThatTheCloudHasOvertaken) {
  const auto overtaken = [](StepKind kind, std::string_view wanted, std::string_view record) {
    const std::string body = R"({"delivery_status":")" + std::string(wanted) + R"("})";
    const json::Document document = json::Document::Parse(record);
    return IsOvertaken({.kind = kind, .body = body}, document.root());
  };
  using enum StepKind;
  EXPECT_TRUE(overtaken(kDelivery, "DELIVERED", R"({"status":"FINALIZED"})"));
  EXPECT_TRUE(overtaken(kDelivery, "DELIVERED", R"({"status":"CANCELLED"})"));
  EXPECT_FALSE(overtaken(kStatus, "DELIVERED", R"({"status":"CANCELLED"})"));
  EXPECT_TRUE(overtaken(kDelivery, "DRIVER_ARRIVED_AT_DESTINATION",
                        R"({"status":"READY","delivery_status":"NOT_DELIVERED"})"));
  EXPECT_FALSE(overtaken(kDelivery, "DRIVER_ON_THE_WAY_TO_DESTINATION",
                         R"({"status":"READY","delivery_status":"NOT_DELIVERED"})"));
  EXPECT_TRUE(
      overtaken(kDelivery, "NOT_DELIVERED", R"({"status":"READY","delivery_status":"DELIVERED"})"));
  EXPECT_FALSE(overtaken(kDelivery, "DELIVERED", R"({"status":"READY","delivery_status":null})"));
  EXPECT_FALSE(overtaken(kDelivery, "DELIVERED", R"({"status":"READY","delivery_status":"LOST"})"));
  EXPECT_FALSE(overtaken(kDelivery, "DELIVERED", "[]"));
}

TEST(CloudRefusal, OfAnyFormParks) {
  for (const char* problem : {"", "<html>", "[]", "null", "7", R"({"errors":7})",
                              R"({"errors":[7,null,{}]})", R"({"errors":[]})", R"({"type":7})"}) {
    EXPECT_EQ(JudgeRefusal(StepKind::kCombos, 422, problem).remedy, Remedy::kPark) << problem;
  }
}

TEST(CloudRefusal, LeavesOutFieldsAndNothingElse) {
  EXPECT_EQ(Without(R"({"service_type":"TABLE","table_id":"t","comment":"a\"b\n","n":null})",
                    {"table_id"}),
            R"({"service_type":"TABLE","comment":"a\"b\n","n":null})");
  EXPECT_EQ(Without(R"({"combos":[{"product_id":"p","quantity":1.250,"x":true},)"
                    R"({"product_id":"p","modifiers":[{"modifier_id":"m","price":0.1}]}]})",
                    {"combos[1].product_id", "combos[1].modifiers[0].modifier_id"}),
            R"({"combos":[{"product_id":"p","quantity":1.250,"x":true},)"
            R"({"modifiers":[{"price":0.1}]}]})");
  EXPECT_THROW(Without("{", {}), Fault);
}

}  // namespace
}  // namespace comanda::cloud
