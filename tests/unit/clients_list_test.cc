#include "clients/list.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "clients/api.h"
#include "clients/clients.h"
#include "clients/import.h"
#include "clients/store.h"
#include "engine/connection.h"
#include "support/list_rows.h"
#include "support/api.h"

namespace comanda::clients {
namespace {

using testing::Api;
using testing::kCompany;
using testing::kOtherCompany;

class ClientList : public ::testing::Test {
 protected:
  ClientList() { api_.key = api_.AddKey(auth::ScopeSet::All()); }

  void Write(const Client& client, db::CompanyId company = kCompany) {
    api_.database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      Import(tx, company, {{.client = client, .addresses = {}}}, stamp);
    });
  }
  void Add(std::string id, std::string name, std::optional<std::string> phone = {}) {
    Write({.id = std::move(id),
           .name = std::move(name),
           .country_calling_code = phone ? std::optional<std::string>("+51") : std::nullopt,
           .phone_number = std::move(phone)});
  }
  // Ids and total, as "a b 2".
  std::string Ids(const std::string& query) {
    const http::Query parsed = http::Query::Parse(query);
    http::PageRows rows;
    const http::ListPage page = api_.database->Read(
        [&](db::Snapshot& snapshot) { return FindPage(snapshot, kCompany, parsed, rows); });
    std::string ids;
    for (const std::string& row : testing::RowsIn(rows.End(page.paging, page.total))) {
      const json::Document record = json::Document::Parse(row);
      ids += std::string(record.root().Find("id")->text()) + " ";
    }
    return ids + std::to_string(page.total);
  }
  int64_t Count(db::Sql sql) {
    return api_.database->Read([&](db::Snapshot& snapshot) { return snapshot.GetInt(sql); });
  }

  Api api_{{Routes()}};
};

TEST_F(ClientList, ForgetsTheWordsOfAnOldName) {
  Add("a", "Ana Peña");
  Add("b", "Beto Ríos");
  Add("a", "Ana Díaz");

  EXPECT_EQ(Ids("filter[search]=pena"), "0");
  EXPECT_EQ(Ids("filter[search]=diaz"), "a 1");
  EXPECT_EQ(Count("SELECT count(*) FROM client_word"), 4);
}

TEST_F(ClientList, FindsTheNewNumberAndNotTheOld) {
  Add("a", "Ana", "987654321");
  Add("a", "Ana", "900111222");

  EXPECT_EQ(Ids("filter[search]=54321"), "0");
  EXPECT_EQ(Ids("filter[search]=11222"), "a 1");
  EXPECT_EQ(Ids("filter[phone]=51900111222"), "a 1");
}

TEST_F(ClientList, MakesClientsSearchableThatAMigrationLeft) {
  for (int i = 0; i < 1200; ++i) {
    Add("id" + std::to_string(i), "Guest " + std::to_string(i), std::to_string(900000000 + i));
  }
  api_.database->Write([](db::Tx& tx, const db::Stamp&) {
    tx.Run("DELETE FROM client_word");
    tx.Run("UPDATE client SET searchable = 0, phone_reversed = NULL");
  });
  EXPECT_EQ(Ids("filter[search]=guest"), "0");

  MakeSearchable(*api_.database);

  EXPECT_EQ(Ids("filter[search]=guest+777"), "id777 1");
  EXPECT_EQ(Ids("filter[phone]=51900001199"), "id1199 1");
  EXPECT_EQ(Count("SELECT count(*) FROM client WHERE searchable = 0"), 0);
}

