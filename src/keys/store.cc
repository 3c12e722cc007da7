#include "keys/store.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/checksum.h"
#include "base/problem.h"
#include "base/text.h"
#include "db/clause_builder.h"

namespace comanda::keys::store {
namespace {

template <typename Use>
void ForEachWord(std::string_view list, Use use) {
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    use(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
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

std::optional<std::string_view> NameOf(std::optional<auth::Role> role) {
  if (!role) return std::nullopt;
  return Name(*role);
}

auth::Ended ReadEnded(const std::optional<std::string>& name) {
  if (!name) return auth::Ended::kNot;
  return *name == "expired" ? auth::Ended::kExpired : auth::Ended::kRevoked;
}

// Of the columns that say whose the key is and what it grants.
int64_t ChecksumOf(const auto& row) {
  Checksum sum;
  sum.Add(row.Int("company_id")).Add(row.View("id")).Add(row.View("hash")).Add(row.View("mode"));
  sum.Add(row.View("scopes")).Add(row.View("tier")).Add(row.View("allowed_cidrs"));
  sum.Add(row.OptionalInt("expires_at")).Add(row.OptionalInt("revoked_at"));
  sum.Add(row.OptionalText("ended"));
  // Sums of rows without them are those of older programs.
  const std::optional<std::string> role = row.OptionalText("role");
  const std::optional<int64_t> idle_days = row.OptionalInt("idle_days");
  if (role || idle_days) sum.Add(role).Add(idle_days);
  return sum.Value();
}

// What a damaged row would grant is not known: Fault kDamaged.
void RequireSound(const auto& row) {
  const std::optional<int64_t> checksum = row.OptionalInt("checksum");
  if (!checksum || *checksum == ChecksumOf(row)) return;
  throw Fault(Fault::Kind::kDamaged, "is not what was written");
}

Key ReadWhole(const auto& row) {
  RequireSound(row);
  Key key{.id = row.Text("id"),
          .name = row.Text("name"),
          .hash_hex = row.Text("hash"),
          .key_prefix = row.Text("key_prefix"),
          .last_four = row.Text("last_four"),
          .mode = row.View("mode") == "test" ? auth::Mode::kTest : auth::Mode::kLive,
          .scopes = ScopesOf(row.View("scopes")),
          .tier = TierOf(row.View("tier")),
          .allowed_cidrs = {},
          .created_at = row.Int("created_at"),
          .updated_at = row.Int("updated_at"),
          .last_used_at = row.OptionalInt("last_used_at"),
          .last_used_ip = row.OptionalText("last_used_ip"),
          .expires_at = row.OptionalInt("expires_at"),
          .role = auth::FindRole(row.OptionalText("role").value_or("")),
          .idle_days = row.OptionalInt("idle_days"),
          .revoked_at = row.OptionalInt("revoked_at"),
          .ended = ReadEnded(row.OptionalText("ended"))};
  ForEachWord(row.View("allowed_cidrs"),
              [&](std::string_view cidr) { key.allowed_cidrs.emplace_back(cidr); });
  return key;
}

// For the log. The damage may be in what names the row.
std::string NameOf(const auto& row) {
  try {
    return "API key " + row.Text("id") + " of company " + std::to_string(row.Int("company_id"));
  } catch (const Fault& fault) {
    if (fault.kind != Fault::Kind::kDamaged) throw;
    return "API key of an unreadable row";
  }
}

Key ReadKey(const auto& row) {
  try {
    return ReadWhole(row);
  } catch (const Fault& fault) {
    if (fault.kind != Fault::Kind::kDamaged) throw;
    throw Fault(fault.kind, NameOf(row) + " is damaged and grants nothing: " + fault.cause);
  }
}

// As Key::IsActive has it.
constexpr db::Sql kActive = R"sql(
    k.ended IS NULL AND (k.revoked_at IS NULL OR k.revoked_at > {})
    AND (k.expires_at IS NULL OR k.expires_at > {})
    )sql";
constexpr db::Sql kInactive =
    R"sql((k.ended IS NOT NULL OR k.revoked_at <= {} OR k.expires_at <= {}))sql";

// By order and direction.
constexpr std::array<std::array<db::Sql, 2>, 2> kOrders = {{
    {"k.created_at, k.id", "k.created_at DESC, k.id DESC"},
    {"k.name_folded, k.id", "k.name_folded DESC, k.id DESC"},
}};

db::ClauseBuilder Selected(db::Sql base, db::CompanyId company, const Selection& selection) {
  db::ClauseBuilder builder(base, {company});
  if (selection.active) builder.And(*selection.active ? kActive : kInactive, selection.now);
  if (selection.with_role) builder.And("k.role IS NOT NULL");
  if (selection.snapshot) builder.And("k.created_seq <= {}", *selection.snapshot);
  return builder;
}

// Of the row as it is now.
void SetChecksum(db::Tx& tx, db::CompanyId company, std::string_view id) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT company_id, id, hash, mode, scopes, tier, allowed_cidrs, expires_at, revoked_at, ended,
        role, idle_days
      FROM api_key WHERE company_id = $1 AND id = $2
      )sql";
  std::optional<int64_t> checksum;
  if (const auto row = tx.One<kSelect>(company, id)) checksum = ChecksumOf(*row);
  tx.RunOne(R"sql(UPDATE api_key SET checksum = $3 WHERE company_id = $1 AND id = $2)sql", company,
            id, checksum);
}

}  // namespace

