#pragma once

// The rows below a product of the cloud's menu (variants, modifier categories, modifiers) and their
// counterparts at this box (cloud/menu/menu_pull.h).

#include <set>
#include <string>

#include "company/company.h"
#include "db/session.h"
#include "menu/product.h"

namespace comanda::cloud {

struct RowsHere {
  const company::Company& company;
  const menu::Product* box;  // null: it is new
  bool was_in_step;          // what both sides had of the product was known
  // Ids in the cloud of rows that have got a new id in this transaction.
  std::set<std::string>& given;
};
// Gives the rows of `product`, which has its local id, their local ids in place of those of the
// cloud. Modifier categories and modifiers here that the cloud has no more are added behind them,
// hidden.
void GiveRowsTheirIds(db::Session& session, const RowsHere& here, menu::Product& product);

// Writes the aliases of the rows: `shown` has the ids of the cloud, `here` those of this box.
void PutRowAliases(db::Tx& tx, db::CompanyId company, const menu::Product& shown,
                   const menu::Product& here);

}  // namespace comanda::cloud
