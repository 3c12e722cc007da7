#include "wire/problem.h"

#include <gtest/gtest.h>

#include <new>
#include <set>
#include <stdexcept>

#include "json/reader.h"

namespace comanda::wire {
namespace {

std::string HeaderOf(const Response& response, std::string_view name) {
  for (const auto& [header, value] : response.headers) {
    if (header == name) return value;
  }
  return "";
}

TEST(WireProblem, HasTheMembersOfTheContractInOrder) {
  const Response response =
      ProblemResponse(Invalid("combos[0].quantity", FieldCode::kMustBePositive, "must be above 0."),
                      "https://comanda.example/problems", "/v1/orders", "r1");
  EXPECT_EQ(response.status, 422);
  EXPECT_EQ(response.content_type, "application/problem+json");
  EXPECT_EQ(response.cache, Cache::kNoStore);
  EXPECT_EQ(HeaderOf(response, "Link"), R"(</problems/validation_failed>; rel="help")");
  EXPECT_EQ(response.body,
            R"({"type":"https://comanda.example/problems/validation_failed",)"
            R"("title":"Validation Failed","status":422,)"
            R"("detail":"combos[0].quantity: must be above 0.","instance":"/v1/orders",)"
            R"("code":"validation_failed","request_id":"r1",)"
            R"("errors":[{"field":"combos[0].quantity","code":"must_be_positive",)"
            R"("message":"must be above 0."}]})");
}

TEST(WireProblem, NamesAtMostFiftyFields) {
  Refusal refusal(Problem::kValidationFailed, "many");
  for (int i = 0; i < 60; ++i) refusal.errors.push_back({"f", FieldCode::kRequired, "m"});
  const Response response = ProblemResponse(refusal, "e", "/", "r");
  EXPECT_EQ(json::Document::Parse(response.body).root().Find("errors")->items().size(), 50u);
}

TEST(WireProblem, ChallengesWhereCredentialsFail) {
  const auto challenge = [](Problem problem, std::string scope = "") {
    Refusal refusal(problem, "x");
    refusal.required_scope = std::move(scope);
    return HeaderOf(ProblemResponse(refusal, "e", "/", "r"), "WWW-Authenticate");
  };
  EXPECT_EQ(challenge(Problem::kUnauthorized), R"(Bearer realm="comanda")");
  EXPECT_EQ(challenge(Problem::kKeyRevoked), R"(Bearer realm="comanda", error="invalid_token")");
  EXPECT_EQ(challenge(Problem::kInsufficientScope, "orders:write"),
            R"(Bearer realm="comanda", error="insufficient_scope", scope="orders:write")");
  EXPECT_EQ(challenge(Problem::kNotFound), "");
  EXPECT_EQ(challenge(Problem::kAddressNotAllowed), "");
}

TEST(WireProblem, CarriesAllowAndRetryAfter) {
  Refusal refusal(Problem::kMethodNotAllowed, "x");
  refusal.allow = "GET";
  refusal.retry_after_s = 7;
  const Response response = ProblemResponse(refusal, "e", "/", "r");
  EXPECT_EQ(HeaderOf(response, "Allow"), "GET");
  EXPECT_EQ(HeaderOf(response, "Retry-After"), "7");
}

TEST(WireProblem, GivesEveryKindItsOwnCodeAndNever409) {
  std::set<std::string_view> codes;
  for (int i = 0; i <= static_cast<int>(Problem::kVersionNotSupported); ++i) {
    const ProblemRow& row = Row(static_cast<Problem>(i));
    EXPECT_TRUE(codes.insert(row.code).second) << row.code;
    EXPECT_EQ(FindRow(row.code), &row);
    EXPECT_NE(row.status, 409);
    EXPECT_GE(row.status, 400);
    EXPECT_LE(row.status, 505);
  }
  EXPECT_EQ(FindRow("no_such_code"), nullptr);
}

TEST(WireProblem, TellsWhenAFaultIsWorthAnotherTry) {
  const Refusal internal = ToRefusal(Fault::Kind::kInternal);
  EXPECT_EQ(internal.problem, Problem::kInternalError);
  const Refusal full = ToRefusal(Fault::Kind::kDiskFull);
  EXPECT_EQ(full.problem, Problem::kServiceUnavailable);
  EXPECT_GT(full.retry_after_s, 0);
  EXPECT_EQ(ToRefusal(Fault::Kind::kUnavailable).retry_after_s, 1);
}

}  // namespace
}  // namespace comanda::wire
