#pragma once

// The SQL of the restaurant's own records in sync: rows that have no counterpart, what both sides
// had of a product, stock, and what waits. Functions throw Fault on a database error.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "aliases/aliases.h"
#include "cloud/orders/journal.h"
#include "cloud/orders/pairing.h"
#include "db/session.h"

namespace comanda::cloud::store {

// In place of a hash: the cloud's menu lacks the product, which was hidden.
inline constexpr std::string_view kGone = "gone";

// A row of this box without an alias, or a product that is gone, with the keys of its kind
// (cloud/orders/pairing.h).
struct UnpairedRow {
  KeyedRow keyed;
  std::string name;  // for people
};
// Of clients, users, tables, payment methods, categories and products; nothing of other kinds.
std::vector<UnpairedRow> Unpaired(db::Session& session, db::CompanyId company, aliases::Kind kind);

// The aliases of a kind: the cloud's id by the local id.
std::map<std::string, std::string> AliasesOf(db::Session& session, db::CompanyId company,
                                             aliases::Kind kind);

// What both sides had of a product when they were equal last (migration 0013).
inline constexpr UtcMs kNotShownYet = 1;  // MenuState::pushed_at
struct MenuState {
  std::string cloud_hash;  // cloud/menu/menu_body.h, Fingerprint; empty: not known
  std::string box_hash;    // cloud/menu/menu_body.h, ContentHash
  // The time of the last change that the cloud showed after it had accepted a push; 0: none was
  // pushed.
  UtcMs pushed_at = 0;

  bool operator==(const MenuState&) const = default;
};
std::optional<MenuState> FindMenuState(db::Session& session, db::CompanyId company,
                                       std::string_view product_id);
void PutMenuState(db::Tx& tx, db::CompanyId company, std::string_view product_id,
                  const MenuState& state);

// Whether there is a hash of the cloud's record that does not begin like that; forgets those.
bool HasHashOfAnotherForm(db::Session& session, db::CompanyId company, std::string_view form);
void ForgetHashesOfAnotherForm(db::Tx& tx, db::CompanyId company, std::string_view form);

std::vector<std::string> AllProducts(db::Session& session, db::CompanyId company);
std::set<std::string> VisibleProducts(db::Session& session, db::CompanyId company);
std::set<std::string> Stations(db::Session& session, db::CompanyId company);

// A variant whose stock is counted locally, or could be.
struct Counted {
  std::string product_id;
  std::optional<int64_t> stock;  // thousandths
};
// By the local id.
std::map<std::string, Counted> Stocks(db::Session& session, db::CompanyId company);
// True if the stock of any variant is counted.
bool CountsStock(db::Session& session, db::CompanyId company);

// The row ids of the menu's steps that wait.
std::vector<std::string> WaitingMenuRows(db::Session& session, db::CompanyId company);

bool HasDifference(db::Session& session, db::CompanyId company, DifferenceKind kind,
                   std::string_view cloud, std::string_view detail);

}  // namespace comanda::cloud::store
