#include "http/idempotency.h"

#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "base/problem.h"
#include "http/store.h"
#include "support/api.h"

namespace comanda::http {
namespace {

using auth::Scope;
using testing::Answer;
using testing::Api;
using testing::kCompany;

constexpr std::string_view kOrderId = "0190a5c8-6f2e-7c3a-9d41-000000000001";

// Adds a row to the audit table: an effect that can be counted.
void Act(db::Tx& tx) {
  tx.Run(
      "INSERT INTO audit (company_id, seq, at, actor, action, subject_id, detail) "
      "SELECT $1, coalesce(max(seq), 0) + 1, 0, '', '', '', '' FROM audit WHERE company_id = $1",
      kCompany);
}

Response Do(Context& context) {
  return context.Write([&](db::Tx& tx, const db::Stamp&) {
    Act(tx);
    const int64_t count = tx.GetInt("SELECT count(*) FROM audit WHERE company_id = $1", kCompany);
    Response response = Data("{\"nth\":\"" + std::to_string(count) + "\"}", 201);
    response.etag = "\"1.1\"";
    response.location = "/v1/things/1";
    return response;
  });
}
Response DoSecretly(Context& context) {
  return context.Write([&](db::Tx&, const db::Stamp&) {
    Response response = Data(R"({"key":"SECRET"})");
    response.replay_body = R"({"data":{"key":null}})";
    return response;
  });
}
Response DoWithEvent(Context& context) {
  return context.Write([&](db::Tx& tx, const db::Stamp&) {
    Act(tx);
    Response response = Data(R"({"id":"o1"})");
    response.event_seq = 7;
    return response;
  });
}
Response Refuse(Context& context) {
  return context.Write([&](db::Tx& tx, const db::Stamp&) -> Response {
    Act(tx);
    throw Invalid("name", FieldCode::kRequired, "is needed.");
  });
}

// Refused before the writer.
Response DoOrRefuse(Context& context) {
  if (context.body().root().Find("wrong"))
    throw Invalid("wrong", FieldCode::kRequired, "is wrong.");
  return Do(context);
}
// Of a room that keeps its keys itself.
std::optional<Response> FindFirst(Site&, db::Session&, db::CompanyId, std::string_view key,
                                  std::string_view) {
  if (key != "known") return std::nullopt;
  return Data(R"({"id":"o1"})", 201);
}

constexpr Route Required() {
  Route route = Post("/v1/orders", Scope::kOrdersWrite, DoOrRefuse);
  route.replay = Replay::kRequired;
  route.find_first = FindFirst;
  return route;
}

bool IsPublicId(std::string_view text) { return text.starts_with("PE-"); }
std::optional<std::string> FindUuid(db::Session&, db::CompanyId, std::string_view id) {
  if (id == "PE-1") return std::string(kOrderId);
  return std::nullopt;
}
constexpr PublicIds kPublicIds = {IsPublicId, FindUuid};
constexpr Route WithPublicId(Route route) {
  route.public_ids = &kPublicIds;
  return route;
}

constexpr std::array kRoutes = {
    Required(),
    Post("/v1/things", Scope::kOrdersWrite, Do),
    WithPublicId(Post("/v1/orders/{id}/combos", Scope::kOrdersWrite, Do)),
    WithPublicId(Delete("/v1/orders/{id}/combos", Scope::kOrdersWrite, Do)),
    Post("/v1/secret", Scope::kOrdersWrite, DoSecretly),
    Post("/v1/event", Scope::kOrdersWrite, DoWithEvent),
    Post("/v1/refuse", Scope::kOrdersWrite, Refuse),
};

class HttpIdempotency : public ::testing::Test {
 protected:
  HttpIdempotency() { api_.key = api_.AddKey(auth::ScopeSet::All()); }
  Answer Post(std::string_view path, std::string key, std::string body = "{}") {
    return api_.Send(Method::kPost, path, std::move(body), {{"Idempotency-Key", std::move(key)}});
  }
  int64_t Effects() {
    return api_.database->Read([](db::Snapshot& snapshot) {
      return snapshot.GetInt("SELECT count(*) FROM audit WHERE company_id = $1", kCompany);
    });
  }
  int64_t Remembered() {
    return api_.database->Read([](db::Snapshot& snapshot) {
      return snapshot.GetInt("SELECT count(*) FROM idempotency WHERE company_id = $1", kCompany);
    });
  }

