#include "http/store.h"

namespace comanda::http::store {

std::optional<Remembered> Find(db::Session& session, db::CompanyId company, std::string_view scope,
                               std::string_view key) {
  const auto row = session.One(R"sql(
      SELECT fingerprint, status, etag, location, event_seq, body FROM idempotency
      WHERE company_id = $1 AND scope = $2 AND key = $3
      )sql",
                               company, scope, key);
  if (!row) return std::nullopt;
  return Remembered{.fingerprint = row->Text(0),
                    .status = static_cast<int>(row->Int(1)),
                    .etag = row->Text(2),
                    .location = row->Text(3),
                    .event_seq = row->OptionalInt(4),
                    .body = row->Text(5)};
}

void Insert(db::Tx& tx, db::CompanyId company, std::string_view scope, std::string_view key,
            const Remembered& answer, UtcMs now, int64_t mark) {
  tx.Run(R"sql(
      INSERT INTO idempotency (company_id, scope, key, fingerprint, status, etag, location,
        event_seq, body, created_at, mark)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
      )sql",
         company, scope, key, answer.fingerprint, answer.status, answer.etag, answer.location,
         answer.event_seq, answer.body, now, mark);
}

void DeletePointingUpTo(db::Tx& tx, db::CompanyId company, int64_t event_seq) {
  tx.Run("DELETE FROM idempotency WHERE company_id = $1 AND event_seq <= $2", company, event_seq);
}

bool AnyBefore(db::Session& session, db::CompanyId company, int64_t mark) {
  return session
      .One(R"sql(
          SELECT 1 FROM idempotency
          WHERE company_id = $1 AND mark < $2 AND event_seq IS NULL LIMIT 1
          )sql",
           company, mark)
      .has_value();
}

void DeleteBefore(db::Tx& tx, db::CompanyId company, int64_t mark, int limit) {
  tx.Run(R"sql(
      DELETE FROM idempotency WHERE (company_id, scope, key) IN (
        SELECT company_id, scope, key FROM idempotency
        WHERE company_id = $1 AND mark < $2 AND event_seq IS NULL
        ORDER BY mark, scope, key LIMIT $3)
      )sql",
         company, mark, limit);
}

void DeleteAll(db::Tx& tx, db::CompanyId company) {
  tx.Run("DELETE FROM idempotency WHERE company_id = $1", company);
}

std::optional<CompanyName> FindCompany(db::Session& session, std::string_view id) {
  const auto row = session.One("SELECT company_id, id, name FROM company WHERE id = $1", id);
  if (!row) return std::nullopt;
  return CompanyName{row->Int(0), row->Text(1), row->Text(2)};
}

std::vector<CompanyName> OldestCompanies(db::Session& session, int64_t limit) {
  db::Rows rows =
      session.Query("SELECT company_id, id, name FROM company ORDER BY company_id LIMIT $1", limit);
  std::vector<CompanyName> companies;
  while (rows.Next()) companies.push_back({rows.Int(0), rows.Text(1), rows.Text(2)});
  return companies;
}

std::vector<db::CompanyId> Companies(db::Session& session) {
  db::Rows rows = session.Query("SELECT company_id FROM company ORDER BY company_id");
  std::vector<db::CompanyId> companies;
  while (rows.Next()) companies.push_back(rows.Int(0));
  return companies;
}

}  // namespace comanda::http::store