TEST(ClientMigration, NumbersWhatOlderProgramsWroteAndMakesItSearchable) {
  db::Settings old = testing::RestaurantSettings();
  old.migrations.resize(1);
  testing::TestDatabase database(old);
  database->Write([](db::Tx& tx, const db::Stamp&) {
    for (const int64_t company : {1, 2}) {
      tx.Run(
          "INSERT INTO company (company_id, id, name, country_code, timezone, business_hours,"
          " currency, created_at, updated_at) VALUES ($1, $2, 'R', 'PE', 'America/Lima', '{}',"
          " 'PEN', 1, 1)",
          company, std::to_string(company));
      for (const auto& [id, at] : {std::pair("c", 1), std::pair("b", 2), std::pair("a", 2)}) {
        tx.Run(
            "INSERT INTO client (company_id, id, name, name_folded, country_calling_code,"
            " phone_number, created_at, updated_at) VALUES ($1, $2, 'Ana Ñu', 'ana nu', '+51',"
            " '987', $3, $3)",
            company, id, at);
        tx.Run(
            "INSERT INTO staff (company_id, id, name, name_folded, role, created_at, updated_at)"
            " VALUES ($1, $2, 'Luis', 'luis', 'cook', $3, $3)",
            company, id, at);
        tx.Run("INSERT INTO payment_method VALUES ($1, $2, $2, 'Efectivo', 15, 1)", company, id);
      }
    }
  });
  database.Close();
  database.settings().migrations = testing::RestaurantMigrations();
  database.Open();

  MakeSearchable(*database);

  const auto text = [&](db::Sql sql) {
    return database->Read([&](db::Snapshot& snapshot) {
      std::string all;
      for (const std::string& row : snapshot.FindTexts(sql)) all += row + " ";
      return all;
    });
  };
  EXPECT_EQ(text("SELECT id || created_seq FROM client ORDER BY company_id, created_seq"),
            "c1 a2 b3 c1 a2 b3 ");
  EXPECT_EQ(text("SELECT id || created_seq FROM staff ORDER BY company_id, created_seq"),
            "c1 a2 b3 c1 a2 b3 ");
  EXPECT_EQ(text("SELECT id || created_seq FROM payment_method ORDER BY company_id, created_seq"),
            "a1 b2 c3 a1 b2 c3 ");
  EXPECT_EQ(text("SELECT word || client_seq FROM client_word WHERE company_id = 2"),
            "ana1 ana2 ana3 nu1 nu2 nu3 ");
  EXPECT_EQ(text("SELECT DISTINCT phone_reversed || searchable FROM client"), "789151 ");
}

TEST_F(ClientList, NumbersTheClientsOfEachCompanyWithoutAGap) {
  Add("a", "Ana");
  Write({.id = "x", .name = "Xenia"}, kOtherCompany);
  Add("b", "Beto");
  Add("a", "Anita");
  Add("c", "Carla");

  EXPECT_EQ(Count("SELECT max(created_seq) FROM client WHERE company_id = 1"), 3);
  EXPECT_EQ(Count("SELECT created_seq FROM client WHERE company_id = 2"), 1);
  EXPECT_EQ(Ids("filter[snapshot]=2&sort=name"), "a b 2");
  EXPECT_EQ(Ids("filter[snapshot]=99&sort=name"), "a b c 3");
  EXPECT_EQ(Ids("filter[snapshot]=0"), "0");
}

TEST_F(ClientList, PagesThroughManyMatchesWithTheirExactTotal) {
  constexpr int kClients = 700;
  for (int i = 0; i < kClients; ++i) {
    const std::string number = std::to_string(1000 + i);
    Add("c" + number, i % 2 == 0 ? "Par Común" : "Impar Común", "90000" + number);
  }
  EXPECT_EQ(Ids("filter[search]=comun&sort=created_at&per_page=3&page=2"), "c1003 c1004 c1005 700");
  EXPECT_EQ(Ids("filter[search]=comun&filter[snapshot]=100&sort=created_at&per_page=1&page=100"),
            "c1099 100");
  EXPECT_EQ(Ids("filter[search]=par&sort=-created_at&per_page=2"), "c1698 c1696 350");
  EXPECT_EQ(Ids("filter[search]=par+1001"), "0");
  EXPECT_EQ(Ids("filter[search]=impar+1001"), "c1001 1");
  EXPECT_EQ(Ids("filter[search]=comun&per_page=100&page=8"), "700");
  EXPECT_EQ(Ids("filter[search]=comun&filter[updated_since]=2100-01-01T00:00:00Z"), "0");
  EXPECT_EQ(Ids("filter[search]=comun&filter[phone]=900001234"), "c1234 1");
}

