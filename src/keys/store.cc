#include "keys/store.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "base/problem.h"
#include "base/text.h"
#include "db/clause_builder.h"

namespace comanda::keys::store {
namespace {

// In the order of ReadKey.
#define KEY_COLUMNS                                                                              \
  "k.id, k.name, k.hash, k.key_prefix, k.last_four, k.mode, k.scopes, k.tier, k.allowed_cidrs, " \
  "k.created_at, k.updated_at, k.last_used_at, k.last_used_ip, k.expires_at, k.revoked_at, "     \
  "k.ended"

template <typename Use>
void ForEachWord(std::string_view list, Use use) {
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    use(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
}

std::string ScopeNames(auth::ScopeSet scopes) {
  std::string names;
  for (const auth::ScopeRow& row : auth::kScopes) {
    if (!scopes.Has(row.scope)) continue;
    if (!names.empty()) names += ',';
    names += row.name;
  }
  return names;
}

std::string Joined(const std::vector<std::string>& words) {
  std::string joined;
  for (const std::string& word : words) {
    if (!joined.empty()) joined += ',';
    joined += word;
  }
  return joined;
}

// Null in the row where the key has not ended.
std::optional<std::string_view> NameOf(auth::Ended ended) {
  switch (ended) {
    case auth::Ended::kNot:
      return std::nullopt;
    case auth::Ended::kRevoked:
      return "revoked";
    case auth::Ended::kExpired:
      return "expired";
  }
  return std::nullopt;
}

auth::Ended ReadEnded(const std::optional<std::string>& name) {
  if (!name) return auth::Ended::kNot;
  return *name == "expired" ? auth::Ended::kExpired : auth::Ended::kRevoked;
}

Key ReadKey(const db::Rows& row) {
  Key key{.id = row.Text(0),
          .name = row.Text(1),
          .hash_hex = row.Text(2),
          .key_prefix = row.Text(3),
          .last_four = row.Text(4),
          .mode = row.View(5) == "test" ? auth::Mode::kTest : auth::Mode::kLive,
          .scopes = {},
          .tier = auth::Tier::kStandard,
          .allowed_cidrs = {},
          .created_at = row.Int(9),
          .updated_at = row.Int(10),
          .last_used_at = row.OptionalInt(11),
          .last_used_ip = row.OptionalText(12),
          .expires_at = row.OptionalInt(13),
          .revoked_at = row.OptionalInt(14),
          .ended = ReadEnded(row.OptionalText(15))};
  // A scope that a newer program granted is not known here, and grants nothing.
  ForEachWord(row.View(6), [&](std::string_view name) {
    if (const auto scope = auth::FindScope(name)) key.scopes.Add(*scope);
  });
  const auto tier = std::ranges::find(auth::kTierNames, row.View(7));
  if (tier != auth::kTierNames.end()) {
    key.tier = static_cast<auth::Tier>(tier - auth::kTierNames.begin());
  }
  ForEachWord(row.View(8), [&](std::string_view cidr) { key.allowed_cidrs.emplace_back(cidr); });
  return key;
}

// As Key::IsActive has it.
constexpr db::Sql kActive =
    "k.ended IS NULL AND (k.revoked_at IS NULL OR k.revoked_at > {}) "
    "AND (k.expires_at IS NULL OR k.expires_at > {})";
constexpr db::Sql kInactive = "(k.ended IS NOT NULL OR k.revoked_at <= {} OR k.expires_at <= {})";

// By order and direction.
constexpr std::array<std::array<db::Sql, 2>, 2> kOrders = {{
    {"k.created_at, k.id", "k.created_at DESC, k.id DESC"},
    {"k.name_folded, k.id", "k.name_folded DESC, k.id DESC"},
}};

db::ClauseBuilder Selected(db::Sql base, db::CompanyId company, const Selection& selection) {
  db::ClauseBuilder builder(base, {company});
  if (selection.active) builder.And(*selection.active ? kActive : kInactive, selection.now);
  if (selection.snapshot) builder.And("k.created_seq <= {}", *selection.snapshot);
  return builder;
}

}  // namespace

std::vector<Owned> All(db::Session& session) {
  db::Rows rows = session.Query(
      "SELECT " KEY_COLUMNS
      ", k.company_id, c.id "
      "FROM api_key k JOIN company c ON c.company_id = k.company_id ORDER BY k.company_id, k.id");
  std::vector<Owned> all;
  while (rows.Next()) all.push_back({rows.Int(16), rows.Text(17), ReadKey(rows)});
  return all;
}

std::string CompanyUuid(db::Session& session, db::CompanyId company) {
  const auto row = session.One("SELECT id FROM company WHERE company_id = $1", company);
  if (!row) {
    throw Fault(Fault::Kind::kDamaged,
                "company " + std::to_string(company) + " has keys and is gone");
  }
  return row->Text(0);
}

std::optional<Key> Find(db::Session& session, db::CompanyId company, std::string_view id) {
  const auto row = session.One(
      "SELECT " KEY_COLUMNS " FROM api_key k WHERE k.company_id = $1 AND k.id = $2", company, id);
  if (!row) return std::nullopt;
  return ReadKey(*row);
}

bool AnyOtherManager(db::Session& session, db::CompanyId company, std::string_view id, UtcMs now,
                     UtcMs until) {
  db::Rows rows =
      session.Query("SELECT " KEY_COLUMNS " FROM api_key k WHERE k.company_id = $1", company);
  while (rows.Next()) {
    const Key key = ReadKey(rows);
    // One that is about to end counts no more.
    if (key.id != id && key.IsActive(now) && !key.revoked_at && key.End() >= until &&
        key.scopes.Has(auth::Scope::kApiKeysWrite)) {
      return true;
    }
  }
  return false;
}

namespace {

int64_t LastCreated(db::Session& session, db::CompanyId company) {
  return session
      .One("SELECT coalesce(max(created_seq), 0) FROM api_key WHERE company_id = $1", company)
      ->Int(0);
}

}  // namespace

Page List(db::Session& session, db::CompanyId company, const Selection& selection) {
  Page page;
  const db::ClauseBuilder count =
      Selected("SELECT count(*) FROM api_key k WHERE k.company_id = $1", company, selection);
  {
    db::Rows rows = session.QueryBound(count);
    CHECK(rows.Next(), "a count has one row");
    page.total = rows.Int(0);
  }
  db::ClauseBuilder builder =
      Selected("SELECT " KEY_COLUMNS " FROM api_key k WHERE k.company_id = $1", company, selection);
  builder.OrderBy(kOrders[static_cast<size_t>(selection.order)][selection.descending ? 1 : 0])
      .Limit(selection.limit, selection.offset);
  db::Rows rows = session.QueryBound(builder);
  while (rows.Next()) page.keys.push_back(ReadKey(rows));
  page.snapshot = selection.snapshot.value_or(LastCreated(session, company));
  return page;
}

void Insert(db::Tx& tx, db::CompanyId company, const Key& key) {
  tx.Run(
      "INSERT INTO api_key (company_id, id, name, name_folded, hash, key_prefix, last_four, mode, "
      "scopes, tier, allowed_cidrs, created_at, updated_at, last_used_at, last_used_ip, "
      "expires_at, revoked_at, created_seq) "
      "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, "
      "(SELECT coalesce(max(created_seq), 0) + 1 FROM api_key WHERE company_id = $1))",
      company, key.id, key.name, Folded(key.name), key.hash_hex, key.key_prefix, key.last_four,
      Name(key.mode), ScopeNames(key.scopes), Name(key.tier), Joined(key.allowed_cidrs),
      key.created_at, key.updated_at, key.last_used_at, key.last_used_ip, key.expires_at,
      key.revoked_at);
}

void Update(db::Tx& tx, db::CompanyId company, const Key& key) {
  tx.Run(
      "UPDATE api_key SET name = $3, name_folded = $4, scopes = $5, tier = $6, "
      "allowed_cidrs = $7, updated_at = $8, expires_at = $9, revoked_at = $10, ended = $11 "
      "WHERE company_id = $1 AND id = $2",
      company, key.id, key.name, Folded(key.name), ScopeNames(key.scopes), Name(key.tier),
      Joined(key.allowed_cidrs), key.updated_at, key.expires_at, key.revoked_at, NameOf(key.ended));
}

bool UpdateEnded(db::Tx& tx, db::CompanyId company, std::string_view id, auth::Ended ended,
                 std::optional<UtcMs> expires_at) {
  return tx.Run(R"sql(
      UPDATE api_key SET ended = $3
      WHERE company_id = $1 AND id = $2 AND expires_at IS NOT DISTINCT FROM $4
        AND (ended IS NULL OR ended = $3)
      )sql",
                company, id, NameOf(ended), expires_at) > 0;
}

void UpdateUse(db::Tx& tx, db::CompanyId company, std::string_view id, UtcMs last_used_at,
               std::string_view last_used_ip) {
  tx.Run(
      "UPDATE api_key SET last_used_at = $3, last_used_ip = $4 WHERE company_id = $1 AND id = $2",
      company, id, last_used_at, last_used_ip);
}

void InsertAudit(db::Tx& tx, db::CompanyId company, UtcMs at, const AuditEntry& entry) {
  tx.Run(
      "INSERT INTO audit (company_id, seq, at, actor, action, subject_id, detail) "
      "SELECT $1, coalesce(max(seq), 0) + 1, $2, $3, $4, $5, $6 FROM audit WHERE company_id = $1",
      company, at, entry.actor, entry.action, entry.subject_id, entry.detail);
}

AuditPage ListAudit(db::Session& session, db::CompanyId company, int64_t limit, int64_t offset) {
  AuditPage page;
  // Numbered without a gap: the last number is the count.
  page.total =
      session.One("SELECT coalesce(max(seq), 0) FROM audit WHERE company_id = $1", company)->Int(0);
  db::Rows rows = session.Query(
      "SELECT seq, at, actor, action, subject_id, detail FROM audit WHERE company_id = $1 "
      "ORDER BY seq DESC LIMIT $2 OFFSET $3",
      company, limit, offset);
  while (rows.Next()) {
    page.rows.push_back(
        {rows.Int(0), rows.Int(1), rows.Text(2), rows.Text(3), rows.Text(4), rows.Text(5)});
  }
  return page;
}

}  // namespace comanda::keys::store
