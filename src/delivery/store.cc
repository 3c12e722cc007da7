#include "delivery/store.h"

namespace comanda::delivery::store {

std::optional<std::string> FindState(db::Session& session, db::CompanyId company,
                                     std::string_view app) {
  return session.FindText(
      R"sql(SELECT store_status FROM delivery_state WHERE company_id = $1 AND app = $2)sql",
      company, app);
}

void PutState(db::Tx& tx, db::CompanyId company, std::string_view app, std::string_view status) {
  tx.Run(R"sql(
      INSERT INTO delivery_state (company_id, app, store_status) VALUES ($1, $2, $3)
      ON CONFLICT (company_id, app) DO UPDATE SET store_status = excluded.store_status
      )sql",
         company, app, status);
}

void RemoveState(db::Tx& tx, db::CompanyId company, std::string_view app) {
  tx.Run(R"sql(DELETE FROM delivery_state WHERE company_id = $1 AND app = $2)sql", company, app);
}

}  // namespace comanda::delivery::store
