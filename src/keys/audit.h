#pragma once

// The audit log: every change of the access to a company, with its author. Rows are only ever
// added.

#include <string_view>

#include "db/session.h"

namespace comanda::keys {

// One row of the log.
struct AuditEntry {
  // The author: "key:<id>", "local", "clock" for an end that time has brought, "pairing:<id>" for a
  // device with that code, "address:<address>" for a client without credentials.
  std::string_view actor;
  // As "key.created".
  std::string_view action;
  std::string_view subject_id;
  // JSON without secrets.
  std::string_view detail;
};

// Adds a row with the next number of the company. Throws Fault on a database error.
void Audit(db::Tx& tx, db::CompanyId company, const db::Stamp& stamp, const AuditEntry& entry);

}  // namespace comanda::keys
