#include "selftest/finding.h"

#include <array>

#include <gtest/gtest.h>

#include "selftest/probe.h"

namespace comanda::selftest {
namespace {

Reply Answered(int status, std::string body) {
  net::Answer answer;
  answer.status = status;
  answer.body = std::move(body);
  answer.headers = {
      {"content-type", status < 400 ? "application/json" : "application/problem+json"}};
  return Reply(std::move(answer));
}

const Reply kOrder =
    Answered(200, R"({"data":{"id":"a","total":12.5,"paid":false,"combos":[],"client":null}})");

TEST(SelftestFinding, IsOkWhereEveryExpectationIsMet) {
  Finding finding(Yardstick::kContract, Promise::kContract);
  EXPECT_TRUE(finding.Status(kOrder, 200));
  EXPECT_TRUE(finding.Text(kOrder, "data.id", "a"));
  EXPECT_TRUE(finding.Number(kOrder, "data.total", "12.50"));
  EXPECT_TRUE(finding.Boolean(kOrder, "data.paid", false));
  EXPECT_TRUE(finding.Null(kOrder, "data.client"));
  EXPECT_TRUE(finding.Set(kOrder, "data.id"));
  EXPECT_TRUE(finding.Empty(kOrder, "data.combos"));
  EXPECT_EQ(finding.result(), Verdict::kOk);
  EXPECT_TRUE(finding.differences().empty());
}

TEST(SelftestFinding, TellsWhatWasExpectedAndWhatCame) {
  Finding finding(Yardstick::kContract, Promise::kContract);
  EXPECT_FALSE(finding.Number(kOrder, "data.total", "25"));
  ASSERT_EQ(finding.differences().size(), 1U);
  EXPECT_EQ(finding.differences()[0].expected, "25");
  EXPECT_EQ(finding.differences()[0].got, "12.5");
  EXPECT_NE(finding.differences()[0].what.find("total"), std::string::npos);
  EXPECT_EQ(finding.result(), Verdict::kDiffers);
}

TEST(SelftestFinding, DiffersWhereTheKindIsAnother) {
  const Reply other = Answered(200, R"({"data":{"total":"12.5","paid":0,"combos":null,"id":1}})");
  Finding finding(Yardstick::kContract, Promise::kContract);
  EXPECT_FALSE(finding.Number(other, "data.total", "12.5"));
  EXPECT_FALSE(finding.Boolean(other, "data.paid", false));
  EXPECT_FALSE(finding.Empty(other, "data.combos"));
  EXPECT_FALSE(finding.Text(other, "data.id", "1"));
  EXPECT_FALSE(finding.Null(other, "data.none"));  // absent is not null
  EXPECT_FALSE(finding.Set(other, "data.combos"));
  EXPECT_EQ(finding.differences().size(), 6U);
}

TEST(SelftestFinding, ADifferenceStandsThoughTheRestCouldNotBeLookedAt) {
  Finding finding(Yardstick::kContract, Promise::kContract);
  finding.NotChecked("no order");
  EXPECT_EQ(finding.result(), Verdict::kNotChecked);
  EXPECT_EQ(finding.note(), "no order");
  finding.Differs("total", "1", "2");
  EXPECT_EQ(finding.result(), Verdict::kDiffers);
}

TEST(SelftestFinding, KnowsAProblemDocument) {
  const Reply closed = Answered(
      422, R"({"type":"https://x/order_closed","title":"Order Closed","status":422,"detail":"d",)"
           R"("instance":"/v1/orders","code":"order_closed","request_id":"r"})");
  Finding finding(Yardstick::kContract, Promise::kContract);
  EXPECT_TRUE(finding.Problem(closed, 422, "order_closed"));
  EXPECT_EQ(finding.result(), Verdict::kOk);
  EXPECT_FALSE(finding.Problem(closed, 422, "order_cancelled"));
  EXPECT_FALSE(finding.Problem(closed, 409, "order_closed"));
  EXPECT_FALSE(finding.Problem(kOrder, 422, "order_closed"));
}

TEST(SelftestFinding, NamesTheFirstFieldThatDiffers) {
  Finding finding(Yardstick::kContract, Promise::kContract);
  const Reply paid =
      Answered(200, R"({"data":{"id":"a","total":12.5,"paid":true,"combos":[],"client":null}})");
  EXPECT_TRUE(finding.SameRecord("the order", kOrder.Find("data"), kOrder.Find("data")));
  EXPECT_FALSE(finding.SameRecord("the order", kOrder.Find("data"), paid.Find("data")));
  ASSERT_EQ(finding.differences().size(), 1U);
  EXPECT_NE(finding.differences()[0].what.find("paid"), std::string::npos);
  EXPECT_FALSE(finding.SameRecord("the order", kOrder.Find("data"), paid.Find("none")));
}

TEST(SelftestFinding, NamesTheMembersThatAreMissing) {
  constexpr std::array<std::string_view, 3> kNames = {"id", "total", "public_id"};
  Finding finding(Yardstick::kContract, Promise::kContract);
  EXPECT_FALSE(finding.Members(kOrder.Find("data"), kNames, "the order"));
  ASSERT_EQ(finding.differences().size(), 1U);
  const Difference& difference = finding.differences()[0];
  EXPECT_NE((difference.what + difference.expected + difference.got).find("public_id"),
            std::string::npos);
}

TEST(SelftestFinding, AListHasNumbersThatFitItsRows) {
  const auto list = [](std::string body) {
    Finding finding(Yardstick::kContract, Promise::kContract);
    return finding.List(Answered(200, std::move(body)));
  };
  EXPECT_TRUE(list(R"({"data":[1],"pagination":)"
                   R"({"current_page":1,"per_page":20,"total":1,"has_more":false}})"));
  EXPECT_FALSE(list(R"({"data":[1,2],"pagination":)"
                    R"({"current_page":1,"per_page":1,"total":2,"has_more":false}})"));
  EXPECT_FALSE(list(R"({"data":{}})"));
  EXPECT_FALSE(list("[]"));
}

TEST(SelftestProbe, FillsPatternsAndCountsInTheCurrency) {
  EXPECT_EQ(Filled(R"({"price":$,"sku":"$"})", {"12.5", "x"}), R"({"price":12.5,"sku":"x"})");
  Settings settings;
  Heartbeats heartbeats(SystemClock());
  metrics::Registry metrics;
  net::Network network(heartbeats, metrics);
  Probe probe(settings, network);
  EXPECT_EQ(probe.Amount(1250), "12.5");
  probe.LearnCurrency("CLP");
  EXPECT_EQ(probe.Amount(1250), "1250");
  probe.LearnCurrency("KWD");
  EXPECT_EQ(probe.MinorOf(kOrder.Find("data.total")), Minor{12500});
  EXPECT_FALSE(probe.MinorOf(kOrder.Find("data.id")).has_value());
  EXPECT_TRUE(probe.NewReference().starts_with("selftest-"));
  EXPECT_NE(probe.NewReference(), probe.NewReference());
}

}  // namespace
}  // namespace comanda::selftest