std::string ScopeNames(auth::ScopeSet scopes) {
  std::string names;
  for (const auth::ScopeRow& row : auth::kScopes) {
    if (!scopes.Has(row.scope)) continue;
    if (!names.empty()) names += ',';
    names += row.name;
  }
  return names;
}

auth::ScopeSet ScopesOf(std::string_view names) {
  auth::ScopeSet scopes;
  ForEachWord(names, [&](std::string_view name) {
    if (const auto scope = auth::FindScope(name)) scopes.Add(*scope);
  });
  return scopes;
}

auth::Tier TierOf(std::string_view name) {
  const auto tier = std::ranges::find(auth::kTierNames, name);
  if (tier == auth::kTierNames.end()) return auth::Tier::kStandard;
  return static_cast<auth::Tier>(tier - auth::kTierNames.begin());
}

std::vector<Owned> All(db::Session& session, std::vector<std::string>& damage) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT k.id, k.name, k.hash, k.key_prefix, k.last_four, k.mode, k.scopes, k.tier,
        k.allowed_cidrs, k.created_at, k.updated_at, k.last_used_at, k.last_used_ip, k.expires_at,
        k.revoked_at, k.ended, k.role, k.idle_days, k.company_id, k.checksum
      FROM api_key k ORDER BY k.company_id, k.id
      )sql";
  auto rows = session.Query<kSelect>();
  std::vector<Owned> all;
  while (rows.Next()) {
    try {
      Key key = ReadKey(rows);
      all.push_back({rows.Company("company_id"), std::move(key)});
    } catch (const Fault& fault) {
      if (fault.kind != Fault::Kind::kDamaged) throw;
      damage.push_back(fault.cause);
    }
  }
  return all;
}

bool AnyWithoutChecksum(db::Session& session) {
  return session.Exists(R"sql(SELECT 1 FROM api_key WHERE checksum IS NULL LIMIT 1)sql");
}

void GiveChecksums(db::Tx& tx) {
  std::vector<std::pair<db::CompanyId, std::string>> keys;
  {
    static constexpr db::Sql kSelect =
        R"sql(SELECT company_id, id FROM api_key WHERE checksum IS NULL)sql";
    auto rows = tx.Query<kSelect>();
    while (rows.Next()) keys.emplace_back(rows.Company("company_id"), rows.Text("id"));
  }
  for (const auto& [company, id] : keys) SetChecksum(tx, company, id);
}

std::optional<Key> Find(db::Session& session, db::CompanyId company, std::string_view id) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT k.id, k.name, k.hash, k.key_prefix, k.last_four, k.mode, k.scopes, k.tier,
        k.allowed_cidrs, k.created_at, k.updated_at, k.last_used_at, k.last_used_ip, k.expires_at,
        k.revoked_at, k.ended, k.role, k.idle_days, k.company_id, k.checksum
      FROM api_key k WHERE k.company_id = $1 AND k.id = $2
      )sql";
  const auto row = session.One<kSelect>(company, id);
  if (!row) return std::nullopt;
  return ReadKey(*row);
}

