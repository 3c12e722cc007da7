#include "orders/list_store.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <set>
#include <tuple>
#include <utility>

#include "base/time/clock.h"
#include "company/companies.h"
#include "engine/connection.h"
#include "events/log.h"
#include "orders/store.h"
#include "support/restaurant_database.h"

namespace comanda::orders {
namespace {

using testing::kCompany;
using testing::kCompanyId;
using testing::RestaurantDatabase;

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
    order.company_uuid = kCompanyId;
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
    order.status_history = {{Status::kPending, order.created_at, "local", false, {}}};
    if (Below(4) == 0) order.scheduled_delivery_date = order.created_at + Below(20) * 86'400'000;
    if (Below(3) == 0) order.table_id = std::string(kTables[static_cast<size_t>(Below(2))]);
    const events::HeldCounters counters(tx, kCompany);
    ASSERT_TRUE(orders::Insert(tx, order, counters.next_seq()));
    tx.Run(
        "UPDATE company_counter SET event_seq = event_seq + 1, checksum = NULL WHERE company_id = "
        "$1",
        kCompany);
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
    ++order.version;
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
    std::vector<int64_t> statuses;
    std::optional<std::string> source;
    std::optional<bool> paid;
    std::optional<UtcMs> created_from, created_to, updated_from;
    std::optional<UtcMs> scheduled_from, scheduled_to;
    std::optional<int64_t> number;
    std::optional<int64_t> snapshot;
    size_t sort = 0;
    bool descending = false;
    http::Paging paging;
  };

  UtcMs AnyTime() { return kBegin + Below(95) * 86'400'000 + Below(4); }

  Question Any() {
    Question question;
    for (int64_t i = Below(3) == 0 ? 1 + Below(3) : 0; i > 0; --i) {
      question.statuses.push_back(Below(6));
    }
    if (Below(6) == 0) question.source = Below(2) == 0 ? "RAPPI" : "API";
    if (Below(6) == 0) question.paid = Below(2) == 0;
    if (Below(6) == 0) question.table = kTables[static_cast<size_t>(Below(2))];
    if (Below(4) == 0) question.created_from = AnyTime();
    if (Below(4) == 0) question.created_to = AnyTime();
    if (Below(5) == 0) question.updated_from = AnyTime();
    if (Below(6) == 0) question.scheduled_from = AnyTime();
    if (Below(6) == 0) question.scheduled_to = AnyTime();
    if (Below(8) == 0) question.number = Below(40);
    if (Below(3) == 0) question.snapshot = Below(kOrders + 1);
    question.sort = static_cast<size_t>(Below(5));
    question.descending = Below(2) == 0;
    question.paging = {.page = 1 + Below(12), .per_page = 1 + Below(40)};
    return question;
  }

  static std::string QueryOf(const Question& question) {
    std::string query;
    const auto add = [&](std::string_view name, const std::string& value) {
      if (!query.empty()) query += '&';
      query.append("filter[").append(name).append("]=").append(value);
    };
    std::string statuses;
    for (const int64_t status : question.statuses) {
      if (!statuses.empty()) statuses += ',';
      statuses += kStatusNames[static_cast<size_t>(status)];
    }
    if (!statuses.empty()) add("status", statuses);
    if (question.source) add("source", *question.source);
    if (question.paid) add("paid", *question.paid ? "true" : "false");
    if (question.table) add("table_id", std::string(*question.table));
    if (question.created_from) add("start_date", FormatInstant(*question.created_from));
    if (question.created_to) add("end_date", FormatInstant(*question.created_to));
    if (question.updated_from) add("updated_since", FormatInstant(*question.updated_from));
    if (question.scheduled_from) add("scheduled_from", FormatInstant(*question.scheduled_from));
    if (question.scheduled_to) add("scheduled_to", FormatInstant(*question.scheduled_to));
    if (question.number) add("order_number", std::to_string(*question.number));
    if (question.snapshot) add("snapshot", std::to_string(*question.snapshot));
    return query;
  }

  struct Found {
    std::vector<std::string> ids;  // of the page
    int64_t total = 0;
  };

  Found Ask(const Question& question) {
    return database_->Read([&](db::Snapshot& snapshot) { return Ask(snapshot, question); });
  }

  static Found Ask(db::Session& snapshot, const Question& question) {
    const http::Query query = http::Query::Parse(QueryOf(question));
    const http::Conditions conditions = ReadConditions(snapshot, kCompany, query);
    Found found;
    found.total = SelectPage(snapshot, kCompany,
                             {.conditions = conditions,
                              .sort = question.sort,
                              .descending = question.descending,
                              .paging = question.paging},
                             [&](const ListedRow& row) {
                               found.ids.insert(
                                   found.ids.begin() + static_cast<ptrdiff_t>(row.place), row.id);
                               return true;
                             });
    return found;
  }

