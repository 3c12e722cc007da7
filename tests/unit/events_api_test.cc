#include "events/api.h"

#include <gtest/gtest.h>

#include "events/log.h"
#include "support/api.h"

namespace comanda::events {
namespace {

using testing::Answer;
using testing::Api;
using testing::kCompany;

class EventsApi : public ::testing::Test {
 protected:
  EventsApi() {
    auth::ScopeSet scopes;
    scopes.Add(auth::Scope::kMenuRead);
    api_.key = api_.AddKey(scopes);
  }
  void Append(Type type, int count) {
    api_.database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      for (int i = 0; i < count; ++i) {
        events::Append(
            tx, kCompany, stamp,
            {.company_uuid = testing::kCompanyId, .type = type, .subject_id = "s", .body = "{}"});
      }
    });
  }
  Answer After(const std::string& cursor) { return api_.Get("/v1/events?after=" + cursor); }

  Api api_{{Routes()}};
};

TEST_F(EventsApi, ReadsALogOfWhatTheKeyMayNotSeeInPieces) {
  Append(Type::kOrderCreated, 2'500);
  Append(Type::kProductCreated, 1);

  Answer answer = api_.Get("/v1/events");
  int requests = 1;
  for (; answer.response.body.starts_with(R"({"data":[])"); ++requests) {
    ASSERT_LT(requests, 10);
    answer = After(answer.Text("next"));
  }
  EXPECT_EQ(requests, 3);
  EXPECT_NE(answer.response.body.find("PRODUCT_CREATED"), std::string::npos);
}

TEST_F(EventsApi, DoesNotWaitWhereMoreIsToBeRead) {
  Append(Type::kOrderCreated, 1'500);

  const Answer answer = api_.Get("/v1/events", {{"Prefer", "wait=30"}});

  EXPECT_EQ(answer.Header("Preference-Applied"), "");
}

TEST_F(EventsApi, RefusesACursorBehindTheEndOfNumbers) {
  Append(Type::kProductCreated, 1);
  EXPECT_EQ(After("1.1y2p0ij32e8e7").code(), "cursor_expired");
}

}  // namespace
}  // namespace comanda::events