namespace {

bool IsSound(db::Session& session, db::CompanyId company, std::string_view id) {
  try {
    return Find(session, company, id).has_value();
  } catch (const Fault& fault) {
    if (fault.kind != Fault::Kind::kDamaged) throw;
    return false;
  }
}

}  // namespace

bool AnyOtherManager(db::Session& session, db::CompanyId company, std::string_view id, UtcMs now,
                     UtcMs until) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT k.id, k.name, k.hash, k.key_prefix, k.last_four, k.mode, k.scopes, k.tier,
        k.allowed_cidrs, k.created_at, k.updated_at, k.last_used_at, k.last_used_ip, k.expires_at,
        k.revoked_at, k.ended, k.role, k.idle_days, k.company_id, k.checksum
      FROM api_key k WHERE k.company_id = $1
      )sql";
  auto rows = session.Query<kSelect>(company);
  while (rows.Next()) {
    std::optional<Key> read;
    try {
      read = ReadKey(rows);
    } catch (const Fault& fault) {
      if (fault.kind != Fault::Kind::kDamaged) throw;
      continue;
    }
    const Key& key = *read;
    // One that is about to end counts no more.
    if (key.id != id && !key.role && key.IsActive(now) && !key.revoked_at && key.End() >= until &&
        key.scopes.Has(auth::Scope::kApiKeysWrite)) {
      return true;
    }
  }
  return false;
}

namespace {

int64_t LastCreated(db::Session& session, db::CompanyId company) {
  return session.GetInt(R"sql(
      SELECT coalesce(max(created_seq), 0) FROM api_key WHERE company_id = $1
      )sql",
                        company);
}

}  // namespace

Page List(db::Session& session, db::CompanyId company, const Selection& selection) {
  static constexpr db::Sql kKeys = R"sql(
      SELECT k.id, k.name, k.hash, k.key_prefix, k.last_four, k.mode, k.scopes, k.tier,
        k.allowed_cidrs, k.created_at, k.updated_at, k.last_used_at, k.last_used_ip, k.expires_at,
        k.revoked_at, k.ended, k.role, k.idle_days, k.company_id, k.checksum
      FROM api_key k WHERE k.company_id = $1
      )sql";
  static constexpr db::Sql kCount =
      R"sql(SELECT count(*) FROM api_key k WHERE k.company_id = $1)sql";
  Page page;
  const db::ClauseBuilder count = Selected(kCount, company, selection);
  page.total = session.GetInt(count);
  db::ClauseBuilder builder = Selected(kKeys, company, selection);
  builder.OrderBy(kOrders[static_cast<size_t>(selection.order)][selection.descending ? 1 : 0])
      .Limit(selection.limit, selection.offset);
  auto rows = session.Query<kKeys>(builder);
  while (rows.Next()) page.keys.push_back(ReadKey(rows));
  page.snapshot = selection.snapshot.value_or(LastCreated(session, company));
  return page;
}

std::set<std::string> DeviceNames(db::Session& session, db::CompanyId company) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT k.name_folded FROM api_key k
      WHERE k.company_id = $1 AND k.role IS NOT NULL AND k.revoked_at IS NULL AND k.ended IS NULL
      )sql";
  std::set<std::string> names;
  auto rows = session.Query<kSelect>(company);
  while (rows.Next()) names.insert(rows.Text("name_folded"));
  return names;
}