  static bool Matches(const Question& question, const Order& order, int64_t created_seq) {
    const auto status = static_cast<int64_t>(order.status);
    const std::optional<UtcMs>& scheduled = order.scheduled_delivery_date;
    return (question.statuses.empty() || std::ranges::count(question.statuses, status) > 0) &&
           (!question.source || order.source == *question.source) &&
           (!question.paid || order.totals.paid == *question.paid) &&
           (!question.table || order.table_id == *question.table) &&
           (!question.created_from || order.created_at >= *question.created_from) &&
           (!question.created_to || order.created_at < *question.created_to) &&
           (!question.updated_from || order.updated_at >= *question.updated_from) &&
           (!question.scheduled_from || (scheduled && *scheduled >= *question.scheduled_from)) &&
           (!question.scheduled_to || (scheduled && *scheduled < *question.scheduled_to)) &&
           (!question.number || order.order_number == *question.number) &&
           (!question.snapshot || created_seq <= *question.snapshot);
  }

  Found LookAtEach(const Question& question) {
    std::vector<const Order*> all;
    for (size_t i = 0; i < orders_.size(); ++i) {
      if (Matches(question, orders_[i], static_cast<int64_t>(i) + 1)) all.push_back(&orders_[i]);
    }
    std::ranges::sort(all, [&](const Order* a, const Order* b) {
      const auto [a_null, a_key] = KeyOf(*a, question.sort);
      const auto [b_null, b_key] = KeyOf(*b, question.sort);
      if (a_null != b_null) return b_null;
      return question.descending ? std::tie(a_key, a->id) > std::tie(b_key, b->id)
                                 : std::tie(a_key, a->id) < std::tie(b_key, b->id);
    });
    Found found;
    found.total = static_cast<int64_t>(all.size());
    const int64_t begin = std::min(found.total, question.paging.offset());
    const int64_t end = std::min(found.total, begin + question.paging.per_page);
    for (int64_t i = begin; i < end; ++i) found.ids.push_back(all[static_cast<size_t>(i)]->id);
    return found;
  }

  // Whether the key is null, and the key.
  static std::pair<bool, int64_t> KeyOf(const Order& order, size_t sort) {
    const std::string_view name = kListSorts[sort];
    if (name == "created_at") return {false, order.created_at};
    if (name == "updated_at") return {false, order.updated_at};
    if (name == "total") return {false, order.totals.total};
    if (name == "order_number") return {false, order.order_number};
    return {!order.scheduled_delivery_date, order.scheduled_delivery_date.value_or(0)};
  }

  std::vector<std::string> Rows(db::Sql sql) {
    return database_->Read([&](db::Snapshot& snapshot) { return snapshot.FindTexts(sql); });
  }

  RestaurantDatabase database_;
  std::vector<Order> orders_;
  std::mt19937_64 luck_{20261120};
};

TEST_F(PagesTest, APageIsWhatALookAtEveryOrderFinds) {
  for (int i = 0; i < 2000; ++i) {
    const Question question = Any();
    const Found found = Ask(question), expected = LookAtEach(question);
    ASSERT_EQ(found.total, expected.total) << QueryOf(question);
    ASSERT_EQ(found.ids, expected.ids) << QueryOf(question);
  }
}

TEST_F(PagesTest, PagesTogetherAreTheListInEverySort) {
  for (size_t sort = 0; sort < kListSorts.size(); ++sort) {
    for (const bool descending : {false, true}) {
      Question question;
      question.sort = sort;
      question.descending = descending;
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

// Plans

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
  const bool gathers = Has(sql, "MATERIALIZED");
  const bool scans = !gathers && Has(sql, ") AS page");
  bool page_was_read = !gathers && !scans;
  for (const std::string& step : plan) {
    page_was_read = page_was_read || step == "SCAN page";
    // The records are read by their keys, one for each row of the page.
    EXPECT_TRUE(!step.starts_with("SCAN e") && (page_was_read || !step.starts_with("SEARCH e ")))
        << step << " of " << sql;
    // The index of a sort returns the rows of many matches in its order, and has what is compared.
    EXPECT_TRUE(!scans || !Has(step, "ORDER BY")) << step << " of " << sql;
    if (!step.starts_with("SEARCH o ") && !step.starts_with("SCAN o ")) continue;
    // What is gathered or counted is found by more than the company.
    EXPECT_TRUE(scans || !Has(step, "(company_id=?)")) << step << " of " << sql;
  }
  EXPECT_TRUE(page_was_read) << sql;
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
    if (!Has(sql, "FROM orders AS ")) continue;
    ++lists;
    ExpectCheap(sql, PlanOf(connection.handle(), sql));
  }
  EXPECT_GT(lists, 100);
}

TEST_F(PagesTest, FacetsCountTheOrdersThatHaveTheirValues) {
  const auto counts = Rows(
      "SELECT count(*) || ' ' || f.orders FROM orders AS o JOIN order_facet AS f"
      " ON f.company_id = o.company_id AND f.facet = o.facet AND f.status = o.status"
      " AND f.paid = o.paid AND f.source = o.source AND f.service_type = o.service_type"
      " AND f.delivery_status = coalesce(o.delivery_status, -1)"
      " GROUP BY o.company_id, o.facet, f.orders");
  ASSERT_GT(counts.size(), 50U);
  for (const std::string& count : counts) {
    const size_t space = count.find(' ');
    EXPECT_EQ(count.substr(0, space), count.substr(space + 1));
  }
  EXPECT_EQ(Rows("SELECT sum(orders) || '' FROM order_facet"),
            std::vector<std::string>{std::to_string(kOrders)});
}

}  // namespace
}  // namespace comanda::orders
