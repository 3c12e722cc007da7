#include "keys/keys.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "keys/api.h"
#include "keys/store.h"
#include "support/api.h"

namespace comanda::keys {
namespace {

using http::Method;
using testing::Answer;
using testing::Api;
using testing::kCompany;

std::vector<auth::KeyRecord> AllKeys(db::Session& session) {
  std::vector<std::string> damage;
  std::vector<auth::KeyRecord> keys = LoadAll(session, SystemClock(), damage);
  EXPECT_EQ(damage, std::vector<std::string>());
  return keys;
}

class Keys : public ::testing::Test {
 protected:
  Keys() { api_.key = "local"; }

  Answer Create(std::string body, Api::Headers headers = {}) {
    return api_.Send(Method::kPost, "/auth/api-keys", std::move(body), std::move(headers));
  }
  // Made by the command line; its text.
  Answer Make(std::string scopes) {
    const std::string before = std::exchange(api_.key, "local");
    Answer made = Create(R"({"name":"Till","scopes":[)" + scopes + "]}");
    EXPECT_EQ(made.status(), 201) << made.response.body;
    api_.key = before;
    return made;
  }
  Answer Change(const std::string& id, std::string body) {
    return api_.Send(Method::kPatch, "/auth/api-keys/" + id, std::move(body));
  }
  Answer Rotate(const std::string& id, std::string body = "") {
    return api_.Send(Method::kPost, "/auth/api-keys/" + id + "/rotate", std::move(body));
  }
  Answer Revoke(const std::string& id) {
    return api_.Send(Method::kDelete, "/auth/api-keys/" + id);
  }
  // What a request with that key is answered.
  std::string Use(const std::string& key) {
    const std::string before = std::exchange(api_.key, key);
    const Answer answer = api_.Get("/auth/api-keys");
    api_.key = before;
    return answer.status() == 200 ? "200" : answer.code();
  }
  std::vector<std::string> Actions() {
    std::vector<std::string> actions;
    const store::AuditPage page = api_.database->Read(
        [](db::Snapshot& snapshot) { return store::ListAudit(snapshot, kCompany, 100, 0); });
    EXPECT_EQ(page.total, std::ssize(page.rows));
    for (const store::AuditRow& row : page.rows) {  // newest first
      actions.insert(actions.begin(), row.actor.substr(0, 5) + " " + row.action);
      EXPECT_EQ(row.detail.find("\"key\""), std::string::npos) << "no secret in the audit log";
    }
    return actions;
  }

