#pragma once

// The import of clients[] with their addresses (app/IMPORT.md).

#include <string>
#include <vector>

#include "clients/draft.h"
#include "company/import_counts.h"
#include "db/session.h"
#include "json/reader.h"

namespace comanda::clients {

// Reads the clients of a company's `row`; adds every invalid field to its errors.
std::vector<Draft> ReadDrafts(json::ObjectReader& row, const std::string& company_uuid);

// What Import() has changed.
struct Imported {
  company::ImportCounts clients, addresses;
};

// Inserts new clients and updates those that differ. A client with a changed address counts as
// updated, because addresses are part of its record.
Imported Import(db::Tx& tx, db::CompanyId company, const std::vector<Draft>& drafts,
                const db::Stamp& stamp);

}  // namespace comanda::clients
