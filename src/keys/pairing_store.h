#pragma once

// SQL of pairing codes. Functions throw Fault on a database error.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/session.h"
#include "keys/pairing.h"

namespace comanda::keys::pairing_store {

void Insert(db::Tx& tx, db::CompanyId company, const Code& code);
// An open code. Nothing if there is none of that hash, or it has ended. Fault kDamaged where the
// row is not what was written.
std::optional<Code> FindOpen(db::Session& session, db::CompanyId company,
                             std::string_view hash_hex);
size_t CountOpen(db::Session& session, db::CompanyId company);
// Ends an open code; a code that has ended stays as it is. `key_id`: of a used one, else nothing.
void End(db::Tx& tx, db::CompanyId company, std::string_view hash_hex, auth::CodeState how,
         UtcMs at, std::optional<std::string_view> key_id);
void EndAll(db::Tx& tx, UtcMs at);

struct Row {
  std::string id;
  std::string hash_hex;
  db::CompanyId company;
  auth::CodeState state = auth::CodeState::kOpen;
  UtcMs made_at = 0;
  UtcMs expires_at = 0;
};
std::vector<Row> All(db::Session& session);

// The hashes of codes that ended before.
std::vector<std::string> EndedBefore(db::Session& session, UtcMs at);
void DeleteEndedBefore(db::Tx& tx, UtcMs at);

}  // namespace comanda::keys::pairing_store
