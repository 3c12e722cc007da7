#pragma once

// All SQL of the room.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/session.h"
#include "keys/audit.h"
#include "keys/key.h"

namespace comanda::keys::store {

struct Owned {
  db::CompanyId company;
  Key key;
};
// Of every company.
std::vector<Owned> All(db::Session& session);

std::optional<Key> Find(db::Session& session, db::CompanyId company, std::string_view id);
// Active keys that may change keys, of the company, except that one, and still may at `until`.
bool AnyOtherManager(db::Session& session, db::CompanyId company, std::string_view id, UtcMs now,
                     UtcMs until);

enum class Order : uint8_t { kCreatedAt, kName };
struct Selection {
  std::optional<bool> active;
  std::optional<int64_t> snapshot;  // leaves out keys made later
  UtcMs now = 0;
  Order order = Order::kCreatedAt;
  bool descending = true;
  int64_t limit = 20;
  int64_t offset = 0;
};
struct Page {
  std::vector<Key> keys;
  int64_t total = 0;
  int64_t snapshot = 0;  // the one asked for, else of now
};
Page List(db::Session& session, db::CompanyId company, const Selection& selection);

void Insert(db::Tx& tx, db::CompanyId company, const Key& key);
// All that a command may change.
void Update(db::Tx& tx, db::CompanyId company, const Key& key);
// Writes down how a key has ended, where it has that expiry and no other end; false where not.
bool UpdateEnded(db::Tx& tx, db::CompanyId company, std::string_view id, auth::Ended ended,
                 std::optional<UtcMs> expires_at);
void UpdateUse(db::Tx& tx, db::CompanyId company, std::string_view id, UtcMs last_used_at,
               std::string_view last_used_ip);

void InsertAudit(db::Tx& tx, db::CompanyId company, UtcMs at, const AuditEntry& entry);

struct AuditRow {
  int64_t seq = 0;
  UtcMs at = 0;
  std::string actor, action, subject_id, detail;
};
struct AuditPage {
  std::vector<AuditRow> rows;  // newest first
  int64_t total = 0;
};
AuditPage ListAudit(db::Session& session, db::CompanyId company, int64_t limit, int64_t offset);

}  // namespace comanda::keys::store
