#include "orders/page_store.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <set>
#include <tuple>

#include "db/connection.h"
#include "orders/buckets.h"
#include "support/restaurant_database.h"

namespace comanda::orders {
namespace {

using testing::kCompany;
using testing::kCompanyId;
using testing::RestaurantDatabase;

TEST(Buckets, EveryAmountLiesInTheStretchOfItsBucket) {
  for (int64_t amount = 0; amount < 100'000'000'000'000; amount = amount * 9 / 8 + 1) {
    for (const int64_t near : {amount - 1, amount, amount + 1}) {
      const int64_t bucket = AmountBucket(near);
      EXPECT_LE(AmountLow(bucket), near);
      EXPECT_GT(AmountLow(bucket + 1), near);
    }
  }
}

TEST(Buckets, AStretchOfAmountsHasAtMostAHundredthOfThem) {
  const int64_t bucket = AmountBucket(1'000'000);
  EXPECT_LT(AmountLow(bucket + 1) - AmountLow(bucket), 10'000);
}

TEST(Buckets, EveryIdLiesBetweenTheEndsOfItsBucket) {
  for (const std::string id :
       {"00000000-0000-7000-8000-000000000000", "0190a5c8-6f2e-7c3a-9d41-2b7f5e8a1c90",
        "ffffffff-ffff-7fff-bfff-ffffffffffff"}) {
    EXPECT_LE(IdLow(IdBucket(id)), id);
    EXPECT_GT(IdLow(IdBucket(id) + 1), id);
  }
}

TEST(PageFinder, EntersWhereThePageBeginsAndEndsWhereItIsComplete) {
  PageFinder page(25, 10);
  EXPECT_TRUE(page.Pass(9, 20, 20));
  EXPECT_TRUE(page.Pass(8, 0, 7));
  EXPECT_TRUE(page.Pass(7, 10, 12));
  EXPECT_FALSE(page.Pass(6, 10, 10));
  EXPECT_EQ(page.skip(), 5);
  EXPECT_EQ(page.low_bucket(), 6);
  EXPECT_EQ(page.high_bucket(), 7);
  EXPECT_EQ(page.walked(), 22);
}

TEST(PageFinder, FindsNothingBehindTheEnd) {
  PageFinder page(30, 10);
  EXPECT_TRUE(page.Pass(1, 30, 30));
  EXPECT_FALSE(page.found());
}

// Orders of two months with values at random, changed at random: what lists say of them is compared
// with what a look at each of them says.
class PagesTest : public ::testing::Test {
 protected:
  static constexpr int64_t kOrders = 400;
  static constexpr UtcMs kBegin = 1'780'000'000'000;

  PagesTest() {
    database_->Write([this](db::Tx& tx, const db::Stamp&) {
      for (int64_t i = 0; i < kOrders; ++i) Insert(tx);
      for (int64_t i = 0; i < kOrders; ++i) Change(tx, At(Below(kOrders)));
    });
  }

  int64_t Below(int64_t bound) {
    return std::uniform_int_distribution<int64_t>(0, bound - 1)(luck_);
  }
  Order& At(int64_t i) { return orders_[static_cast<size_t>(i)]; }

  void Insert(db::Tx& tx) {
    Order order;
    order.company = kCompany;
    order.company_id = kCompanyId;
    order.created_at = order.updated_at = kBegin + Below(60) * 86'400'000 + Below(3);
    char id[64];
    std::snprintf(id, sizeof id, "%08llx-%04llx-7000-8000-%012zx",
                  static_cast<unsigned long long>(order.created_at >> 16),
                  static_cast<unsigned long long>(order.created_at & 0xffff), orders_.size());
    order.id = id;
    order.public_id = "PE-" + std::to_string(1'000'000'000 + orders_.size());
    order.order_number = 1 + Below(400);
    order.reference = order.id;
    order.source = Below(20) == 0 ? "RAPPI" : "API";
    order.country_code = "PE";
    order.timezone = "America/Lima";
    order.currency = "PEN";
    order.currency_decimals = 2;
    order.version = 1;
    order.service_type = static_cast<ServiceType>(Below(4));
    order.status_history = {{Status::kPending, order.created_at, "local", false}};
    if (Below(4) == 0) order.scheduled_delivery_date = order.created_at + Below(20) * 86'400'000;
    if (Below(3) == 0) order.table_id = std::string(kTables[static_cast<size_t>(Below(2))]);
    ASSERT_TRUE(orders::Insert(tx, order));
    tx.Run("UPDATE company_counter SET event_seq = event_seq + 1 WHERE company_id = $1", kCompany);
    orders_.push_back(order);
  }

  void Change(db::Tx& tx, Order& order) {
    const Order before = order;
    order.updated_at = std::max(order.updated_at, kBegin + Below(90) * 86'400'000);
    if (Below(2) == 0) order.status = static_cast<Status>(Below(6));
    if (Below(2) == 0) order.totals.total = Below(3) == 0 ? 0 : Below(30'000);
    if (Below(3) == 0) order.totals.paid = !order.totals.paid;
    if (Below(3) == 0) order.delivery_status = static_cast<DeliveryStatus>(Below(6));
    if (Below(5) == 0) order.scheduled_delivery_date.reset();
    if (Below(5) == 0) order.scheduled_delivery_date = kBegin + Below(90) * 86'400'000;
    if (Below(3) == 0) AddCombo(order);
    if (Below(3) == 0) AddPayment(order);
    Update(tx, before, order);
  }

  void AddCombo(Order& order) {
    for (Combo& combo : order.combos) combo.canceled_at = order.updated_at;
    Combo& combo = order.combos.emplace_back();
    combo.id = "combo-" + std::to_string(order.combos.size());
    combo.product_name = "Causa limeña";
    if (Below(3) > 0) combo.product_id = order.id;
    if (Below(3) > 0) combo.variant_id = order.id;
    combo.quantity = 1 + Below(5000);
    combo.combo_price = Below(10'000);
    for (int64_t i = Below(3); i > 0; --i) {
      combo.modifiers.push_back({.id = "modifier-" + std::to_string(i),
                                 .modifier_id = {},
                                 .name = "Ají " + std::to_string(Below(3)),
                                 .quantity = 1 + Below(2000),
                                 .price = Below(300),
                                 .original_price = 0});
    }
  }

  void AddPayment(Order& order) {
    for (Payment& payment : order.payments) payment.canceled_at = order.updated_at;
    Payment& payment = order.payments.emplace_back();
    payment.id = "payment-" + std::to_string(order.payments.size());
    payment.method = {order.id, "cash", "Efectivo"};
    payment.amount = Below(10'000);
    payment.tip_amount = Below(2) * Below(500);
  }

  static constexpr std::string_view kTables[] = {"0192f0a0-0000-7000-8000-0000000007a1",
                                                 "0192f0a0-0000-7000-8000-0000000007a2"};

  struct Question {
    std::optional<std::string_view> table;
    std::optional<Status> status;
    std::optional<std::string> source;
    Selection selection;
    Sorting sorting;
    http::Paging paging;
  };

  UtcMs AnyTime() { return kBegin + Below(95) * 86'400'000 + Below(4) - 1; }

  Question Any() {
    Question question;
    if (Below(3) == 0) question.status = static_cast<Status>(Below(6));
    if (Below(6) == 0) question.source = Below(2) == 0 ? "RAPPI" : "API";
    if (Below(6) == 0) question.table = kTables[static_cast<size_t>(Below(2))];
    if (Below(4) == 0) question.selection.created.from = AnyTime();
    if (Below(4) == 0) question.selection.created.to = AnyTime();
    if (Below(5) == 0) question.selection.updated.from = AnyTime();
    if (Below(3) == 0) question.selection.snapshot = Below(kOrders + 1);
    question.sorting = {static_cast<SortBy>(Below(5)), static_cast<Direction>(Below(2))};
    question.paging = {.page = 1 + Below(12), .per_page = 1 + Below(40)};
    return question;
  }

  Found Ask(const Question& question) {
    return database_->Read([&](db::Snapshot& snapshot) { return Ask(snapshot, question); });
  }

  static Found Ask(db::Session& snapshot, const Question& question) {
    Selection selection = question.selection;
    if (question.status || question.source) {
      selection.facets = SelectFacets(snapshot, kCompany);
      std::erase_if(*selection.facets, [&](const Facet& facet) {
        return (question.status && facet.status != *question.status) ||
               (question.source && facet.source != *question.source);
      });
    }
    constexpr std::array kFilters = {
        http::ListFilter{"filter[table_id]", "o.table_id = {}", http::ReadUuid}};
    const http::Query query = http::Query::Parse(
        question.table ? "filter[table_id]=" + std::string(*question.table) : "");
    const auto others = http::Conditions::Read({snapshot, kCompany, query}, kFilters);
    selection.others = &others;
    return FindOrders(snapshot, kCompany, selection, question.sorting, question.paging);
  }

  Found LookAtEach(const Question& question) {
    const auto within = [](const Period& period, UtcMs time) {
      return time >= period.from && time < period.to;
    };
    std::vector<const Order*> all;
    for (size_t i = 0; i < orders_.size(); ++i) {
      const Order& order = orders_[i];
      if (question.status && order.status != *question.status) continue;
      if (question.source && order.source != *question.source) continue;
      if (question.table && order.table_id != *question.table) continue;
      if (!within(question.selection.created, order.created_at)) continue;
      if (!within(question.selection.updated, order.updated_at)) continue;
      if (question.selection.snapshot && static_cast<int64_t>(i) + 1 > *question.selection.snapshot)
        continue;
      all.push_back(&order);
    }
    const bool down = question.sorting.direction == Direction::kDescending;
    std::ranges::sort(all, [&](const Order* a, const Order* b) {
      const auto [a_null, a_key] = KeyOf(*a, question.sorting.by);
      const auto [b_null, b_key] = KeyOf(*b, question.sorting.by);
      if (a_null != b_null) return b_null;
      return down ? std::tie(a_key, a->id) > std::tie(b_key, b->id)
                  : std::tie(a_key, a->id) < std::tie(b_key, b->id);
    });
    Found found;
    found.total = static_cast<int64_t>(all.size());
    const int64_t begin = std::min(found.total, question.paging.offset());
    const int64_t end = std::min(found.total, begin + question.paging.per_page);
    for (int64_t i = begin; i < end; ++i) found.ids.push_back(all[static_cast<size_t>(i)]->id);
    return found;
  }

  static std::pair<bool, int64_t> KeyOf(const Order& order, SortBy by) {
    switch (by) {
      case SortBy::kCreated:
        return {false, order.created_at};
      case SortBy::kUpdated:
        return {false, order.updated_at};
      case SortBy::kScheduled:
        return {!order.scheduled_delivery_date, order.scheduled_delivery_date.value_or(0)};
      case SortBy::kTotal:
        return {false, order.totals.total};
      case SortBy::kNumber:
        return {false, order.order_number};
    }
    return {};
  }

  std::vector<std::string> Rows(std::string_view sql) {
    return database_->Read([&](db::Snapshot& snapshot) {
      std::vector<std::string> found;
      db::Rows rows = snapshot.Query(sql);
      while (rows.Next()) found.push_back(rows.Text(0));
      return found;
    });
  }

  // The statements of a migration that begin so.
  static void RunAgain(db::Tx& tx, size_t number, const std::vector<std::string>& beginnings) {
    const std::string migration(testing::RestaurantMigrations().at(number - 1).sql);
    for (const std::string& beginning : beginnings) {
      for (size_t begin = migration.find('\n' + beginning); begin != migration.npos;) {
        const size_t end = migration.find(";\n", begin);
        tx.Run(migration.substr(begin, end - begin));
        begin = migration.find('\n' + beginning, end);
      }
    }
  }

  RestaurantDatabase database_;
  std::vector<Order> orders_;
  std::mt19937_64 luck_{20261120};
};

TEST_F(PagesTest, APageIsWhatALookAtEveryOrderFinds) {
  for (int i = 0; i < 2000; ++i) {
    const Question question = Any();
    const Found found = Ask(question), expected = LookAtEach(question);
    ASSERT_EQ(found.total, expected.total) << "question " << i;
    ASSERT_EQ(found.ids, expected.ids) << "question " << i;
  }
}

TEST_F(PagesTest, PagesTogetherAreTheListInEverySort) {
  for (int by = 0; by < 5; ++by) {
    for (int direction = 0; direction < 2; ++direction) {
      Question question;
      question.sorting = {static_cast<SortBy>(by), static_cast<Direction>(direction)};
      question.paging.per_page = 37;
      Question whole = question;
      whole.paging.per_page = kOrders;
      std::vector<std::string> ids;
      for (question.paging.page = 1; std::cmp_less(ids.size(), kOrders); ++question.paging.page) {
        const Found found = Ask(question);
        ASSERT_FALSE(found.ids.empty());
        ids.insert(ids.end(), found.ids.begin(), found.ids.end());
      }
      EXPECT_EQ(ids, LookAtEach(whole).ids);
    }
  }
}

// -- plans ----------------------------------------------------------------------------------------

// What EXPLAIN QUERY PLAN says of a statement.
std::vector<std::string> PlanOf(sqlite3* handle, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  EXPECT_EQ(
      sqlite3_prepare_v2(handle, ("EXPLAIN QUERY PLAN " + sql).c_str(), -1, &statement, nullptr),
      SQLITE_OK);
  std::vector<std::string> plan;
  while (sqlite3_step(statement) == SQLITE_ROW) {
    plan.emplace_back(reinterpret_cast<const char*>(sqlite3_column_text(statement, 3)));
  }
  sqlite3_finalize(statement);
  return plan;
}

bool Has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

void ExpectCheap(const std::string& sql, const std::vector<std::string>& plan) {
  // Gathered and sorted is what is known to be few, or a stretch of creation of some facets.
  const bool gathers = Has(sql, "ORDER BY +") || Has(sql, "+o.scheduled_delivery_date") ||
                       (Has(sql, "CROSS JOIN") && Has(sql, "o.scheduled_delivery_date IS"));
  const bool sorts = Has(sql, "ORDER BY +") || Has(sql, "CROSS JOIN");
  for (const std::string& step : plan) {
    const bool of_values =
        Has(step, "VALUES CLAUSE") || Has(step, "CONSTANT ROW") || step == "SCAN f";
    EXPECT_TRUE(of_values || !step.starts_with("SCAN")) << step << " of " << sql;
    EXPECT_TRUE(sorts || !Has(step, "TEMP B-TREE")) << step << " of " << sql;
    // All of a company's orders are met on a walk along the sort alone, until the page is full.
    const bool walks = Has(sql, "ORDER BY o.") && !Has(sql, "CROSS JOIN");
    EXPECT_TRUE(walks || !Has(step, "(company_id=?)")) << step << " of " << sql;
    // But for what is gathered, lists and counts read nothing but an index; updated_at changes with
    // every write and so stands in few of them.
    const bool reads_index_alone = !step.starts_with("SEARCH o ") || Has(step, "COVERING INDEX");
    const bool looks_at_update =
        Has(sql, "+o.updated_at") && (Has(sql, "ORDER BY o.") || Has(step, "orders_scheduled"));
    EXPECT_TRUE(gathers || looks_at_update || reads_index_alone) << step << " of " << sql;
  }
}

TEST_F(PagesTest, NoListReadsOrSortsMoreThanItMust) {
  db::Connection connection(database_.settings().path, db::Connection::Role::kReader, "",
                            SystemClock());
  std::set<std::string> statements;
  {
    db::Snapshot snapshot(connection);
    for (int i = 0; i < 2000; ++i) {
      Ask(snapshot, Any());
      sqlite3_stmt* statement = nullptr;
      while ((statement = sqlite3_next_stmt(connection.handle(), statement)) != nullptr) {
        statements.insert(sqlite3_sql(statement));
        EXPECT_EQ(sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_REPREPARE, 0), 0)
            << "compiled anew for other values: " << sqlite3_sql(statement);
      }
    }
  }
  int lists = 0;
  for (const std::string& sql : statements) {
    if (!Has(sql, " order_tally ") && !Has(sql, "orders o ")) continue;
    ++lists;
    ExpectCheap(sql, PlanOf(connection.handle(), sql));
  }
  EXPECT_GT(lists, 100);
}

// -- the migration --------------------------------------------------------------------------------

TEST_F(PagesTest, WhatTheMigrationsCountIsWhatChangesHaveKept) {
  constexpr std::string_view kValues =
      "f.status || ' ' || f.service_type || ' ' || f.source || ' ' || f.paid || ' ' ||"
      " f.delivery_status";
  const std::string tallies_sql =
      "SELECT t.tally || ' ' || t.bucket || ' ' || " + std::string(kValues) +
      " || ' ' || t.orders FROM order_tally t JOIN order_facet f"
      " ON f.company_id = t.company_id AND f.facet = t.facet ORDER BY 1";
  const std::string sales_sql =
      "SELECT s.created_at || ' ' || s.order_id || ' ' || " + std::string(kValues) +
      " || ' ' || s.payments || ' ' || s.lines FROM sale s JOIN order_facet f"
      " ON f.company_id = s.company_id AND f.facet = s.facet ORDER BY 1";
  constexpr std::string_view kFacets =
      "SELECT count(*) || ' ' || f.orders FROM orders o JOIN order_facet f ON f.company_id = "
      "o.company_id"
      " AND f.facet = o.facet AND f.status = o.status AND f.paid = o.paid AND f.source = o.source"
      " AND f.service_type = o.service_type AND f.delivery_status = coalesce(o.delivery_status, -1)"
      " GROUP BY o.company_id, o.facet, f.orders ORDER BY 1";
  const auto tallies = Rows(tallies_sql), sales = Rows(sales_sql);
  ASSERT_GT(tallies.size(), 1000U);
  ASSERT_GT(sales.size(), 100U);
  EXPECT_EQ(Rows("SELECT bucket FROM order_tally WHERE orders < 1"), std::vector<std::string>());

  database_->Write([&](db::Tx& tx, const db::Stamp&) {
    for (const char* table : {"order_tally", "sale"}) tx.Run("DELETE FROM " + std::string(table));
    tx.Run("UPDATE orders SET facet = 0");
    tx.Run("DELETE FROM order_facet");
    RunAgain(tx, 4, {"INSERT INTO order_facet", "UPDATE orders"});
    RunAgain(tx, 5, {"INSERT INTO"});
  });
  EXPECT_EQ(Rows(tallies_sql), tallies);
  EXPECT_EQ(Rows(sales_sql), sales);
  for (const std::string& counts : Rows(kFacets)) {
    const size_t space = counts.find(' ');
    EXPECT_EQ(counts.substr(0, space), counts.substr(space + 1));
  }
}

}  // namespace
}  // namespace comanda::orders
