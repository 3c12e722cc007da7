#include "keys/audit.h"

#include "keys/store.h"

namespace comanda::keys {

void Audit(db::Tx& tx, db::CompanyId company, const db::Stamp& stamp, const AuditEntry& entry) {
  store::InsertAudit(tx, company, stamp.now, entry);
}

}  // namespace comanda::keys
