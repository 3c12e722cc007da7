#include "net/reply.h"

#include <gtest/gtest.h>

namespace comanda::net {
namespace {

Reply Answered(int status, std::string body,
               std::vector<std::pair<std::string, std::string>> headers = {}) {
  Answer answer;
  answer.status = status;
  answer.body = std::move(body);
  answer.headers = std::move(headers);
  return Reply(std::move(answer));
}

const Reply kOrder = Answered(
    200, R"({"data":{"id":"a","total":12.50,"combos":[{"sku":"x"},{"sku":"y"}],"client":null}})");

TEST(SelftestReply, FindsWhatStandsAtAPath) {
  EXPECT_EQ(kOrder.Text("data.id"), "a");
  EXPECT_EQ(kOrder.Text("data.combos.0.sku"), "x");
  EXPECT_EQ(kOrder.Text("data.combos.last.sku"), "y");
  EXPECT_EQ(kOrder.Items("data.combos").size(), 2U);
  EXPECT_TRUE(kOrder.Find("data.client")->is_null());
  EXPECT_EQ(kOrder.Row("data.combos", "sku", "y")->Find("sku")->text(), "y");
}

TEST(SelftestReply, HasNothingWhereTheServerSaysSomethingElse) {
  for (const char* path : {"data.none", "data.id.below", "data.combos.7.sku", "data.combos.x",
                           "data.total.0", "nothing", "data..id"}) {
    EXPECT_FALSE(kOrder.Find(path).has_value()) << path;
    EXPECT_EQ(kOrder.Text(path), "") << path;
  }
  EXPECT_TRUE(kOrder.Items("data.id").empty());
  EXPECT_FALSE(kOrder.Row("data.combos", "sku", "z").has_value());
}

TEST(SelftestReply, ReadsNoMoreThanThereIsOfABrokenAnswer) {
  for (const char* body : {"", "<h1>Not Found</h1>", "{\"data\":", "{\"a\":1,\"a\":2}"}) {
    const Reply reply = Answered(500, body);
    EXPECT_FALSE(reply.Find("data").has_value()) << body;
    EXPECT_EQ(reply.Code(), "") << body;
    EXPECT_NE(reply.Described().find("500"), std::string::npos) << body;
  }
  EXPECT_EQ(Reply().status(), 0);
}

TEST(SelftestReply, KnowsTheCodeOfAProblemByItsTypeToo) {
  EXPECT_EQ(Answered(422, R"({"code":"order_closed","detail":"no"})").Code(), "order_closed");
  EXPECT_EQ(Answered(422, R"({"type":"https://x/problems/order_closed"})").Code(), "order_closed");
  EXPECT_EQ(Answered(422, R"({"code":"order_closed","detail":"no"})").Described(),
            "422 order_closed: no");
}

TEST(SelftestReply, TellsEqualRecordsByTheirCanonicalForm) {
  const auto canonical = [](const Reply& reply) { return reply.Find("")->Canonical(); };
  EXPECT_EQ(canonical(Answered(200, R"({"a":1,"b":[12.50]})")),
            canonical(Answered(200, R"({ "b" : [1.25e1], "a" : 1.0 })")));
  EXPECT_NE(canonical(Answered(200, R"({"a":"1"})")), canonical(Answered(200, R"({"a":1})")));
}

TEST(SelftestReply, ShowsAPersonOneShortLine) {
  EXPECT_EQ(Shown(std::optional<json::Value>()), "nothing: the field is missing");
  for (const char c : Shown(std::string_view("a\nb\x07\x1b[31mc"))) EXPECT_GE(c, ' ');
  EXPECT_LT(Shown(std::string_view(std::string(10'000, 'x'))).size(), 500U);
}

}  // namespace
}  // namespace comanda::net
