#pragma once

// The line to the server under test, and what the walk has learnt and made so far.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/scopes.h"
#include "base/money.h"
#include "net/network.h"
#include "selftest/reply.h"
#include "selftest/selftest.h"

namespace comanda::selftest {

struct Request {
  std::string method = "GET";
  std::string path;  // from the base address on: "/v1/orders?per_page=1"
  std::string body;
  std::vector<std::string> headers = {};
  bool with_key = true;
  bool patient = true;                            // waits where the server says so, and asks again
  std::string content_type = "application/json";  // sent where there is a body
};

// The one product that walks make.
inline constexpr std::string_view kDishSku = "SELFTEST-DISH";

// An order of this walk. `record` is its newest state as the server told it.
struct TestOrder {
  std::string reference;
  std::string body;  // of its creation
  Reply created;
  Reply record;

  bool exists() const { return !id().empty(); }
  std::string id() const { return record.Text("data.id"); }
  std::string Path(std::string_view below = "") const;
};

class Probe {
 public:
  Probe(const Settings& settings, net::Network& network)
      : settings_(settings), network_(network), secrets_{settings.key} {}

  // Waits as long as the server says where it answers 429 or 503 with Retry-After.
  Reply Send(const Request& request);
  Reply Get(std::string path, std::vector<std::string> headers = {});

  // POST /v1/orders under a fresh reference; the order is remembered, whatever comes of it.
  TestOrder Create(const std::string& body);
  // A write below an order; what a success tells becomes its record.
  Reply Write(TestOrder& order, std::string_view method, std::string_view below,
              const std::string& body = {}, std::vector<std::string> headers = {});

  std::string NewReference();

  // Learns from harmless requests what the key may do.
  void LearnScopes();
  bool May(auth::Scope scope) const { return scopes_.Has(scope); }
  auth::ScopeSet scopes() const { return scopes_; }

  // Minor units as a JSON number of the company's currency, and back.
  std::string Amount(Minor minor) const;
  std::optional<Minor> MinorOf(std::optional<json::Value> value) const;
  int decimals() const { return decimals_; }
  void LearnCurrency(std::string_view code);

  // The keys that must not be shown: the one to walk with, and those made.
  const std::vector<std::string>& secrets() const { return secrets_; }

  // Cancels and revokes what can be; tells what stays.
  std::vector<Remnant> TidyUp();

  const Settings& settings() const { return settings_; }
  bool secure() const { return settings_.url.starts_with("https://"); }
  int64_t waited_s() const { return waited_ms_ / 1000; }

  // What rows hand on to later rows.
  Reply first;  // the answer to the first request with the key
  Reply company;
  Reply menu;
  Reply payment_methods;
  std::string event_cursor;  // from before the first order
  TestOrder take_away;
  TestOrder delivery;
  std::string dish_id;
  struct MadeKey {
    std::string id;
    std::string text;
  };
  MadeKey made_key;

 private:
  struct Made {
    std::string reference;
    std::string id;  // empty: no answer told it
  };

  void Remember(const Request& request, const Reply& reply);
  void RememberKey(const Reply& reply);
  void Pause(int64_t seconds);
  std::optional<Remnant> TidyUp(Made made);
  const Settings& settings_;
  net::Network& network_;
  auth::ScopeSet scopes_;
  int decimals_ = 2;
  int64_t waited_ms_ = 0;
  bool tidying_ = false;  // not to be interrupted any more
  std::vector<Made> made_;
  std::vector<std::string> secrets_;
  std::vector<std::string> made_keys_;  // ids
};

// The pattern with each $ replaced by the next value.
std::string Filled(std::string_view pattern, std::initializer_list<std::string> values);

}  // namespace comanda::selftest