void Insert(db::Tx& tx, db::CompanyId company, const Key& key) {
  tx.Run(
      R"sql(
      INSERT INTO api_key (company_id, id, name, name_folded, hash, key_prefix, last_four, mode,
        scopes, tier, allowed_cidrs, created_at, updated_at, last_used_at, last_used_ip,
        expires_at, revoked_at, role, idle_days, created_seq)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
        (SELECT coalesce(max(created_seq), 0) + 1 FROM api_key WHERE company_id = $1))
      )sql",
      company, key.id, key.name, Folded(key.name), key.hash_hex, key.key_prefix, key.last_four,
      Name(key.mode), ScopeNames(key.scopes), Name(key.tier), JoinedByCommas(key.allowed_cidrs),
      key.created_at, key.updated_at, key.last_used_at, key.last_used_ip, key.expires_at,
      key.revoked_at, NameOf(key.role), key.idle_days);
  SetChecksum(tx, company, key.id);
}

void Update(db::Tx& tx, db::CompanyId company, const Key& key) {
  tx.RunOne(
      R"sql(
      UPDATE api_key SET name = $3, name_folded = $4, scopes = $5, tier = $6, allowed_cidrs = $7,
        updated_at = $8, expires_at = $9, revoked_at = $10, ended = $11, idle_days = $12
      WHERE company_id = $1 AND id = $2
      )sql",
      company, key.id, key.name, Folded(key.name), ScopeNames(key.scopes), Name(key.tier),
      JoinedByCommas(key.allowed_cidrs), key.updated_at, key.expires_at, key.revoked_at,
      NameOf(key.ended), key.idle_days);
  SetChecksum(tx, company, key.id);
}

bool UpdateEnded(db::Tx& tx, db::CompanyId company, std::string_view id, auth::Ended ended,
                 const EndingTerms& terms) {
  if (!IsSound(tx, company, id)) return false;  // it must not get a checksum that fits
  const int64_t written =
      tx.RunCounted(R"sql(
      UPDATE api_key SET ended = $3
      WHERE company_id = $1 AND id = $2 AND expires_at IS NOT DISTINCT FROM $4
        AND idle_days IS NOT DISTINCT FROM $5 AND (ended IS NULL OR ended = $3)
      )sql",
                    company, id, NameOf(ended), terms.expires_at, terms.idle_days);
  if (written > 0) SetChecksum(tx, company, id);
  return written > 0;
}

void UpdateUse(db::Tx& tx, db::CompanyId company, std::string_view id, UtcMs last_used_at,
               std::string_view last_used_ip) {
  tx.Run(
      R"sql(
      UPDATE api_key SET last_used_at = $3, last_used_ip = $4 WHERE company_id = $1 AND id = $2
      )sql",
      company, id, last_used_at, last_used_ip);
}

void InsertAudit(db::Tx& tx, db::CompanyId company, UtcMs at, const AuditEntry& entry) {
  tx.Run(
      R"sql(
      INSERT INTO audit (company_id, seq, at, actor, action, subject_id, detail)
      SELECT $1, coalesce(max(seq), 0) + 1, $2, $3, $4, $5, $6
      FROM audit WHERE company_id = $1
      )sql",
      company, at, entry.actor, entry.action, entry.subject_id, entry.detail);
}

AuditPage ListAudit(db::Session& session, db::CompanyId company, int64_t limit, int64_t offset) {
  AuditPage page;
  // Numbered without a gap: the last number is the count.
  page.total = session.GetInt(
      R"sql(SELECT coalesce(max(seq), 0) FROM audit WHERE company_id = $1)sql", company);
  static constexpr db::Sql kSelect = R"sql(
      SELECT seq, at, actor, action, subject_id, detail
      FROM audit WHERE company_id = $1 ORDER BY seq DESC LIMIT $2 OFFSET $3
      )sql";
  auto rows = session.Query<kSelect>(company, limit, offset);
  while (rows.Next()) {
    page.rows.push_back({rows.Int("seq"), rows.Int("at"), rows.Text("actor"), rows.Text("action"),
                         rows.Text("subject_id"), rows.Text("detail")});
  }
  return page;
}

db::RowCount CountUpTo(db::Session& session, db::CompanyId company, int64_t last) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT count(*) AS found, coalesce(max(created_seq), 0) AS last FROM api_key
      WHERE company_id = $1 AND created_seq <= $2
      )sql";
  const auto row = session.One<kSelect>(company, last);
  return {.rows = row->Int("found"), .last = row->Int("last")};
}

}  // namespace comanda::keys::store
