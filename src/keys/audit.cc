#include "keys/audit.h"

#include "keys/store.h"

namespace comanda::keys {

void Audit(db::Tx& tx, db::CompanyId company, const db::Stamp& stamp, const AuditEntry& entry) {
  store::InsertAudit(tx, company, stamp.now, entry);
}

std::optional<AuditNote> LastBy(db::Session& session, db::CompanyId company,
                                std::string_view actor) {
  return store::LastAuditBy(session, company, actor);
}

}  // namespace comanda::keys
