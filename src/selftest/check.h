#pragma once

// A check is a row: what it makes sure of, where the contract says so, what it needs, and the
// function. The rows stand beside the functions, one file for each subject; their order is the
// order of the walk, and later rows go on with the orders that earlier ones made.
//
// A row judges what its name says and nothing else, so that one difference of a server is told
// once. What it builds on it takes as the server gives it.

#include <cstdint>
#include <span>
#include <string_view>

#include "auth/scopes.h"
#include "selftest/finding.h"
#include "selftest/probe.h"

namespace comanda::selftest {

// What must stand before a check makes sense.
enum class Stage : uint8_t {
  kServer,         // an answer, whatever it says
  kKey,            // an accepted key
  kOrder,          // the order to take away
  kDeliveryOrder,  // the order to deliver
};

struct Check {
  std::string_view name;
  std::string_view section;
  std::string_view words;
  Stage stage;
  auth::ScopeSet scopes;
  void (*run)(Probe&, Finding&);
};

template <typename... Scopes>
consteval auth::ScopeSet Needs(Scopes... scopes) {
  auth::ScopeSet set;
  (set.Add(scopes), ...);
  return set;
}

std::span<const Check> LineChecks();      // line.cc: address, certificate, headers, keys
std::span<const Check> ReadingChecks();   // reading.cc: company, menu, people, reports
std::span<const Check> MistakeChecks();   // mistakes.cc: what the server must refuse, and how
std::span<const Check> CreatingChecks();  // creating.cc: an order, repeats, reading it back
std::span<const Check> MoneyChecks();     // money.cc: items, discounts, payments
std::span<const Check> LifeChecks();      // life.cc: status, events, cancelling
std::span<const Check> DeliveryChecks();  // delivery.cc: rider, delivery status, closing
std::span<const Check> MenuChecks();      // menu.cc: products, variants, bulk upsert
std::span<const Check> KeyChecks();       // keys.cc: making, rotating, revoking

}  // namespace comanda::selftest
