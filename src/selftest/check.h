#pragma once

// The table of checks. A check is a row: what it verifies, the section of the contract, what it
// requires, and a function. Rows are next to their functions, one file for each subject. They run
// in the order of the table, and later rows continue with the orders that earlier ones created.
//
// A check judges only what its name says, so that one deviation of a server is reported once. What
// it builds on, it accepts as the server returned it.

#include <cstdint>
#include <span>
#include <string_view>

#include "auth/scopes.h"
#include "selftest/finding.h"
#include "selftest/probe.h"

namespace comanda::selftest {

// What must have succeeded before a check is meaningful; all but kServer include kKey.
enum class Stage : uint8_t {
  // The server answers, whatever the status.
  kServer,
  // The server accepts the key.
  kKey,
  // The takeaway order was created (Probe::take_away).
  kOrder,
  // The delivery order was created (Probe::delivery).
  kDeliveryOrder,
};

// One row of the table. Where the server is judged by the specification, a check that the
// specification promises still overlooks what the contract adds to it (Finding); a check of an
// addition finds no deviation at all.
struct Check {
  // For technicians, e.g. "adds items".
  std::string_view name;
  std::string_view section;
  // The rule of the contract, in one sentence.
  std::string_view words;
  Stage stage;
  // The scopes that the key must have; otherwise the check is not run.
  auth::ScopeSet scopes;
  // Sends requests by the probe and records deviations in the finding.
  void (*run)(Probe&, Finding&);
  Promise promise = Promise::kSpecification;
};

// The set of the given scopes, for use in the table.
template <typename... Scopes>
consteval auth::ScopeSet Needs(Scopes... scopes) {
  auth::ScopeSet set;
  (set.Add(scopes), ...);
  return set;
}

// line.cc: address, certificate, headers, keys.
std::span<const Check> LineChecks();
// reading.cc: company, menu, people, reports.
std::span<const Check> ReadingChecks();
// mistakes.cc: what the server must refuse, and how.
std::span<const Check> MistakeChecks();
// creating.cc: an order, retries of its creation, reading it back.
std::span<const Check> CreatingChecks();
// money.cc: items, discounts, payments.
std::span<const Check> MoneyChecks();
// life.cc: status, events, cancelling.
std::span<const Check> LifeChecks();
// delivery.cc: rider, delivery status, closing.
std::span<const Check> DeliveryChecks();
// tables.cc: the tables, and orders at them.
std::span<const Check> TableChecks();
// menu.cc: products, variants, bulk upsert.
std::span<const Check> MenuChecks();
// keys.cc: creating, rotating, revoking.
std::span<const Check> KeyChecks();
// kitchen.cc: tickets and marks.
std::span<const Check> KitchenChecks();
// webhooks.cc: subscriptions and their deliveries.
std::span<const Check> WebhookChecks();

}  // namespace comanda::selftest
