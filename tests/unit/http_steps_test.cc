#include "http/steps.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/gzip.h"
#include "base/problem.h"
#include "http/body_budget.h"
#include "support/api.h"
#include "support/waiting.h"

namespace comanda::http {
namespace {

using auth::Scope;
using testing::Api;

Response Nothing(Context&) { return {}; }
Response Made(Context& context) {
  Response response = Data("{\"made\":true}");
  response.costs_nothing = true;
  response.etag = context.ListTag(0);
  return response;
}
Response Fail(Context&) { throw Refusal(Problem::kOrderClosed, "closed"); }

constexpr Route kRead = Get("/v1/things", Scope::kOrdersRead, Made);
constexpr Route kWrite = Post("/v1/things", Scope::kOrdersWrite, Nothing);
constexpr Route kOpenRoute = Open(Method::kGet, "/open", Nothing);

// One request, given to one step alone.
class HttpSteps : public ::testing::Test {
 protected:
  HttpSteps() { Ask(kRead); }

  // Begins another visit, of a request for that route.
  void Ask(const Route& route, std::string body = "") {
    visit_.reset();
    exchange_.emplace(std::move(body));
    exchange_->request.method = route.method;
    exchange_->request.path = route.pattern;
    exchange_->request.client_address = "10.0.0.9";
    visit_.emplace(api_.site, *exchange_);
    visit_->asked.route = &route;
  }
  void Say(std::string_view name, std::string_view value) {
    exchange_->request.headers.emplace_back(name, value);
  }
  // The problem that the step refuses the request with; empty where it lets it pass.
  std::optional<Problem> RefusalOf(Step step) {
    try {
      step(*visit_);
      return std::nullopt;
    } catch (const Refusal& refusal) {
      return refusal.problem;
    }
  }
  wire::Response& response() { return exchange_->response; }
  std::string Header(std::string_view name) const {
    for (const auto& [header, value] : exchange_->response.headers) {
      if (header == name) return value;
    }
    return "";
  }

