// How many statements a list runs, of which each is a round trip where the database is another
// machine: as many for a full page as for a page of one row.

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/embedded.h"
#include "app/import.h"
#include "clients/api.h"
#include "company/api.h"
#include "keys/api.h"
#include "menu/api.h"
#include "orders/api.h"
#include "support/api.h"
#include "support/engine_calls.h"
#include "users/api.h"
#include "webhooks/api.h"
#include "webhooks/webhooks.h"

namespace comanda::app {
namespace {

using testing::Answer;
using testing::Api;
using testing::CallsOf;
using testing::EngineCalls;

struct List {
  std::string_view path;
  size_t rows;        // of the page
  size_t statements;  // at most
};
void PrintTo(const List& list, std::ostream* out) { *out << list.path; }

class ListStatements : public ::testing::TestWithParam<List> {
 protected:
  static constexpr std::string_view kDemo = "0192f0a0-0001-7000-8000-000000000001";
  static constexpr int kOrders = 60;
  static constexpr int kKeys = 5;
  static constexpr int kWebhooks = 8;

  ListStatements() {
    Import(*api_.database, DemoJson());
    const int64_t company = api_.database->Read([](db::Snapshot& snapshot) {
      return snapshot.GetInt("SELECT company_id FROM company WHERE id = $1", kDemo);
    });
    api_.key = api_.AddKey(auth::ScopeSet::All(), db::CompanyId{company});
    api_.database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      webhooks::Draft draft;
      draft.url = "https://example.com/hook";
      for (int i = 0; i < kWebhooks; ++i) {
        webhooks::Create(tx, db::CompanyId{company}, draft, stamp);
      }
    });
    for (int i = 0; i < kOrders; ++i) {
      const Answer made =
          api_.Send(http::Method::kPost, "/v1/orders", R"({"service_type":"ONSITE"})",
                    {{"Idempotency-Key", "order-" + std::to_string(i)}});
      EXPECT_EQ(made.status(), 201) << made.response.body;
    }
    for (int i = 0; i < kKeys; ++i) {
      const Answer made = api_.Send(http::Method::kPost, "/auth/api-keys",
                                    R"({"name":"till","scopes":["orders:read"]})",
                                    {{"Idempotency-Key", "key-" + std::to_string(i)}});
      EXPECT_EQ(made.status(), 201) << made.response.body;
    }
  }

  Api api_{{orders::Routes(), clients::Routes(), menu::Routes(), company::Routes(), users::Routes(),
            keys::Routes(), webhooks::Routes()}};
};

TEST_P(ListStatements, AreAsManyForAFullPage) {
  const std::string path(GetParam().path);
  // Compiles the statements. Another address, so that the next one is not answered from memory.
  EXPECT_EQ(api_.Get(path + (path.find('?') == path.npos ? "?page=1" : "&page=1")).status(), 200);
  Answer answer;
  const EngineCalls calls = CallsOf([&] { answer = api_.Get(path); });
  ASSERT_EQ(answer.status(), 200) << answer.response.body;
  const json::Document document = json::Document::Parse(answer.response.Body());
  json::Value rows = *document.root().Find("data");
  if (rows.kind() == json::Kind::kObject) rows = *rows.Find("categories");
  EXPECT_EQ(rows.items().size(), GetParam().rows);
  std::string all;
  for (const std::string& sql : calls.statements) all += sql + "\n";
  EXPECT_LE(calls.statements.size(), GetParam().statements) << all;
  EXPECT_FALSE(calls.statements.empty());
  EXPECT_TRUE(calls.prepared.empty()) << calls.prepared.front();
}

INSTANTIATE_TEST_SUITE_P(
    Lists, ListStatements,
    ::testing::Values(List{"/v1/orders?per_page=50", 50, 3},
                      List{"/v1/orders?per_page=50&sort=total&filter[order_number]=7", 1, 3},
                      List{"/v1/orders?per_page=50&filter[search]=7", 1, 5},
                      List{"/v1/clients?per_page=20", 20, 4}, List{"/v1/menu", 10, 4},
                      List{"/v1/menu?per_page=5", 5, 4}, List{"/v1/users", 14, 3},
                      List{"/v1/company/payment-methods", 5, 3}, List{"/v1/company/tables", 20, 3},
                      List{"/auth/api-keys", 5, 3}, List{"/v1/webhooks", 8, 6}));

}  // namespace
}  // namespace comanda::app
