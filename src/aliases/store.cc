// All SQL of the room.

#include "aliases/aliases.h"

namespace comanda::aliases {

std::optional<std::string> FindBoxId(db::Session& session, db::CompanyId company, Kind kind,
                                     std::string_view cloud_id) {
  return session.FindText(
      R"sql(SELECT box_id FROM alias WHERE company_id = $1 AND kind = $2 AND cloud_id = $3)sql",
      company, static_cast<int64_t>(kind), cloud_id);
}

std::optional<Alias> FindByBoxId(db::Session& session, db::CompanyId company, Kind kind,
                                 std::string_view box_id) {
  static constexpr db::Sql kByBoxId = R"sql(
      SELECT cloud_id, box_id, cloud_public_id FROM alias
      WHERE company_id = $1 AND kind = $2 AND box_id = $3
      )sql";
  const auto row = session.One<kByBoxId>(company, static_cast<int64_t>(kind), box_id);
  if (!row) return std::nullopt;
  return Alias{.kind = kind,
               .cloud_id = row->Text("cloud_id"),
               .box_id = row->Text("box_id"),
               .cloud_public_id = row->OptionalText("cloud_public_id")};
}

std::optional<std::string> FindByPublicId(db::Session& session, db::CompanyId company,
                                          std::string_view cloud_public_id) {
  return session.FindText(
      R"sql(SELECT box_id FROM alias WHERE company_id = $1 AND cloud_public_id = $2)sql", company,
      cloud_public_id);
}

void Put(db::Tx& tx, db::CompanyId company, const Alias& alias) {
  const auto kind = static_cast<int64_t>(alias.kind);
  Remove(tx, company, alias.kind, alias.box_id);
  if (alias.cloud_public_id) {
    tx.Run(R"sql(DELETE FROM alias WHERE company_id = $1 AND cloud_public_id = $2)sql", company,
           *alias.cloud_public_id);
  }
  tx.Run(R"sql(
      INSERT INTO alias (company_id, kind, cloud_id, box_id, cloud_public_id)
      VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (company_id, kind, cloud_id)
      DO UPDATE SET box_id = excluded.box_id, cloud_public_id = excluded.cloud_public_id
      )sql",
         company, kind, alias.cloud_id, alias.box_id, alias.cloud_public_id);
}

void Remove(db::Tx& tx, db::CompanyId company, Kind kind, std::string_view box_id) {
  tx.Run(R"sql(DELETE FROM alias WHERE company_id = $1 AND kind = $2 AND box_id = $3)sql", company,
         static_cast<int64_t>(kind), box_id);
}

void RemoveAll(db::Tx& tx, db::CompanyId company) {
  tx.Run(R"sql(DELETE FROM alias WHERE company_id = $1)sql", company);
}

}  // namespace comanda::aliases