  Api api_{{}};
  std::optional<wire::InProcessExchange> exchange_;
  std::optional<Visit> visit_;
};

TEST_F(HttpSteps, AdmitChecksTheKeyThenTheScopeAndAuthenticatesTheConnection) {
  EXPECT_EQ(RefusalOf(Admit), Problem::kUnauthorized);
  EXPECT_FALSE(exchange_->authenticated());

  const std::string weak = api_.AddKey(auth::ScopeSet::FromBits(0), testing::kCompany, "k1");
  Say("X-API-Key", weak);
  EXPECT_EQ(RefusalOf(Admit), Problem::kInsufficientScope);
  EXPECT_TRUE(exchange_->authenticated());
  EXPECT_EQ(visit_->caller.permit()->rate.limit, 3000) << "the refusal shows the rate";

  const std::string strong = api_.AddKey(auth::ScopeSet::All(), testing::kCompany, "k2");
  Ask(kRead);
  Say("Authorization", "x");
  exchange_->request.headers.back().second = "Bearer x";
  EXPECT_EQ(RefusalOf(Admit), Problem::kUnauthorized);
  Ask(kRead);
  Say("X-API-Key", strong);
  EXPECT_EQ(RefusalOf(Admit), std::nullopt);
  EXPECT_EQ(visit_->caller.principal().actor, "key:k2");
}

TEST_F(HttpSteps, AdmitLetsEverybodyUseAnOpenRoute) {
  Ask(kOpenRoute);
  EXPECT_EQ(RefusalOf(Admit), std::nullopt);
  EXPECT_EQ(visit_->caller.permit(), nullptr);
  EXPECT_EQ(visit_->caller.principal().actor, "");
}

TEST_F(HttpSteps, CheckAcceptRefusesWhatExcludesJson) {
  Say("Accept", "text/html");
  EXPECT_EQ(RefusalOf(CheckAccept), Problem::kNotAcceptable);
  Ask(kRead);
  Say("Accept", "text/html, application/*;q=0.1");
  EXPECT_EQ(RefusalOf(CheckAccept), std::nullopt);
}

TEST_F(HttpSteps, ReadBodyParsesTheBodyOfARouteThatReadsOne) {
  Ask(kWrite, R"({"a":1})");
  EXPECT_EQ(RefusalOf(ReadBody), std::nullopt);
  EXPECT_EQ(visit_->asked.body->Canonical(), R"({"a":1})");
  Ask(kWrite, "{");
  EXPECT_EQ(RefusalOf(ReadBody), Problem::kInvalidJson);
  Ask(kWrite, "");
  EXPECT_EQ(RefusalOf(ReadBody), Problem::kLengthRequired);
  Ask(kRead, "{");
  EXPECT_EQ(RefusalOf(ReadBody), std::nullopt) << "the body of a GET is not read";
  EXPECT_EQ(visit_->asked.body, nullptr);
}

TEST_F(HttpSteps, ReadBodyCountsALargeBodyUntilTheRequestIsOver) {
  Ask(kWrite, "{\"a\":\"" + std::string(BodyBudget::kAtOnceMax / 2, 'x') + "\"}");
  EXPECT_EQ(RefusalOf(ReadBody), std::nullopt);
  std::atomic<bool> is_over = false;
  std::jthread later([&, waiting = ::gettid()] {
    EXPECT_TRUE(testing::AwaitBlocked(waiting));
    is_over = true;
    visit_.reset();
  });
  const BodyBudget::Lease another = api_.site.body_budget.Wait(BodyBudget::kAtOnceMax / 2);
  EXPECT_TRUE(is_over);
}

TEST_F(HttpSteps, ReadQueryParsesTheQuery) {
  exchange_->request.query = "page=2";
  EXPECT_EQ(RefusalOf(ReadQuery), std::nullopt);
  EXPECT_EQ(visit_->asked.query.Find("page"), "2");
  exchange_->request.query = "page=1&page=2";
  EXPECT_EQ(RefusalOf(ReadQuery), Problem::kInvalidParameter);
}

TEST_F(HttpSteps, RememberMakesAFingerprintOfScopeQueryAndBody) {
  const auto fingerprint_of = [&](std::string query, std::string body) {
    Ask(kWrite, std::move(body));
    Say("X-API-Key", api_.key);
    Say("Idempotency-Key", "a");
    exchange_->request.query = std::move(query);
    for (const Step step : {Admit, ReadBody, ReadQuery, Remember}) step(*visit_);
    EXPECT_EQ(visit_->memory.key(), "a");
    EXPECT_TRUE(visit_->memory.IsUnread());
    return visit_->memory.fingerprint();
  };
  api_.key = api_.AddKey(auth::ScopeSet::All());
  const std::string one = fingerprint_of("a=1&b=2", R"({"x":1.50,"y":2})");
  EXPECT_EQ(one, fingerprint_of("b=2&a=1", R"({"y":2, "x":1.5})"));
  EXPECT_NE(one, fingerprint_of("a=1", R"({"x":1.50,"y":2})"));
  EXPECT_NE(one, fingerprint_of("a=1&b=2", R"({"x":1.51,"y":2})"));
}

TEST_F(HttpSteps, RememberAsksForTheKeyWhereTheRouteRequiresIt) {
  Route route = kWrite;
  Ask(route);
  EXPECT_EQ(RefusalOf(Remember), std::nullopt);
  EXPECT_FALSE(visit_->memory.IsUnread());
  route.replay = Replay::kRequired;
  Ask(route);
  EXPECT_EQ(RefusalOf(Remember), Problem::kMissingIdempotencyKey);
}

TEST_F(HttpSteps, AnswerPutsTheHandlersAnswerIntoTheExchange) {
  response().headers.emplace_back("Preference-Applied", "wait=1");
  EXPECT_EQ(RefusalOf(Answer), std::nullopt);
  EXPECT_EQ(response().body, R"({"data":{"made":true}})");
  EXPECT_EQ(Header("Preference-Applied"), "wait=1") << "what was put there meanwhile stays";
  EXPECT_TRUE(visit_->costs_nothing);
}

TEST_F(HttpSteps, AnswerPassesOnWhatTheHandlerThrows) {
  Route route = kRead;
  route.handler = Fail;
  Ask(route);
  EXPECT_EQ(RefusalOf(Answer), Problem::kOrderClosed);
}

TEST_F(HttpSteps, ConditionAnswers304ToAClientThatHasTheTag) {
  response().body = "body";
  response().etag = "W/\"1\"";
  Say("If-None-Match", "\"1\"");
  Condition(*visit_);
  EXPECT_EQ(response().status, 304);
  EXPECT_EQ(response().body, "");
  EXPECT_EQ(Header("Vary"), "Accept-Encoding");
}

TEST_F(HttpSteps, ConditionTagsAnAnswerThatHasNoTag) {
  response().body = "body";
  Condition(*visit_);
  EXPECT_EQ(response().etag, BodyTag("body"));
  Ask(kWrite);
  response().body = "body";
  Condition(*visit_);
  EXPECT_EQ(response().etag, "") << "of a write";
}

TEST_F(HttpSteps, CompressTakesLargeAnswersWithAWeakTagToClientsThatPreferIt) {
  const std::string large(10'000, 'x');
  const auto is_compressed = [&](const Route& route, std::string_view etag, std::string body,
                                 std::string_view wish) {
    Ask(route);
    Say("Accept-Encoding", wish);
    response().etag = etag;
    response().body = std::move(body);
    Compress(*visit_);
    return response().gzipped;
  };
  EXPECT_TRUE(is_compressed(kRead, "W/\"1\"", large, "gzip"));
  EXPECT_FALSE(is_compressed(kRead, "\"1\"", large, "gzip"));
  EXPECT_FALSE(is_compressed(kRead, "W/\"1\"", "small", "gzip"));
  EXPECT_FALSE(is_compressed(kRead, "W/\"1\"", large, "identity"));
  EXPECT_FALSE(is_compressed(kWrite, "W/\"1\"", large, "gzip"));
  Route secret = kRead;
  secret.pattern = "/auth/api-keys";
  EXPECT_FALSE(is_compressed(secret, "W/\"1\"", large, "gzip"));
}

TEST_F(HttpSteps, ChargeRefusesAReadWithoutRoomAndNeverAWrite) {
  constexpr size_t kAll = 64 * 1024 * 1024;
  AnswerBudget::Lease others(api_.answer_budget, "");
  ASSERT_TRUE(others.TryReserve(kAll));
  const auto charge = [&](const Route& route) {
    Ask(route);
    visit_->lease = AnswerBudget::Lease(api_.answer_budget, "key:k");
    response().body.assign(100'000, 'x');
    return RefusalOf(Charge);
  };
  EXPECT_EQ(charge(kRead), Problem::kServiceUnavailable);
  EXPECT_EQ(charge(kWrite), std::nullopt);
}

TEST_F(HttpSteps, ShowRateGivesBackWhatCostsNothing) {
  api_.key = api_.AddKey(auth::ScopeSet::All());
  Say("X-API-Key", api_.key);
  Admit(*visit_);
  ShowRate(*visit_);
  EXPECT_EQ(Header("RateLimit-Remaining"), "2999");
  response().headers.clear();
  visit_->costs_nothing = true;
  ShowRate(*visit_);
  EXPECT_EQ(Header("RateLimit-Remaining"), "3000");
}

TEST_F(HttpSteps, PathForLogHidesWhatIsNeitherAWordNorAnId) {
  exchange_->request.path = "/v1/orders/0190a5c8-6f2e-7c3a-9d41-2b7f5e8a1c90/cmd_live_Ab1/status";
  EXPECT_EQ(PathForLog(*visit_), "/v1/orders/0190a5c8-6f2e-7c3a-9d41-2b7f5e8a1c90/*/status");
}

}  // namespace
}  // namespace comanda::http
