#include "http/store.h"

#include "base/checksum.h"
#include "base/problem.h"

namespace comanda::http::store {
namespace {

int64_t ChecksumOf(db::CompanyId company, std::string_view scope, std::string_view key,
                   const Remembered& answer) {
  Checksum sum;
  sum.Add(company.value).Add(scope).Add(key).Add(answer.fingerprint).Add(int64_t{answer.status});
  sum.Add(answer.etag).Add(answer.location).Add(answer.event_seq).Add(answer.body);
  return sum.Value();
}

std::vector<RecordName> Names(auto rows) {
  std::vector<RecordName> names;
  while (rows.Next()) names.push_back({.scope = rows.Text("scope"), .key = rows.Text("key")});
  return names;
}

}  // namespace

std::optional<Remembered> Find(db::Session& session, db::CompanyId company, std::string_view scope,
                               std::string_view key) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT fingerprint, status, etag, location, event_seq, body, checksum FROM idempotency
      WHERE company_id = $1 AND scope = $2 AND key = $3
      )sql";
  const auto row = session.One<kSelect>(company, scope, key);
  if (!row) return std::nullopt;
  Remembered answer{.fingerprint = row->Text("fingerprint"),
                    .status = static_cast<int>(row->Int("status")),
                    .etag = row->Text("etag"),
                    .location = row->Text("location"),
                    .event_seq = row->OptionalInt("event_seq"),
                    .body = row->Text("body")};
  const std::optional<int64_t> checksum = row->OptionalInt("checksum");
  if (checksum && *checksum != ChecksumOf(company, scope, key, answer)) {
    throw Fault(Fault::Kind::kDamaged, "the answer kept under the Idempotency-Key " +
                                           std::string(key) + " is not what was written");
  }
  return answer;
}

void Insert(db::Tx& tx, db::CompanyId company, std::string_view scope, std::string_view key,
            const Remembered& answer, UtcMs now, int64_t mark) {
  tx.Run(R"sql(
      INSERT INTO idempotency (company_id, scope, key, fingerprint, status, etag, location,
        event_seq, body, created_at, mark, checksum)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
      )sql",
         company, scope, key, answer.fingerprint, answer.status, answer.etag, answer.location,
         answer.event_seq, answer.body, now, mark, ChecksumOf(company, scope, key, answer));
}

std::vector<RecordName> FindBefore(db::Session& session, db::CompanyId company, int64_t mark,
                                   int limit) {
  static constexpr db::Sql kBefore = R"sql(
      SELECT scope, key FROM idempotency
      WHERE company_id = $1 AND mark < $2 AND event_seq IS NULL
      ORDER BY mark, scope, key LIMIT $3
      )sql";
  return Names(session.Query<kBefore>(company, mark, limit));
}

std::vector<RecordName> FindPointingUpTo(db::Session& session, db::CompanyId company,
                                         int64_t event_seq) {
  static constexpr db::Sql kPointing = R"sql(
      SELECT scope, key FROM idempotency WHERE company_id = $1 AND event_seq <= $2
      )sql";
  return Names(session.Query<kPointing>(company, event_seq));
}

void Delete(db::Tx& tx, db::CompanyId company, const RecordName& name) {
  tx.Run(R"sql(DELETE FROM idempotency WHERE company_id = $1 AND scope = $2 AND key = $3)sql",
         company, name.scope, name.key);
}

void DeleteAll(db::Tx& tx, db::CompanyId company) {
  tx.Run(R"sql(DELETE FROM idempotency WHERE company_id = $1)sql", company);
}

std::optional<db::CompanyId> NextCompany(db::Session& session, db::CompanyId behind) {
  const std::optional<int64_t> company = session.FindInt(R"sql(
      SELECT company_id FROM idempotency WHERE company_id > $1 ORDER BY company_id LIMIT 1
      )sql",
                                                         behind);
  if (!company) return std::nullopt;
  return db::CompanyId{*company};
}

}  // namespace comanda::http::store
