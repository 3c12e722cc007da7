#include "users/store.h"

#include "base/text.h"
#include "users/users.h"

namespace comanda::users {

namespace {

User ReadUser(const auto& row) {
  User user;
  user.id = row.Text("id");
  user.name = row.Text("name");
  user.email = row.OptionalText("email");
  user.country_calling_code = row.OptionalText("country_calling_code");
  user.phone_number = row.OptionalText("phone_number");
  user.role = row.Text("role");
  user.active = row.Bool("active");
  user.created_at = row.Int("created_at");
  user.updated_at = row.Int("updated_at");
  return user;
}

constexpr db::Sql kUsers = R"sql(
    SELECT s.id, s.name, s.email, s.country_calling_code, s.phone_number, s.role, s.active,
      s.created_at, s.updated_at
    FROM staff s WHERE s.company_id = $1
    )sql";

}  // namespace

std::optional<User> Select(db::Session& session, db::CompanyId company, std::string_view id) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT id, name, email, country_calling_code, phone_number, role, active, created_at,
        updated_at
      FROM staff WHERE company_id = $1 AND id = $2
      )sql";
  const auto row = session.One<kSelect>(company, id);
  if (!row) return std::nullopt;
  return ReadUser(*row);
}

db::ClauseBuilder PageOf(db::CompanyId company) { return {kUsers, {company}}; }

std::vector<User> SelectPage(db::Session& session, const db::ClauseBuilder& sql) {
  std::vector<User> users;
  auto rows = session.Query<kUsers>(sql);
  while (rows.Next()) users.push_back(ReadUser(rows));
  return users;
}

company::UpsertResult Upsert(db::Tx& tx, db::CompanyId company, const User& user,
                             const db::Stamp& stamp) {
  const bool existed = Select(tx, company, user.id).has_value();
  const int64_t written = tx.RunCounted(
      R"sql(
      INSERT INTO staff (company_id, id, name, name_folded, email, country_calling_code,
        phone_number, role, active, created_at, updated_at, created_seq)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10,
        (SELECT coalesce(max(created_seq), 0) + 1 FROM staff WHERE company_id = $1))
      ON CONFLICT (company_id, id) DO UPDATE SET name = excluded.name,
        name_folded = excluded.name_folded, email = excluded.email,
        country_calling_code = excluded.country_calling_code,
        phone_number = excluded.phone_number, role = excluded.role, active = excluded.active,
        updated_at = excluded.updated_at
      WHERE (staff.name, staff.name_folded, staff.email, staff.country_calling_code,
        staff.phone_number, staff.role, staff.active)
        IS DISTINCT FROM (excluded.name, excluded.name_folded, excluded.email,
        excluded.country_calling_code, excluded.phone_number, excluded.role, excluded.active)
      )sql",
      company, user.id, user.name, Folded(user.name), user.email, user.country_calling_code,
      user.phone_number, user.role, user.active, stamp.now);
  return company::ResultOf(existed, written);
}

int64_t LastCreated(db::Session& session, db::CompanyId company) {
  return session.GetInt(
      R"sql(SELECT coalesce(max(created_seq), 0) FROM staff WHERE company_id = $1)sql", company);
}

void EraseAll(db::Tx& tx, db::CompanyId company) {
  tx.Run(R"sql(DELETE FROM staff WHERE company_id = $1)sql", company);
}

}  // namespace comanda::users