TEST_F(ClientList, FindsByRareAndCommonWordsTogether) {
  constexpr int kClients = 4300;
  std::vector<Draft> drafts;
  for (int i = 0; i < kClients; ++i) {
    const std::string number = std::to_string(10000 + i);
    drafts.push_back({.client = {.id = "c" + number,
                                 .name = i < 300 ? "Ana Común" : "Beto Común",
                                 .email = "guest" + number + "@mail.example",
                                 .country_calling_code = "+51",
                                 .phone_number = "9000" + number},
                      .addresses = {}});
  }
  api_.database->Write(
      [&](db::Tx& tx, const db::Stamp& stamp) { Import(tx, kCompany, drafts, stamp); });
  const std::string first = "&sort=created_at&per_page=2";

  EXPECT_EQ(Ids("filter[search]=guest12345@mail.example" + first), "c12345 1");
  EXPECT_EQ(Ids("filter[search]=comun+guest12345+exam" + first), "c12345 1");
  EXPECT_EQ(Ids("filter[search]=guest12345@mail.examples" + first), "0");
  EXPECT_EQ(Ids("filter[search]=ana+comun" + first), "c10000 c10001 300");
  EXPECT_EQ(Ids("filter[search]=mail.example" + first), "c10000 c10001 4300");
  EXPECT_EQ(Ids("filter[search]=comun+beto" + first), "c10300 c10301 4000");
  EXPECT_EQ(Ids("filter[search]=ana+1+comun" + first), "c10001 c10011 30");  // the end of a phone
  EXPECT_EQ(Ids("filter[search]=ana&sort=-created_at&per_page=2&page=2"), "c10297 c10296 300");
}

TEST_F(ClientList, CountsAClientOnceWhoMatchesWithTwoWordsOrWithItsNumberToo) {
  Add("a", "Gala García", "900001234");
  Add("b", "Bar 1234", "900001234");

  EXPECT_EQ(Ids("filter[search]=ga"), "a 1");
  EXPECT_EQ(Ids("filter[search]=1234&sort=created_at"), "a b 2");
  EXPECT_EQ(Ids("filter[search]=gal+garc+90+000+1234"), "a 1");
}

// The plans of the statements that a page may run.
class ClientPlans : public ClientList {
 protected:
  std::string PlanOf(db::ClauseBuilder& sql, db::Sql sort = "c.created_at DESC, c.id DESC") {
    sql.And("+c.created_seq <= {}", 5).OrderBy(sort).Limit(20, 0);
    const db::Connection connection(api_.database.settings().path, db::Connection::Role::kReader,
                                    "", SystemClock());
    sqlite3_stmt* statement = nullptr;
    const std::string explain = "EXPLAIN QUERY PLAN " + sql.sql();
    EXPECT_EQ(sqlite3_prepare_v2(connection.handle(), explain.c_str(), -1, &statement, nullptr),
              SQLITE_OK);
    std::string plan;
    while (sqlite3_step(statement) == SQLITE_ROW) {
      plan.append(reinterpret_cast<const char*>(sqlite3_column_text(statement, 3))).append("\n");
    }
    sqlite3_finalize(statement);
    return plan;
  }
};

TEST_F(ClientPlans, WalkAnIndexForEachSort) {
  for (const db::Sql sort : std::initializer_list<db::Sql>{
           "c.name_folded, c.id", "c.name_folded DESC, c.id DESC", "c.created_at DESC, c.id DESC",
           "c.last_order_at NULLS LAST, c.id", "c.last_order_at DESC NULLS LAST, c.id DESC"}) {
    db::ClauseBuilder sql = PageOf(kCompany, nullptr);
    const std::string plan = PlanOf(sql, sort);
    EXPECT_NE(plan.find("USING INDEX"), plan.npos) << sort.text() << ": " << plan;
    EXPECT_EQ(plan.find("TEMP B-TREE"), plan.npos) << sort.text() << ": " << plan;
  }
}

TEST_F(ClientPlans, ReadOnlyTheClientsWithAnEmailOrAPhoneNumber) {
  db::ClauseBuilder email = PageOf(kCompany, nullptr);
  email.And("c.email >= {} AND c.email <= {}", "ana@mail.example");
  EXPECT_NE(PlanOf(email).find("c USING INDEX client_email (company_id=? AND email>? AND email<?)"),
            std::string::npos);
  db::ClauseBuilder phone = PageOf(kCompany, nullptr);
  const PhoneTwins twins = TwinsOf("987");
  AndHasPhone(phone, twins);
  EXPECT_NE(PlanOf(phone).find("c USING INDEX client_phone"), std::string::npos);
}

TEST_F(ClientPlans, ReadOnlyTheClientsThatMatchASearch) {
  const Term term{"gar", "4321"};
  db::ClauseBuilder sql = PageOf(kCompany, &term);
  const std::string plan = PlanOf(sql);
  EXPECT_NE(plan.find("w USING PRIMARY KEY (company_id=? AND word>? AND word<?)"), plan.npos)
      << plan;
  EXPECT_NE(plan.find("p USING COVERING INDEX client_phone"), plan.npos) << plan;
  EXPECT_NE(plan.find("c USING INDEX client_created_seq (company_id=? AND created_seq=?)"),
            plan.npos)
      << plan;
}

}  // namespace
}  // namespace comanda::clients
