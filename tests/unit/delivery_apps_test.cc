// The built-in files of delivery apps: each rule and each condition on the answer has an example of
// an answer, written after the app's documents, and means what it should.

#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "delivery/embedded.h"
#include "delivery/provider_file.h"
#include "delivery/status/rules.h"

namespace comanda::delivery {
namespace {

struct Example {
  std::string_view answer;
  StoreStatus status;
  Reason reason = Reason::kNone;
  bool is_in_hours = true;  // of the restaurant
};

const Variables kVariables = {{"store_id", "900105433"}};
constexpr UtcMs kNow = 1'795'000'000'000;

const std::map<std::string, std::vector<Example>> kExamples = {
    {"ifood",
     {{R"([{"operation":"DELIVERY","salesChannel":"ifood-app","available":true,"state":"OK",
           "validations":[{"id":"opening-hours","code":"opening-hours","state":"OK"}]}])",
       StoreStatus::kOpen},
      {R"([{"operation":"TAKEOUT","state":"ERROR"},{"operation":"DELIVERY","state":"WARNING"}])",
       StoreStatus::kOpen},
      {R"([{"operation":"DELIVERY","state":"CLOSED",
           "validations":[{"id":"unavailabilities","state":"ERROR"}]}])",
       StoreStatus::kPaused, Reason::kPaused},
      {R"([{"operation":"DELIVERY","state":"CLOSED",
           "validations":[{"code":"opening-hours","id":"x","state":"CLOSED"}]}])",
       StoreStatus::kClosed, Reason::kOutOfHours},
      {R"([{"operation":"DELIVERY","state":"ERROR",
           "validations":[{"id":"payout-blocked","state":"ERROR"}]}])",
       StoreStatus::kClosed, Reason::kBlocked},
      {R"([{"operation":"DELIVERY","state":"ERROR",
           "validations":[{"id":"terms-service-violation","state":"ERROR"}]}])",
       StoreStatus::kClosed, Reason::kBlocked},
      {R"([{"operation":"DELIVERY","state":"ERROR",
           "validations":[{"id":"is-connected","state":"ERROR"}]}])",
       StoreStatus::kClosed},
      {R"([])", StoreStatus::kUnknown, Reason::kError}}},
    {"uber_eats",
     {{R"({"status":"ONLINE"})", StoreStatus::kOpen},
      {R"({"status":"OFFLINE","offlineReason":"PAUSED_BY_RESTAURANT"})", StoreStatus::kPaused,
       Reason::kPaused},
      {R"({"status":"OFFLINE","offlineReason":"OUT_OF_MENU_HOURS"})", StoreStatus::kClosed,
       Reason::kOutOfHours},
      {R"({"status":"OFFLINE","offlineReason":"INVISIBLE"})", StoreStatus::kClosed,
       Reason::kBlocked},
      {R"({"status":"OFFLINE"})", StoreStatus::kClosed},
      {R"({"status":"SLEEPING"})", StoreStatus::kUnknown, Reason::kError}}},
    {"keeta",
     {{R"({"status":"AVAILABLE","services":[],"merchantSourceAppId":"Keeta"})", StoreStatus::kOpen},
      {R"({"status":"AVAILABLE"})", StoreStatus::kClosed, Reason::kOutOfHours, false},
      {R"({"status":"UNAVAILABLE"})", StoreStatus::kPaused, Reason::kPaused},
      {R"({"status":"UNAVAILABLE"})", StoreStatus::kPaused, Reason::kPaused, false},
      {R"({"status":"SUSPENDED"})", StoreStatus::kUnknown, Reason::kError}}},
    {"rappi",
     {{R"({"900105433":true,"1":false})", StoreStatus::kOpen},
      {R"({"900105433":false})", StoreStatus::kClosed},
      {R"({"1":true})", StoreStatus::kUnknown, Reason::kError},
      {R"({"900105433":"true"})", StoreStatus::kUnknown, Reason::kError}}},
    {"pedidosya",
     {{R"([{"availabilityState":"CLOSED","platformKey":"A"},{"availabilityState":"OPEN"}])",
       StoreStatus::kOpen},
      {R"([{"availabilityState":"CLOSED_UNTIL","closedReason":"TOO_BUSY_KITCHEN"}])",
       StoreStatus::kPaused, Reason::kPaused},
      {R"([{"availabilityState":"CLOSED_TODAY"}])", StoreStatus::kClosed},
      {R"([{"availabilityState":"UNKNOWN"}])", StoreStatus::kUnknown, Reason::kError}}},
    {"didi_food",
     {{R"({"errno":0,"data":{"biz_status":1,"sub_biz_status":1,"shop_id":5764607523034234880}})",
       StoreStatus::kOpen},
      {R"({"errno":0,"data":{"biz_status":1,"sub_biz_status":0}})", StoreStatus::kOpen},
      {R"({"errno":0,"data":{"biz_status":2,"sub_biz_status":2}})", StoreStatus::kPaused,
       Reason::kPaused},
      {R"({"errno":0,"data":{"biz_status":2,"sub_biz_status":5}})", StoreStatus::kClosed,
       Reason::kOutOfHours},
      {R"({"errno":0,"data":{"biz_status":2,"sub_biz_status":6}})", StoreStatus::kClosed,
       Reason::kBlocked},
      {R"({"errno":0,"data":{"biz_status":2,"sub_biz_status":4}})", StoreStatus::kClosed},
      {R"({"errno":0,"data":{"biz_status":2,"sub_biz_status":0}})", StoreStatus::kClosed},
      {R"({"errno":0,"data":{"biz_status":2,"sub_biz_status":8}})", StoreStatus::kUnknown,
       Reason::kError}}},
};