  Api api_{{kRoutes}};
};

TEST_F(HttpIdempotency, GivesTheFirstAnswerAgain) {
  const Answer first = Post("/v1/things", "a", R"({"x":12.5,"y":1})");
  const Answer again = Post("/v1/things", "a", R"({"y":1, "x":12.50})");
  EXPECT_EQ(first.status(), 201);
  EXPECT_EQ(first.Header("Idempotency-Replayed"), "");
  EXPECT_EQ(again.status(), 201);
  EXPECT_EQ(again.response.body, first.response.body);
  EXPECT_EQ(again.response.etag, "\"1.1\"");
  EXPECT_EQ(again.response.location, "/v1/things/1");
  EXPECT_EQ(again.Header("Idempotency-Replayed"), "true");
  EXPECT_EQ(Effects(), 1);
}

TEST_F(HttpIdempotency, RefusesTheKeyWithAnotherRequest) {
  Post("/v1/things", "a", R"({"x":1})");
  const Answer other = Post("/v1/things", "a", R"({"x":2})");
  EXPECT_EQ(other.status(), 422);
  EXPECT_EQ(other.code(), "idempotency_key_reused");
  EXPECT_NE(other.Text("detail").find("/v1/things/1"), std::string::npos);
  EXPECT_EQ(Post("/v1/things?a=1", "a", R"({"x":1})").code(), "idempotency_key_reused");
  EXPECT_EQ(Effects(), 1);
}

TEST_F(HttpIdempotency, TakesTheSameKeyOnAnotherPathOrMethodForANewOne) {
  const std::string path = "/v1/orders/" + std::string(kOrderId) + "/combos";
  Post("/v1/things", "a");
  Post(path, "a");
  api_.Send(Method::kDelete, path, "", {{"Idempotency-Key", "a"}});
  EXPECT_EQ(Effects(), 3);
}

TEST_F(HttpIdempotency, KnowsAnOrderUnderEitherOfItsIds) {
  Post("/v1/orders/0190A5C8-6F2E-7C3A-9D41-000000000001/combos", "a");
  EXPECT_EQ(Post("/v1/orders/PE-1/combos", "a").Header("Idempotency-Replayed"), "true");
  EXPECT_EQ(Effects(), 1);
  Post("/v1/orders/PE-2/combos", "a");
  EXPECT_EQ(Effects(), 2);
}

TEST_F(HttpIdempotency, SeparatesCompanies) {
  Post("/v1/things", "a");
  api_.key = api_.AddKey(auth::ScopeSet::All(), testing::kOtherCompany, "k2");
  EXPECT_EQ(Post("/v1/things", "a").Header("Idempotency-Replayed"), "");
}

TEST_F(HttpIdempotency, KeepsNothingOfARefusal) {
  EXPECT_EQ(Post("/v1/refuse", "a").status(), 422);
  EXPECT_EQ(Effects(), 0);
  EXPECT_EQ(Remembered(), 0);
  EXPECT_EQ(Post("/v1/things", "a").status(), 201);
}

TEST_F(HttpIdempotency, KeepsNoSecret) {
  EXPECT_NE(Post("/v1/secret", "a").response.body.find("SECRET"), std::string::npos);
  EXPECT_EQ(Post("/v1/secret", "a").response.body, R"({"data":{"key":null}})");
}

TEST_F(HttpIdempotency, PointsAtTheEventThatHasTheBody) {
  api_.site.read_event_body = [](db::Session&, db::CompanyId company,
                                 int64_t seq) -> std::optional<std::string> {
    if (company != kCompany || seq != 7) return std::nullopt;
    return R"({"id":"o1"})";
  };
  const Answer first = Post("/v1/event", "a");
  const Answer again = Post("/v1/event", "a");
  EXPECT_EQ(again.response.body, first.response.body);
  EXPECT_EQ(again.Header("Idempotency-Replayed"), "true");
  api_.database->Read([](db::Snapshot& snapshot) {
    EXPECT_EQ(snapshot.FindText("SELECT body FROM idempotency"), "");
    return 0;
  });
  const auto forget_up_to = [&](int64_t event_seq) {
    const auto records = api_.database->Read([&](db::Snapshot& snapshot) {
      return idempotency::FindPointingUpTo(snapshot, kCompany, event_seq);
    });
    api_.database->Write(
        [&](db::Tx& tx, const db::Stamp&) { idempotency::Forget(tx, kCompany, records); });
  };
  forget_up_to(6);
  EXPECT_EQ(Remembered(), 1);
  forget_up_to(7);
  EXPECT_EQ(Remembered(), 0);
}

TEST_F(HttpIdempotency, DoesNothingTwiceWhereTheEventIsGone) {
  api_.site.read_event_body = [](db::Session&, db::CompanyId, int64_t) { return std::nullopt; };
  Post("/v1/event", "a");
  EXPECT_EQ(Post("/v1/event", "a").status(), 500);
  EXPECT_EQ(Effects(), 1);
}

TEST_F(HttpIdempotency, AsksForTheKeyToPlaceAnOrder) {
  EXPECT_EQ(api_.Send(Method::kPost, "/v1/orders", "{}").code(), "missing_idempotency_key");
  EXPECT_EQ(Post("/v1/orders", "a").status(), 201);
}

TEST_F(HttpIdempotency, AsksTheRoomThatKeepsTheKeyWhereTheRequestIsRefused) {
  EXPECT_EQ(Post("/v1/orders", "new", R"({"wrong":1})").status(), 422);
  EXPECT_EQ(Post("/v1/orders", "known", R"({"wrong":1})").response.body, R"({"data":{"id":"o1"}})");
  EXPECT_EQ(Post("/v1/orders", "known").response.body, R"({"data":{"nth":"1"}})")
      << "the job itself looks its key up";
  EXPECT_EQ(Remembered(), 0);
}

TEST_F(HttpIdempotency, TakesVisibleAsciiAlone) {
  for (const std::string& key : {std::string(), std::string("a b"), std::string("é"),
                                 std::string(256, 'a'), std::string("a\tb")}) {
    EXPECT_EQ(Post("/v1/things", key).code(), "invalid_header") << key;
  }
  EXPECT_EQ(Post("/v1/things", std::string(255, 'a')).status(), 201);
  EXPECT_EQ(Post("/v1/things", "\"q\"").status(), 201);
  EXPECT_EQ(Post("/v1/things", "q").Header("Idempotency-Replayed"), "") << "quotes are part of it";
  EXPECT_EQ(api_.Send(Method::kPost, "/v1/things", "{}",
                      {{"Idempotency-Key", "b"}, {"idempotency-key", "b"}})
                .code(),
            "invalid_header");
}

TEST_F(HttpIdempotency, StillAsksForTheKeyOfTheClient) {
  Post("/v1/things", "a");
  api_.key = auth::MakeKey("cmd", auth::Mode::kLive);
  EXPECT_EQ(Post("/v1/things", "a").status(), 401);
  api_.key = api_.AddKey(auth::ScopeSet::FromBits(0));
  EXPECT_EQ(Post("/v1/things", "a").status(), 403);
}

TEST_F(HttpIdempotency, ActsOnceWhenManyComeAtOnce) {
  std::array<std::string, 8> bodies;
  {
    std::vector<std::jthread> threads;
    for (std::string& body : bodies) {
      threads.emplace_back([&] { body = Post("/v1/things", "a").response.body; });
    }
  }
  for (const std::string& body : bodies) EXPECT_EQ(body, bodies[0]);
  EXPECT_EQ(Effects(), 1);
}

TEST_F(HttpIdempotency, NeedsNoSecondLookupWhereTheJobHasRefused) {
  idempotency::Memory memory({kCompany, "POST /v1/things", "a", "f"}, nullptr);
  EXPECT_TRUE(memory.IsUnread());
  const auto write = [&](const idempotency::Memory::Job& job) {
    api_.database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      return memory.Write(api_.site, tx, stamp, job);
    });
  };
  EXPECT_THROW(write([](db::Tx&, const db::Stamp&) -> Response {
                 throw Fault(Fault::Kind::kInternal, "nothing is known of the key");
               }),
               Fault);
  EXPECT_TRUE(memory.IsUnread());
  EXPECT_THROW(write([](db::Tx&, const db::Stamp&) -> Response {
                 throw Refusal(Problem::kOrderClosed, "looked up before");
               }),
               Refusal);
  EXPECT_FALSE(memory.IsUnread());
  EXPECT_FALSE(idempotency::Memory().IsUnread()) << "there is no key";
}

TEST_F(HttpIdempotency, ForgetsTheAnswersFromBeforeAMarkAlone) {
  int64_t mark = 0;
  api_.site.current_mark = [&] { return mark; };
  Post("/v1/things", "old");
  mark = 1;
  Post("/v1/things", "young");
  idempotency::Purge(*api_.database, 0);
  EXPECT_EQ(Remembered(), 2);
  idempotency::Purge(*api_.database, 1);
  EXPECT_EQ(Post("/v1/things", "young").Header("Idempotency-Replayed"), "true");
  EXPECT_EQ(Post("/v1/things", "old").Header("Idempotency-Replayed"), "");
}

}  // namespace
}  // namespace comanda::http
