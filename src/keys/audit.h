#pragma once

// The audit log: who changed what about the access to a company. Rows are never changed.

#include <string_view>

#include "db/session.h"

namespace comanda::keys {

struct AuditEntry {
  std::string_view actor;   // "key:<id>", "local" or "clock"
  std::string_view action;  // "key.created"
  std::string_view subject_id;
  std::string_view detail;  // JSON, never a secret
};

// Writes the company's next row.
void Audit(db::Tx& tx, db::CompanyId company, const db::Stamp& stamp, const AuditEntry& entry);

}  // namespace comanda::keys