// Those that differ from another one of their file in names and hosts alone.
const std::map<std::string, std::string> kLike = {
    {"foodpanda", "pedidosya"}, {"talabat", "pedidosya"}, {"99food", "didi_food"}};

std::vector<Provider> BuiltIn() {
  std::vector<Provider> providers;
  for (const std::string_view text :
       {DeliveryHeroJson(), DidiJson(), IfoodJson(), KeetaJson(), RappiJson(), UberEatsJson()}) {
    for (Provider& provider : ReadProviders(text)) providers.push_back(std::move(provider));
  }
  return providers;
}

TEST(DeliveryApps, EachRuleHasAnExampleThatMeansWhatItShould) {
  for (const Provider& provider : BuiltIn()) {
    const auto like = kLike.find(provider.name);
    const std::string& name = like == kLike.end() ? provider.name : like->second;
    ASSERT_TRUE(kExamples.contains(name)) << provider.name;
    std::set<size_t> used;
    for (const Example& example : kExamples.at(name)) {
      const json::Document document = json::Document::Parse(example.answer);
      const Judging judging = {
          .variables = kVariables, .now = kNow, .is_in_hours = [&] { return example.is_in_hours; }};
      const auto& rules = provider.status->rules;
      EXPECT_TRUE(Holds(provider.status->call.body_ok, document.root(), judging));
      const Meaning meaning = Decide(rules, document.root(), judging);
      EXPECT_EQ(Name(meaning.status), Name(example.status)) << provider.name << example.answer;
      EXPECT_EQ(Name(meaning.reason), Name(example.reason)) << provider.name << example.answer;
      for (size_t i = 0; i < rules.size(); ++i) {
        if (!Holds(rules[i].condition, document.root(), judging)) continue;
        used.insert(i);
        break;
      }
    }
    EXPECT_EQ(used.size(), provider.status->rules.size())
        << provider.name << ": a rule without an example";
  }
}

TEST(DeliveryApps, AnErrorInsideAnAnswerIsSeen) {
  const Provider didi = ReadProviders(DidiJson()).back();
  const Judging judging = {.variables = kVariables, .now = kNow};
  const json::Document failed = json::Document::Parse(R"({"errno":10102,"data":{}})");
  EXPECT_FALSE(Holds(didi.status->call.body_ok, failed.root(), judging));
  EXPECT_TRUE(Holds(didi.status->body_reauth, failed.root(), judging));
  const json::Document other = json::Document::Parse(R"({"errno":10001})");
  EXPECT_FALSE(Holds(didi.status->call.body_ok, other.root(), judging));
  EXPECT_FALSE(Holds(didi.status->body_reauth, other.root(), judging));
}

TEST(DeliveryApps, FilesSayWhatShowsThatTheyAreRight) {
  for (const Provider& provider : BuiltIn()) {
    EXPECT_EQ(provider.evidence, Evidence::kDocuments) << provider.name;
    EXPECT_EQ(provider.evidence_date.size(), std::string_view("2026-11-25").size());
    EXPECT_FALSE(provider.docs.empty() || provider.countries.empty());
  }
  for (const Provider& provider : ReadUnsupported(NotSupportedJson())) {
    EXPECT_FALSE(provider.status) << provider.name;
    EXPECT_FALSE(provider.countries.empty()) << provider.name;
  }
}

}  // namespace
}  // namespace comanda::delivery
