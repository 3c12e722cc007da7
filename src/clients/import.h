#pragma once

// clients[] of an import file, with their addresses.

#include <string>
#include <vector>

#include "clients/draft.h"
#include "company/tally.h"
#include "db/session.h"
#include "json/reader.h"

namespace comanda::clients {

// `row` is the company's; every wrong field is noted in its errors.
std::vector<Draft> ReadDrafts(json::ObjectReader& row, const std::string& company_uuid);

struct Imported {
  company::Tally clients, addresses;
};

// A client of whom an address changed is updated too: the address is part of the record.
Imported Import(db::Tx& tx, db::CompanyId company, const std::vector<Draft>& drafts,
                const db::Stamp& stamp);

}  // namespace comanda::clients
