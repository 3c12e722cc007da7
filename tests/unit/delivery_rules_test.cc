#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "delivery/status/changes.h"
#include "delivery/credentials.h"
#include "delivery/status/rules.h"
#include "wire/percent.h"

namespace comanda::delivery {
namespace {

using Op = Predicate::Op;

const Variables kVariables = {{"id", "a/b"}, {"token", "tok en"}};

std::vector<std::string> Texts(std::string_view document, std::string_view pointer) {
  const json::Document parsed = json::Document::Parse(document);
  std::vector<std::string> texts;
  for (const json::Value& value : ValuesAt(parsed.root(), pointer, kVariables)) {
    texts.push_back(value.Canonical());
  }
  return texts;
}

using Strings = std::vector<std::string>;

// The examples of RFC 6901 section 5.
TEST(DeliveryRules, PointersAreThoseOfTheRfc) {
  constexpr std::string_view kDocument =
      R"({"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"k\"l":6," ":7,"m~n":8})";
  EXPECT_EQ(Texts(kDocument, "/foo/0"), Strings{R"("bar")"});
  EXPECT_EQ(Texts(kDocument, "/"), Strings{"0"});
  EXPECT_EQ(Texts(kDocument, "/a~1b"), Strings{"1"});
  EXPECT_EQ(Texts(kDocument, "/c%d"), Strings{"2"});
  EXPECT_EQ(Texts(kDocument, "/k\"l"), Strings{"6"});
  EXPECT_EQ(Texts(kDocument, "/ "), Strings{"7"});
  EXPECT_EQ(Texts(kDocument, "/m~0n"), Strings{"8"});
  EXPECT_EQ(Texts(kDocument, "/foo/2"), Strings{});
  EXPECT_EQ(Texts(kDocument, "/foo/-"), Strings{});
  EXPECT_EQ(Texts(kDocument, "/foo/bar"), Strings{});
  EXPECT_EQ(Texts("7", ""), Strings{"7"});
}

TEST(DeliveryRules, AStarIsEveryItemAndAVariableOneName) {
  EXPECT_EQ(Texts(R"([{"a":1},{"a":2},{"b":3}])", "/*/a"), (Strings{"1", "2"}));
  EXPECT_EQ(Texts(R"({"x":{"y":1},"z":{"y":2}})", "/*/y"), (Strings{"1", "2"}));
  EXPECT_EQ(Texts(R"({"a/b":5})", "/${id}"), Strings{"5"});
}

TEST(DeliveryRules, MalformedPointersAreKnown) {
  for (const char* pointer : {"", "/", "/a/*/b", "/~0~1"}) EXPECT_TRUE(IsPointer(pointer));
  for (const char* pointer : {"a", "/~", "/~2", "*"}) EXPECT_FALSE(IsPointer(pointer));
}

bool HoldsIn(const Predicate& predicate, std::string_view document) {
  const json::Document parsed = json::Document::Parse(document);
  return Holds(predicate, parsed.root(), {.variables = kVariables, .now = 1'000'000'000'000});
}

Scalar Number(std::string text) { return {Scalar::Kind::kNumber, std::move(text)}; }
Scalar Text(std::string text) { return {Scalar::Kind::kText, std::move(text)}; }

TEST(DeliveryRules, ConditionsCompareKindAndText) {
  const Predicate one{Op::kEq, "/a", {Number("1")}, {}};
  EXPECT_TRUE(HoldsIn(one, R"({"a":1})"));
  EXPECT_FALSE(HoldsIn(one, R"({"a":"1"})"));
  EXPECT_FALSE(HoldsIn(one, R"({})"));
  EXPECT_FALSE(HoldsIn(one, R"([])"));
  const Predicate not_one{Op::kNe, "/a", {Number("1")}, {}};
  EXPECT_TRUE(HoldsIn(not_one, R"({"a":2})"));
  EXPECT_TRUE(HoldsIn(not_one, R"({"a":{}})"));
  EXPECT_FALSE(HoldsIn(not_one, R"({"a":1})"));
  EXPECT_FALSE(HoldsIn(not_one, R"({})")) << "there is nothing to compare";
  const Predicate any_of{Op::kIn, "/a", {Number("1"), Text("x"), Scalar{}}, {}};
  for (const char* good : {R"({"a":1})", R"({"a":"x"})", R"({"a":null})"}) {
    EXPECT_TRUE(HoldsIn(any_of, good));
  }
  EXPECT_FALSE(HoldsIn(any_of, R"({"a":true})"));
  const Predicate long_id{Op::kEq, "/a", {Number("5764607523034234881")}, {}};
  EXPECT_TRUE(HoldsIn(long_id, R"({"a":5764607523034234881})"));
  EXPECT_FALSE(HoldsIn(long_id, R"({"a":5764607523034234880})"));
}