  Api api_{{Routes()}};
};

constexpr std::string_view kManage = R"("api-keys:read","api-keys:write","orders:read")";

TEST_F(Keys, AreShownOnceAndWorkAtOnce) {
  const Answer made =
      Create(R"({"name":"Till","scopes":["api-keys:read"]})", {{"Idempotency-Key", "a"}});
  EXPECT_EQ(made.status(), 201);
  const std::string key = made.Text("key");
  EXPECT_EQ(made.Text("key_prefix"), key.substr(0, 12));
  EXPECT_EQ(made.Text("last_four"), key.substr(key.size() - 4));
  EXPECT_EQ(made.Text("mode"), "live");
  EXPECT_EQ(made.Text("tier"), "lan");
  EXPECT_EQ(made.response.cache, http::Cache::kNoStore);
  EXPECT_EQ(made.response.location, "/auth/api-keys/" + made.Text("id"));
  EXPECT_EQ(Use(key), "200");

  const Answer again =
      Create(R"({"name":"Till","scopes":["api-keys:read"]})", {{"Idempotency-Key", "a"}});
  EXPECT_EQ(again.Header("Idempotency-Replayed"), "true");
  EXPECT_EQ(again.Text("id"), made.Text("id"));
  EXPECT_NE(again.response.body.find("\"key\":null"), std::string::npos);
  EXPECT_EQ(api_.Get("/auth/api-keys/" + made.Text("id")).response.body.find("\"key\":"),
            std::string::npos);
  EXPECT_EQ(Actions(), (std::vector<std::string>{"local key.created"}));
}

TEST_F(Keys, AreRefusedWithEveryWrongField) {
  const Answer answer = Create(
      R"({"name":"","scopes":["orders:fly"],"tier":"gold","expires_at":"2020-01-01T00:00:00Z",)"
      R"("allowed_cidrs":["10.0.0.1/8"],"mode":"test"})");
  EXPECT_EQ(answer.status(), 422);
  for (const char* part :
       {"\"name\"", "scopes[0]", "\"tier\"", "\"expires_at\"", "allowed_cidrs[0]", "\"mode\""}) {
    EXPECT_NE(answer.response.body.find(part), std::string::npos) << part;
  }
  EXPECT_NE(Create("{}").response.body.find("\"scopes\""), std::string::npos);
  EXPECT_NE(Create(R"({"name":"x","scopes":[]})").response.body.find("\"empty\""),
            std::string::npos);
  EXPECT_EQ(Create("[]").status(), 422);
  EXPECT_EQ(Actions(), std::vector<std::string>{});
}

TEST_F(Keys, GrantNeitherAScopeTheyLackNorAHigherTier) {
  api_.key = Make(std::string(kManage)).Text("key");
  EXPECT_EQ(Create(R"({"name":"a","scopes":["orders:read"]})").Text("tier"), "standard");
  EXPECT_EQ(Create(R"({"name":"a","scopes":["orders:write"]})").code(), "insufficient_scope");
  EXPECT_EQ(Create(R"({"name":"a","scopes":["api-keys:read"]})").code(), "insufficient_scope")
      << "only the command line grants these";
  EXPECT_EQ(Create(R"({"name":"a","scopes":["orders:read"],"tier":"lan"})").status(), 201);
  EXPECT_EQ(Create(R"({"name":"a","scopes":["orders:read"],"tier":"unlimited"})").status(), 403);
  const std::string strong = Make(R"("orders:write")").Text("id");
  EXPECT_EQ(Rotate(strong).code(), "insufficient_scope");
}

TEST_F(Keys, ChangeInOneRequestAndOnlyWhereSomethingDiffers) {
  const Answer made = Make(R"("api-keys:read")");
  const std::string id = made.Text("id");
  EXPECT_EQ(Change(id, R"({"name":"Bar","scopes":["menu:read"]})").Text("name"), "Bar");
  EXPECT_EQ(Use(made.Text("key")), "insufficient_scope");
  EXPECT_EQ(Change(id, R"({"name":"Bar"})").status(), 200);
  EXPECT_EQ(Actions(), (std::vector<std::string>{"local key.created", "local key.changed"}));
  EXPECT_NE(Change(id, "{}").response.body.find("\"empty\""), std::string::npos);
  EXPECT_EQ(Change("0190a5c8-6f2e-7c3a-9d41-2b7f5e8a1cff", R"({"name":"x"})").status(), 404);
  EXPECT_EQ(Change("7", R"({"name":"x"})").status(), 422);
}

TEST_F(Keys, LiveOnForTheirGraceAfterRotation) {
  const Answer old = Make(R"("api-keys:read")");
  const Answer fresh = Rotate(old.Text("id"), R"({"grace_seconds":60})");
  EXPECT_EQ(fresh.status(), 200);
  EXPECT_NE(fresh.Text("id"), old.Text("id"));
  EXPECT_EQ(Use(fresh.Text("key")), "200");
  EXPECT_EQ(Use(old.Text("key")), "200");
  EXPECT_EQ(Rotate(old.Text("id")).status(), 422);
  api_.database.clock.Advance(60'000);
  EXPECT_EQ(Use(old.Text("key")), "key_revoked");
  EXPECT_EQ(Use(fresh.Text("key")), "200");
  EXPECT_EQ(Actions(), (std::vector<std::string>{"local key.created", "local key.created",
                                                 "local key.rotated"}));
}

TEST_F(Keys, EndAtOnceWhenRotatedWithoutGraceOrRevoked) {
  const Answer old = Make(R"("api-keys:read")");
  const Answer fresh = Rotate(old.Text("id"));
  EXPECT_EQ(Use(old.Text("key")), "key_revoked");
  const Answer gone = Revoke(fresh.Text("id"));
  EXPECT_EQ(gone.status(), 200);
  EXPECT_NE(gone.Text("revoked_at"), "");
  EXPECT_EQ(Use(fresh.Text("key")), "key_revoked");
  api_.database.clock.Advance(1000);
  EXPECT_EQ(Revoke(fresh.Text("id")).Text("revoked_at"), gone.Text("revoked_at"));
  EXPECT_EQ(Change(fresh.Text("id"), R"({"name":"x"})").status(), 422);
}

TEST_F(Keys, StayRevokedWhenTheClockIsPutBack) {
  const Answer old = Make(R"("api-keys:read")");
  const Answer revoked = Make(R"("menu:read")");
  const Answer fresh = Rotate(old.Text("id"));
  const UtcMs now = api_.database.clock.Now();
  // A little: the writer's stamps go on from the last one, ahead of the clock.
  api_.database.clock.SetWall(now - 60'000);
  const Answer gone = Revoke(revoked.Text("id"));
  EXPECT_EQ(Use(old.Text("key")), "key_revoked");
  EXPECT_EQ(Use(revoked.Text("key")), "key_revoked");
  // A lot.
  api_.database.clock.SetWall(now - 365LL * 24 * 60 * 60 * 1000);
  EXPECT_EQ(Use(old.Text("key")), "key_revoked");
  EXPECT_EQ(Revoke(revoked.Text("id")).Text("revoked_at"), gone.Text("revoked_at"));
  EXPECT_EQ(Change(old.Text("id"), R"({"name":"x"})").status(), 422);
  EXPECT_EQ(Use(fresh.Text("key")), "200");
  const auto listed = [&](std::string_view target) {
    return api_.Get(target).response.body.find(old.Text("id")) != std::string::npos;
  };
  EXPECT_FALSE(listed("/auth/api-keys?filter[active]=true"));
  EXPECT_TRUE(listed("/auth/api-keys?filter[active]=false"));

  const std::vector<auth::KeyRecord> loaded =
      api_.database->Read([](db::Snapshot& snapshot) { return AllKeys(snapshot); });
  EXPECT_EQ(std::ranges::count(loaded, auth::Ended::kRevoked, &auth::KeyRecord::ended), 2);
}

TEST_F(Keys, WhoseTimeIsUpStayEndedWhenTheClockIsPutBack) {
  const Answer rotated = Make(R"("api-keys:read")");
  Rotate(rotated.Text("id"), R"({"grace_seconds":60})");
  const UtcMs now = api_.database.clock.Now();
  const Answer expiring = Create(R"({"name":"a","scopes":["api-keys:read"],"expires_at":")" +
                                 FormatInstant(now + 60'000) + "\"}");
  EXPECT_EQ(DueInMs(api_.keys, api_.database.clock), 60'000);
  WriteDownEnds(*api_.database, api_.keys, api_.database.clock);
  EXPECT_EQ(Use(rotated.Text("key")), "200");
  api_.database.clock.Advance(60'000);
  WriteDownEnds(*api_.database, api_.keys, api_.database.clock);
  EXPECT_EQ(DueInMs(api_.keys, api_.database.clock), std::nullopt);
  api_.database.clock.SetWall(now - 365LL * 24 * 60 * 60 * 1000);
  for (int start = 0; start < 2; ++start) {
    EXPECT_EQ(Use(rotated.Text("key")), "key_revoked");
    EXPECT_EQ(Use(expiring.Text("key")), "key_expired");
    api_.keys.Load(api_.database->Read([](db::Snapshot& snapshot) { return AllKeys(snapshot); }));
  }
  // What an administrator decides is no clock.
  Change(expiring.Text("id"),
         R"({"expires_at":")" + FormatInstant(api_.database.clock.Now() + 60'000) + "\"}");
  EXPECT_EQ(Use(expiring.Text("key")), "200");
}

TEST_F(Keys, HaveTheirWholeGraceWhenTheClockIsPutRightMeanwhile) {
  const Answer old = Make(R"("api-keys:read")");
  Rotate(old.Text("id"), R"({"grace_seconds":3600})");
  api_.database.clock.SetWall(api_.database.clock.Now() + 9LL * 24 * 60 * 60 * 1000);
  EXPECT_EQ(Use(old.Text("key")), "200");
  api_.database.clock.Advance(3599'000);
  EXPECT_EQ(Use(old.Text("key")), "200");
  api_.database.clock.SetWall(1000);
  api_.database.clock.Advance(1000);
  EXPECT_EQ(Use(old.Text("key")), "key_revoked");
}

TEST_F(Keys, LeaveOneThatManages) {
  const Answer manager = Make(std::string(kManage));
  const std::string id = manager.Text("id");
  api_.key = manager.Text("key");
  EXPECT_EQ(Revoke(id).code(), "last_managing_key");
  EXPECT_EQ(Change(id, R"({"scopes":["orders:read"]})").code(), "last_managing_key");
  EXPECT_EQ(Change(id, R"({"name":"Boss"})").status(), 200);
  Make(std::string(kManage));
  EXPECT_EQ(Revoke(id).status(), 200);
}

TEST_F(Keys, OfTheCommandLineMayEndTheLastThatManages) {
  EXPECT_EQ(Revoke(Make(std::string(kManage)).Text("id")).status(), 200);
}

TEST_F(Keys, AreListedByTimeOrName) {
  for (const char* name : {"Éclair", "apple", "Zoo"}) {
    api_.database.clock.Advance(1000);
    Create("{\"name\":\"" + std::string(name) + R"(","scopes":["menu:read"]})");
  }
  const auto names = [&](std::string_view target) {
    const Answer answer = api_.Get(target);
    const json::Document document = json::Document::Parse(answer.response.body);
    std::string joined;
    const auto data = document.root().Find("data");
    for (const json::Value& row : data ? data->items() : std::vector<json::Value>()) {
      joined += std::string(row.Find("name")->text()) + " ";
    }
    return joined;
  };
  EXPECT_EQ(names("/auth/api-keys"), "Zoo apple Éclair ");
  EXPECT_EQ(names("/auth/api-keys?sort=name"), "apple Éclair Zoo ");
  EXPECT_EQ(names("/auth/api-keys?sort=name&per_page=2&page=2"), "Zoo ");
  EXPECT_EQ(api_.Get("/auth/api-keys?active=true").code(), "invalid_parameter");
}

TEST_F(Keys, AreFilteredByWhetherTheyAreActive) {
  const std::string revoked = Make(R"("menu:read")").Text("id");
  Make(R"("menu:read")");
  Revoke(revoked);
  const auto total = [&](std::string_view target) {
    const json::Document document = json::Document::Parse(api_.Get(target).response.body);
    return std::string(document.root().Find("pagination")->Find("total")->number_text());
  };
  EXPECT_EQ(total("/auth/api-keys"), "2");
  EXPECT_EQ(total("/auth/api-keys?filter[active]=true"), "1");
  EXPECT_EQ(total("/auth/api-keys?filter[active]=false"), "1");
}

TEST_F(Keys, BelongToTheirCompany) {
  const std::string id = Make(R"("menu:read")").Text("id");
  const Answer other =
      api_.Get("/auth/api-keys/" + id, {{"X-Company-Id", std::string(testing::kOtherCompanyId)}});
  EXPECT_EQ(other.status(), 404);
}

TEST_F(Keys, ShowAndKeepWhenTheyWereUsed) {
  const Answer made = Make(R"("api-keys:read")");
  const std::string path = "/auth/api-keys/" + made.Text("id");
  EXPECT_NE(api_.Get(path).response.body.find("\"last_used_at\":null"), std::string::npos);
  Use(made.Text("key"));
  EXPECT_EQ(api_.Get(path).Text("last_used_ip"), "10.0.0.9");

  FlushLastUsed(*api_.database, api_.keys);
  api_.keys.Load(api_.database->Read([](db::Snapshot& snapshot) { return AllKeys(snapshot); }));
  EXPECT_EQ(api_.Get(path).Text("last_used_ip"), "10.0.0.9");
  EXPECT_EQ(Use(made.Text("key")), "200") << "the key is known after a start";
}

}  // namespace
}  // namespace comanda::keys
