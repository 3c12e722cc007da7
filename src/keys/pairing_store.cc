#include "keys/pairing_store.h"

#include "base/checksum.h"
#include "base/problem.h"
#include "keys/store.h"

namespace comanda::keys::pairing_store {
namespace {

// Of what the code grants, to whom and until when.
int64_t ChecksumOf(db::CompanyId company, const Code& code) {
  Checksum sum;
  sum.Add(company.value).Add(code.hash_hex).Add(code.id).Add(code.draft.name);
  sum.Add(store::ScopeNames(code.draft.scopes)).Add(Name(code.draft.tier));
  sum.Add(code.made_at).Add(code.expires_at);
  if (code.draft.role) sum.Add(Name(*code.draft.role));  // older programs made codes without one
  return sum.Value();
}

std::string_view NameOf(auth::CodeState how) {
  return how == auth::CodeState::kUsed ? "used" : "expired";
}

std::optional<std::string_view> NameOf(std::optional<auth::Role> role) {
  if (!role) return std::nullopt;
  return Name(*role);
}

auth::CodeState StateOf(const std::optional<std::string>& ended) {
  if (!ended) return auth::CodeState::kOpen;
  return *ended == "used" ? auth::CodeState::kUsed : auth::CodeState::kExpired;
}

}  // namespace

void Insert(db::Tx& tx, db::CompanyId company, const Code& code) {
  tx.Run(R"sql(
      INSERT INTO pairing_code (company_id, hash, id, name, scopes, tier, made_at, expires_at,
        checksum, role)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
      )sql",
         company, code.hash_hex, code.id, code.draft.name, store::ScopeNames(code.draft.scopes),
         Name(code.draft.tier), code.made_at, code.expires_at, ChecksumOf(company, code),
         NameOf(code.draft.role));
}

std::optional<Code> FindOpen(db::Session& session, db::CompanyId company,
                             std::string_view hash_hex) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT id, hash, name, scopes, tier, made_at, expires_at, checksum, role FROM pairing_code
      WHERE company_id = $1 AND hash = $2 AND ended IS NULL
      )sql";
  const auto row = session.One<kSelect>(company, hash_hex);
  if (!row) return std::nullopt;
  Code code{.id = row->Text("id"),
            .hash_hex = row->Text("hash"),
            .draft = {.name = row->Text("name"),
                      .scopes = store::ScopesOf(row->View("scopes")),
                      .tier = store::TierOf(row->View("tier")),
                      .role = auth::FindRole(row->OptionalText("role").value_or(""))},
            .made_at = row->Int("made_at"),
            .expires_at = row->Int("expires_at")};
  if (row->Int("checksum") != ChecksumOf(company, code)) {
    throw Fault(Fault::Kind::kDamaged,
                "pairing code " + code.id + " is not what was written and is not accepted");
  }
  return code;
}

size_t CountOpen(db::Session& session, db::CompanyId company) {
  return static_cast<size_t>(session.GetInt(
      R"sql(SELECT count(*) FROM pairing_code WHERE company_id = $1 AND ended IS NULL)sql",
      company));
}

void End(db::Tx& tx, db::CompanyId company, std::string_view hash_hex, auth::CodeState how,
         UtcMs at, std::optional<std::string_view> key_id) {
  tx.Run(R"sql(
      UPDATE pairing_code SET ended = $3, ended_at = $4, key_id = $5
      WHERE company_id = $1 AND hash = $2 AND ended IS NULL
      )sql",
         company, hash_hex, NameOf(how), at, key_id);
}

void EndAll(db::Tx& tx, UtcMs at) {
  tx.Run(R"sql(
      UPDATE pairing_code SET ended = 'expired', ended_at = $1 WHERE ended IS NULL
      )sql",
         at);
}

std::vector<Row> All(db::Session& session) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT company_id, hash, id, made_at, expires_at, ended FROM pairing_code
      ORDER BY company_id, hash
      )sql";
  auto rows = session.Query<kSelect>();
  std::vector<Row> all;
  while (rows.Next()) {
    all.push_back({.id = rows.Text("id"),
                   .hash_hex = rows.Text("hash"),
                   .company = rows.Company("company_id"),
                   .state = StateOf(rows.OptionalText("ended")),
                   .made_at = rows.Int("made_at"),
                   .expires_at = rows.Int("expires_at")});
  }
  return all;
}

std::vector<std::string> EndedBefore(db::Session& session, UtcMs at) {
  return session.FindTexts(R"sql(SELECT hash FROM pairing_code WHERE ended_at < $1)sql", at);
}

void DeleteEndedBefore(db::Tx& tx, UtcMs at) {
  tx.Run(R"sql(DELETE FROM pairing_code WHERE ended_at < $1)sql", at);
}

}  // namespace comanda::keys::pairing_store
