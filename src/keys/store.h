#pragma once

// All SQL of this room. Functions throw Fault on a database error.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/row_count.h"
#include "db/session.h"
#include "keys/audit.h"
#include "keys/key.h"

namespace comanda::keys::store {

// Scopes and tier as they are stored, with commas. A scope that a newer program granted is not
// known here, and grants nothing; an unknown tier is the lowest.
std::string ScopeNames(auth::ScopeSet scopes);
auth::ScopeSet ScopesOf(std::string_view names);
auth::Tier TierOf(std::string_view name);

// A key with its company.
struct Owned {
  db::CompanyId company;
  Key key;
};
// The keys of all companies. A damaged one is not among them; what is wrong is added to `damage`.
std::vector<Owned> All(db::Session& session, std::vector<std::string>& damage);
// Keys that an older program wrote have no checksum at first.
bool AnyWithoutChecksum(db::Session& session);
void GiveChecksums(db::Tx& tx);

// Fault kDamaged where the row is not what was written; also of List().
std::optional<Key> Find(db::Session& session, db::CompanyId company, std::string_view id);
// True if the company has another active key that can manage keys, without an end before `until`.
bool AnyOtherManager(db::Session& session, db::CompanyId company, std::string_view id, UtcMs now,
                     UtcMs until);

// The list's parameters, and one page of it.
enum class Order : uint8_t { kCreatedAt, kName };
struct Selection {
  std::optional<bool> active;
  // Keys with a role alone.
  bool with_role = false;
  // Leaves out keys created after this point (contract section 6).
  std::optional<int64_t> snapshot;
  UtcMs now = 0;
  Order order = Order::kCreatedAt;
  bool descending = true;
  int64_t limit = 20;
  int64_t offset = 0;
};
struct Page {
  std::vector<Key> keys;
  int64_t total = 0;
  // The snapshot requested, else that of now.
  int64_t snapshot = 0;
};
Page List(db::Session& session, db::CompanyId company, const Selection& selection);

// The names of the keys with a role that are not revoked and have not ended, as Folded().
std::set<std::string> DeviceNames(db::Session& session, db::CompanyId company);

void Insert(db::Tx& tx, db::CompanyId company, const Key& key);
// Stores all columns that a command may change.
void Update(db::Tx& tx, db::CompanyId company, const Key& key);
// What a key ends by.
struct EndingTerms {
  std::optional<UtcMs> expires_at;
  std::optional<int64_t> idle_days;
};
// Stores how a key has ended. Returns false and changes nothing if the row has other terms or has
// ended already: then it was changed meanwhile.
bool UpdateEnded(db::Tx& tx, db::CompanyId company, std::string_view id, auth::Ended ended,
                 const EndingTerms& terms);
// Stores when and from where the key was last used.
void UpdateUse(db::Tx& tx, db::CompanyId company, std::string_view id, UtcMs last_used_at,
               std::string_view last_used_ip);

// Adds a row of the audit log with the next number of the company.
void InsertAudit(db::Tx& tx, db::CompanyId company, UtcMs at, const AuditEntry& entry);

struct AuditRow {
  int64_t seq = 0;
  UtcMs at = 0;
  std::string actor, action, subject_id, detail;
};
struct AuditPage {
  // Newest first.
  std::vector<AuditRow> rows;
  int64_t total = 0;
};
AuditPage ListAudit(db::Session& session, db::CompanyId company, int64_t limit, int64_t offset);

db::RowCount CountUpTo(db::Session& session, db::CompanyId company, int64_t last);

}  // namespace comanda::keys::store
