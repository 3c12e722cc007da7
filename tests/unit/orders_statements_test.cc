// How many statements a request runs, from its path to its answer. Each is a round trip where the
// database is another machine. The requests go through the dispatcher, so that all that belongs to
// one is counted: its Idempotency-Key, counters, events.

#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "orders/api.h"
#include "orders/orders.h"
#include "support/api.h"
#include "support/engine_calls.h"

namespace comanda::orders {
namespace {

using auth::Scope;
using http::Method;
using testing::Answer;
using testing::Api;
using testing::CallsOf;
using testing::EngineCalls;
using testing::kCompany;

constexpr std::string_view kMethod = "0190a5c8-0000-7000-8000-000000000001";
constexpr std::string_view kProduct = "0190a5c8-0000-7000-8000-000000000006";

class Statements : public ::testing::Test {
 protected:
  Statements() {
    auth::ScopeSet scopes;
    scopes.Add(Scope::kOrdersRead);
    scopes.Add(Scope::kOrdersWrite);
    api_.key = api_.AddKey(scopes);
    api_.site.read_event_body = EventBody;
    api_.database->Write([](db::Tx& tx, const db::Stamp& stamp) {
      tx.Run(
          "INSERT INTO payment_method (company_id, id, code, description, service_types,"
          " created_seq) VALUES ($1, $2, 'cash', 'Efectivo', 15, 1)",
          kCompany, kMethod);
      tx.Run(
          "INSERT INTO category (company_id, id, name, slug, position)"
          " VALUES ($1, 'cat', 'Pescados', 'pescados', 0)",
          kCompany);
      tx.Run(
          "INSERT INTO product (company_id, id, category_id, name, slug, position, created_at,"
          " updated_at) VALUES ($1, $2, 'cat', 'Ceviche', 'ceviche', 0, $3, $3)",
          kCompany, kProduct, stamp.now);
      tx.Run(
          "INSERT INTO variant (company_id, id, product_id, name, sku, sku_folded, price, position)"
          " VALUES ($1, $2, $2, 'Default', 'CEV', 'cev', 3500, 0)",
          kCompany, kProduct);
    });
  }

  // Each request has a new Idempotency-Key.
  Answer Send(Method method, const std::string& path, std::string body) {
    return api_.Send(method, path, std::move(body),
                     {{"Idempotency-Key", "key-" + std::to_string(++keys_)}});
  }
  Answer Create() { return Send(Method::kPost, "/v1/orders", R"({"service_type":"ONSITE"})"); }
  Answer AddThreeLines(const std::string& path) {
    return Send(Method::kPost, path + "/combos", R"({"combos":[
        {"sku":"CEV","quantity":1,"variant_price":35},
        {"sku":"CEV","quantity":2,"variant_price":35},
        {"product_name":"Chicha","quantity":1,"variant_price":8}]})");
  }
  Answer Pay(const std::string& path, std::string_view amount) {
    return Send(Method::kPost, path + "/payments",
                R"({"payment_method_code":"cash","amount":)" + std::string(amount) + "}");
  }
  Answer Move(const std::string& path, std::string_view status) {
    return Send(Method::kPatch, path + "/status", R"({"status":")" + std::string(status) + "\"}");
  }

  struct Kept {
    std::string path;            // /v1/orders/{id}
    std::string path_by_public;  // the same with the public id
  };
  // An order of three lines.
  Kept UnpaidOrder() {
    const Answer made = Create();
    EXPECT_EQ(made.status(), 201);
    Kept order{"/v1/orders/" + made.Text("id"), "/v1/orders/" + made.Text("public_id")};
    EXPECT_EQ(AddThreeLines(order.path).status(), 200);
    return order;
  }
  // The same with a payment and a discount.
  Kept WholeOrder() {
    Kept order = UnpaidOrder();
    EXPECT_EQ(Pay(order.path, "10").status(), 200);
    EXPECT_EQ(
        Send(Method::kPost, order.path + "/discounts", R"({"type":"AMOUNT","value":5})").status(),
        200);
    return order;
  }

  struct Most {
    size_t statements = 0;
    int transactions = 1;
    int syncs = 0;
  };
  // Sends the request for three orders, and counts the last time. The first one may make what later
  // ones find, such as a facet.
  void ExpectAtMost(const Most& most, const std::function<Answer(const Kept&)>& request,
                    const std::function<Kept()>& make) {
    for (int i = 0; i < 2; ++i) EXPECT_LT(request(make()).status(), 300);
    const Kept order = make();
    EXPECT_EQ(Create().status(), 201);  // so that nothing is answered from memory
    Answer answer;
    const EngineCalls calls = CallsOf([&] { answer = request(order); });
    EXPECT_LT(answer.status(), 300) << answer.response.body;
    EXPECT_LE(calls.statements.size(), most.statements) << Listed(calls.statements);
    EXPECT_EQ(calls.transactions, most.transactions);
    EXPECT_EQ(calls.syncs, most.syncs);
    EXPECT_EQ(calls.opens, 0);
    EXPECT_TRUE(calls.prepared.empty()) << Listed(calls.prepared);
  }

  void ExpectAtMost(const Most& most, const std::function<Answer(const Kept&)>& request) {
    ExpectAtMost(most, request, [&] { return WholeOrder(); });
  }

  // The first words of each.
  static std::string Listed(const std::vector<std::string>& statements) {
    std::string text;
    for (const std::string& sql : statements) {
      const std::string_view words = std::string_view(sql).substr(sql.find_first_not_of(" \n"));
      text += "\n" + std::string(words.substr(0, words.find('\n')));
    }
    return text;
  }

  Api api_{{Routes()}};
  int keys_ = 0;
};