TEST(DeliveryRules, ConditionsOnTextsTimesAndPresence) {
  const Predicate paused{Op::kPrefix, "/a", {Text("PAUSED")}, {}};
  EXPECT_TRUE(HoldsIn(paused, R"({"a":"PAUSED_BY_X"})"));
  EXPECT_FALSE(HoldsIn(paused, R"({"a":"UNPAUSED"})"));
  EXPECT_FALSE(HoldsIn(paused, R"({"a":7})"));
  const Predicate there{Op::kExists, "/a", {}, {}};
  EXPECT_TRUE(HoldsIn(there, R"({"a":null})"));
  EXPECT_FALSE(HoldsIn(there, R"({"b":1})"));
  const Predicate later{Op::kFuture, "/a", {}, {}};
  EXPECT_TRUE(HoldsIn(later, R"({"a":"2030-01-01T00:00:00Z"})"));
  EXPECT_FALSE(HoldsIn(later, R"({"a":"2001-01-01T00:00:00Z"})"));
  EXPECT_FALSE(HoldsIn(later, R"({"a":"tomorrow"})"));
}

TEST(DeliveryRules, ConditionsAreCombined) {
  const Predicate one{Op::kEq, "", {Number("1")}, {}};
  const Predicate any{Op::kAny, "/*", {}, {one}}, all{Op::kAll, "/*", {}, {one}};
  EXPECT_TRUE(HoldsIn(any, "[2,1]") && HoldsIn(all, "[1,1]"));
  EXPECT_FALSE(HoldsIn(any, "[2]") || HoldsIn(any, "[]"));
  EXPECT_FALSE(HoldsIn(all, "[1,2]") || HoldsIn(all, "[]")) << "of nothing, nothing holds";
  const Predicate both{Op::kAnd, "", {}, {any, Predicate{Op::kNot, "", {}, {all}}}};
  EXPECT_TRUE(HoldsIn(both, "[2,1]"));
  EXPECT_FALSE(HoldsIn(both, "[1]"));
  EXPECT_TRUE(HoldsIn({Op::kOr, "", {}, {all, any}}, "[2,1]"));
}

TEST(DeliveryRules, TemplatesAreEscapedForWhereTheyStand) {
  EXPECT_EQ(Expand("x/${id}?t=${token}", kVariables, wire::PercentEncoded), "x/a%2Fb?t=tok%20en");
  EXPECT_EQ(Expand("[${q}]", {{"q", "\"\n"}}, InJson), R"([\"\n])");
  EXPECT_EQ(Expand("${gone}${", kVariables, AsIs), "${");
  EXPECT_EQ(NamesIn("${a}-${b}"), (Strings{"a", "b"}));
  EXPECT_FALSE(NamesIn("${}") || NamesIn("${a"));
}

TEST(DeliveryRules, SecretsAreMaskedInEveryForm) {
  Provider provider;
  provider.credentials = {{.name = "secret", .is_secret = true}, {.name = "plain"}};
  const Variables values = {{"secret", "p/ss\"word"}, {"plain", "visible"}, {"token", "tok en"}};
  EXPECT_EQ(Masked(R"(p/ss"word p%2Fss%22word p/ss\"word tok%20en visible)", provider, values),
            "*** *** *** *** visible");
}

// Changes

TEST(DeliveryChanges, AStateSeenTwiceInARowIsNews) {
  Watched watched;
  const auto take = [&](StoreStatus status, int64_t at_ms) { return Take(watched, status, at_ms); };
  EXPECT_FALSE(take(StoreStatus::kOpen, 0).is_new);
  const StateNews first = take(StoreStatus::kOpen, 60'000);
  EXPECT_TRUE(first.is_new && first.is_first);
  EXPECT_FALSE(take(StoreStatus::kOpen, 120'000).is_new);
  EXPECT_FALSE(take(StoreStatus::kPaused, 180'000).is_new);
  EXPECT_FALSE(take(StoreStatus::kOpen, 240'000).is_new) << "it came back: nothing was told";
  EXPECT_FALSE(take(StoreStatus::kPaused, 300'000).is_new);
  const StateNews paused = take(StoreStatus::kPaused, 360'000);
  EXPECT_TRUE(paused.is_new && !paused.is_first);
}

TEST(DeliveryChanges, UnknownIsNewsAfterFiveMinutes) {
  Watched watched{.reported = StoreStatus::kOpen, .seen = StoreStatus::kOpen};
  for (int64_t at_ms = 0; at_ms < kUnknownMs; at_ms += 60'000) {
    EXPECT_FALSE(Take(watched, StoreStatus::kUnknown, at_ms).is_new);
  }
  EXPECT_TRUE(Take(watched, StoreStatus::kUnknown, kUnknownMs).is_new);
  EXPECT_FALSE(Take(watched, StoreStatus::kUnknown, 2 * kUnknownMs).is_new);
  EXPECT_FALSE(Take(watched, StoreStatus::kOpen, 2 * kUnknownMs + 1).is_new);
  EXPECT_TRUE(Take(watched, StoreStatus::kOpen, 2 * kUnknownMs + 2).is_new);
}

}  // namespace
}  // namespace comanda::delivery
