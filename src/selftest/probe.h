#pragma once

// The client through which checks talk to the server under test, and the state that checks pass on
// to later ones.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/scopes.h"
#include "base/money.h"
#include "net/network.h"
#include "net/reply.h"
#include "selftest/selftest.h"

namespace comanda::selftest {

using net::Find;
using net::Reply;
using net::Shown;
using net::TextAt;

// One request to the server under test.
struct Request {
  std::string method = "GET";
  // Relative to the base URL: "/v1/orders?per_page=1".
  std::string path;
  std::string body;
  std::vector<std::string> headers = {};
  // False: without credentials.
  bool with_key = true;
  // True: on 429 or 503 with Retry-After, waits and repeats the request.
  bool patient = true;
  // Sent only with a body.
  std::string content_type = "application/json";
};

// The sku of the only product that the self-test creates, the same in every run.
inline constexpr std::string_view kDishSku = "SELFTEST-DISH";

// An order created in this run.
struct TestOrder {
  std::string reference;
  // The body of its creation.
  std::string body;
  // The answer to its creation, and the newest answer that has its record.
  Reply created;
  Reply record;

  bool exists() const { return !id().empty(); }
  std::string id() const { return record.Text("data.id"); }
  // The path of the order, or of a resource below it.
  std::string Path(std::string_view below = "") const;
};

// Sends requests, and remembers what they created, so that TidyUp() can remove it. `settings` and
// `network` must outlive it. One thread; every request blocks.
class Probe {
 public:
  Probe(const Settings& settings, net::Network& network)
      : settings_(settings), network_(network), secrets_{settings.key} {}

  // Sends one request. A failed connection is a Reply with status 0.
  Reply Send(const Request& request);
  Reply Get(std::string path, std::vector<std::string> headers = {});

  // Creates an order under a new reference (POST /v1/orders), and remembers it for TidyUp(), even
  // if no answer arrives.
  TestOrder Create(const std::string& body);
  // Writes to an order, or to a resource `below` it. On success the answer becomes order.record.
  Reply Write(TestOrder& order, std::string_view method, std::string_view below,
              const std::string& body = {}, std::vector<std::string> headers = {});

  // A random Idempotency-Key that marks orders of the self-test.
  std::string NewReference();

  // Finds out the scopes of the key, by one request for each scope that changes nothing.
  void LearnScopes();
  bool May(auth::Scope scope) const { return scopes_.Has(scope); }
  auth::ScopeSet scopes() const { return scopes_; }

  // Converts between minor units and JSON numbers of the company's currency.
  std::string Amount(Minor minor) const;
  std::optional<Minor> MinorOf(std::optional<json::Value> value) const;
  int decimals() const { return decimals_; }
  // Sets the currency (ISO 4217); until then amounts have two decimals.
  void LearnCurrency(std::string_view code);

  // The texts that must not appear in a report: the key of this run, the keys it has created, and
  // the secrets of webhooks.
  const std::vector<std::string>& secrets() const { return secrets_; }

  // Cancels the orders, revokes the keys and deletes the webhooks created in this run. Returns what
  // remains on the server.
  std::vector<Remnant> TidyUp();

  const Settings& settings() const { return settings_; }
  bool secure() const { return settings_.url.starts_with("https://"); }
  // How long requests have waited for Retry-After in all.
  int64_t waited_s() const { return waited_ms_ / 1000; }

  // State that checks pass on to later ones. `first` is the answer to the first request with the
  // key.
  Reply first;
  Reply company;
  Reply menu;
  Reply payment_methods;
  // A position of the event feed before the first order.
  std::string event_cursor;
  TestOrder take_away;
  TestOrder delivery;
  // An order with two lines, for the kitchen.
  TestOrder kitchen;
  std::string dish_id;
  // An active table; empty where none is known.
  std::string table_id;
  // A key created in this run.
  struct MadeKey {
    std::string id;
    std::string text;
  };
  MadeKey made_key;
  // The merchant_id of every webhook of this run. By it TidyUp() finds those whose creation was not
  // answered.
  const std::string webhook_reference = NewReference();
  // The first answer to GET /v1/webhooks, the answer to the creation of a webhook, and the first
  // list of its deliveries.
  Reply webhooks;
  Reply webhook;
  Reply deliveries;

 private:
  // An order created in this run.
  struct Made {
    std::string reference;
    // Empty if no answer had it.
    std::string id;
  };

  // Notes what a successful request has created.
  void Remember(const Request& request, const Reply& reply);
  void RememberKey(const Reply& reply);
  void RememberWebhook(const Request& request, const Reply& reply);
  void Pause(int64_t seconds);
  std::optional<Remnant> TidyUp(Made made);
  void DeleteWebhooks(std::vector<Remnant>& remnants);
  const Settings& settings_;
  net::Network& network_;
  auth::ScopeSet scopes_;
  int decimals_ = 2;
  int64_t waited_ms_ = 0;
  // True once TidyUp() has started: waits are no longer interruptible.
  bool tidying_ = false;
  std::vector<Made> made_;
  std::vector<std::string> secrets_;
  // Ids.
  std::vector<std::string> made_keys_;
  std::vector<std::string> made_webhooks_;
  // True if a webhook may have been created whose id no answer had.
  bool webhook_unanswered_ = false;
};

// Replaces each $ in the pattern by the next value.
std::string Filled(std::string_view pattern, std::initializer_list<std::string> values);

}  // namespace comanda::selftest
