#pragma once

// stations[] and categories[] of an import file, with everything below them.

#include <set>
#include <string>

#include "company/company.h"
#include "company/tally.h"
#include "db/session.h"
#include "json/reader.h"
#include "menu/draft.h"

namespace comanda::menu {

// `row` is the company's; every wrong field is noted in its errors.
Draft ReadDraft(json::ObjectReader& row, const company::Company& company);

struct Imported {
  company::Tally stations, categories, products, variants, modifier_categories, modifiers;
  std::set<std::string> created_products, updated_products;
  bool changed() const { return stations.changed() || categories.changed() || products.changed(); }
};

// A product below which something changed is updated too: its variants and modifiers are part of
// its record. Refusal where a sku belongs to a stored variant that the file does not name, or a
// kitchen_id is no station.
Imported Import(db::Tx& tx, db::CompanyId company, const Draft& draft, const db::Stamp& stamp);

}  // namespace comanda::menu