TEST_F(Statements, OfACreation) {
  ExpectAtMost({.statements = 8, .syncs = 1}, [&](const Kept&) { return Create(); });
}

TEST_F(Statements, OfLinesThatAreAdded) {
  ExpectAtMost({.statements = 17, .syncs = 1},
               [&](const Kept& order) { return AddThreeLines(order.path); });
}

TEST_F(Statements, OfAMoveToAnotherStatus) {
  ExpectAtMost({.statements = 14, .syncs = 1},
               [&](const Kept& order) { return Move(order.path, "PREPARING"); });
}

TEST_F(Statements, OfAMoveOfAnOrderWithoutPaymentsAndDiscounts) {
  ExpectAtMost(
      {.statements = 12, .syncs = 1},
      [&](const Kept& order) { return Move(order.path, "PREPARING"); },
      [&] { return UnpaidOrder(); });
}

TEST_F(Statements, OfAMoveByThePublicId) {
  ExpectAtMost({.statements = 17, .transactions = 2, .syncs = 1},
               [&](const Kept& order) { return Move(order.path_by_public, "PREPARING"); });
}

TEST_F(Statements, OfAMoveThatChangesNothing) {
  ExpectAtMost({.statements = 7, .syncs = 1},
               [&](const Kept& order) { return Move(order.path, "PENDING"); });
}

TEST_F(Statements, OfAPayment) {
  ExpectAtMost({.statements = 13, .syncs = 1},
               [&](const Kept& order) { return Pay(order.path, "1"); });
}

TEST_F(Statements, OfOtherFields) {
  ExpectAtMost({.statements = 11, .syncs = 1}, [&](const Kept& order) {
    return Send(Method::kPatch, order.path, R"({"comment":"sin sal"})");
  });
}

TEST_F(Statements, OfOneOrder) {
  ExpectAtMost({.statements = 2}, [&](const Kept& order) { return api_.Get(order.path); });
}

TEST_F(Statements, OfOneOrderByItsPublicId) {
  ExpectAtMost({.statements = 2},
               [&](const Kept& order) { return api_.Get(order.path_by_public); });
}

}  // namespace
}  // namespace comanda::orders
