#pragma once

// Clients that are brought in with their addresses: clients[] of an import file (app/IMPORT.md), or
// as another system shows them.

#include <string>
#include <vector>

#include "clients/clients.h"
#include "company/import_counts.h"
#include "db/session.h"
#include "json/reader.h"

namespace comanda::clients {

// A client with addresses, in their order.
struct Draft {
  Client client;
  std::vector<Address> addresses;
};

// Reads the clients of a company's `row`; adds every invalid field to its errors.
std::vector<Draft> ReadFile(json::ObjectReader& row, const std::string& company_uuid);
// Each writes what another system shows of a row (company/import_row.h); adds every field that
// cannot be taken to `errors`. Of a client without the addresses.
void ReadShown(json::Value record, Client& client, json::Errors& errors);
void ReadShown(json::Value record, Address& address, json::Errors& errors);

// What Import() has changed.
struct Imported {
  company::ImportCounts clients, addresses;
};

// Inserts new clients and updates those that differ. A client with a changed address counts as
// updated, because addresses are part of its record.
Imported Import(db::Tx& tx, db::CompanyId company, const std::vector<Draft>& drafts,
                const db::Stamp& stamp);

}  // namespace comanda::clients
