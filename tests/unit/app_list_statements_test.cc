// How many statements a list runs, of which each is a round trip where the database is another
// machine: as many for a full page as for a page of one row.

#include <gtest/gtest.h>
#include <sqlite3.h>

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
#include "users/api.h"

namespace comanda::app {
namespace {

using testing::Answer;
using testing::Api;

// The statements that the connections ran which were opened since this was made. They must stay
// open. One at a time.
class Statements {
 public:
  Statements() { sqlite3_auto_extension(reinterpret_cast<void (*)()>(&OnOpen)); }
  ~Statements() {
    sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(&OnOpen));
    Connections().clear();
  }

  // Those since the last call, one entry for each time that one began.
  static std::vector<std::string> Take() {
    std::vector<std::string> ran;
    for (sqlite3* const connection : Connections()) {
      for (sqlite3_stmt* one = sqlite3_next_stmt(connection, nullptr); one != nullptr;
           one = sqlite3_next_stmt(connection, one)) {
        const std::string sql = sqlite3_sql(one);
        const int runs = sqlite3_stmt_status(one, SQLITE_STMTSTATUS_RUN, 1);
        if (sql.find("SELECT") == sql.npos) continue;  // begins or ends a transaction
        for (int i = 0; i < runs; ++i) ran.push_back(sql);
      }
    }
    return ran;
  }

 private:
  static std::vector<sqlite3*>& Connections() {
    static std::vector<sqlite3*> connections;
    return connections;
  }
  static int OnOpen(sqlite3* connection, char**, const struct sqlite3_api_routines*) {
    Connections().push_back(connection);
    return SQLITE_OK;
  }
};

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

  ListStatements() {
    Import(*api_.database, DemoJson());
    const int64_t company = api_.database->Read([](db::Snapshot& snapshot) {
      return snapshot.GetInt("SELECT company_id FROM company WHERE id = $1", kDemo);
    });
    api_.key = api_.AddKey(auth::ScopeSet::All(), db::CompanyId{company});
    for (int i = 0; i < kOrders; ++i) {
      const Answer made =
          api_.Send(http::Method::kPost, "/v1/orders", R"({"service_type":"ONSITE"})",
                    {{"Idempotency-Key", "order-" + std::to_string(i)}});
      EXPECT_EQ(made.status(), 201) << made.response.body;
    }
  }

  Api api_{{orders::Routes(), clients::Routes(), menu::Routes(), company::Routes(), users::Routes(),
            keys::Routes()}};
  const Statements statements_;  // behind api_: its writer's connection is not counted
};

TEST_P(ListStatements, AreAsManyForAFullPage) {
  statements_.Take();
  const Answer answer = api_.Get(GetParam().path);
  const std::vector<std::string> ran = statements_.Take();
  ASSERT_EQ(answer.status(), 200) << answer.response.body;
  const json::Document document = json::Document::Parse(answer.response.Body());
  json::Value rows = *document.root().Find("data");
  if (rows.kind() == json::Kind::kObject) rows = *rows.Find("categories");
  EXPECT_EQ(rows.items().size(), GetParam().rows);
  std::string all;
  for (const std::string& sql : ran) all += sql + "\n";
  EXPECT_LE(ran.size(), GetParam().statements) << all;
  EXPECT_GT(ran.size(), 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Lists, ListStatements,
    ::testing::Values(List{"/v1/orders?per_page=50", 50, 3},
                      List{"/v1/orders?per_page=50&sort=total&filter[order_number]=7", 1, 3},
                      List{"/v1/orders?per_page=50&filter[search]=7", 1, 5},
                      List{"/v1/clients?per_page=20", 20, 4}, List{"/v1/menu", 10, 4},
                      List{"/v1/menu?per_page=5", 5, 4}, List{"/v1/users", 14, 3},
                      List{"/v1/company/payment-methods", 5, 3}, List{"/v1/company/tables", 20, 3},
                      List{"/auth/api-keys", 0, 3}));

}  // namespace
}  // namespace comanda::app
