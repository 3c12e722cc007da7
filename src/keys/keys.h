#pragma once

// The life of an API key: create, change, rotate, revoke, end. The interface of this room.
//
// Every change adds a row to the audit log, and replaces the record in the KeyTable when the
// transaction commits, so that it affects the very next request.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "auth/key_table.h"
#include "db/database.h"
#include "db/row_count.h"
#include "db/session.h"
#include "keys/key.h"

namespace comanda::keys {

// All keys of all companies, for KeyTable::Load() at start. A row that is not what was written
// grants nothing: it is left out, and what is wrong with it is added to `damage`. `clock` says for
// how long each was idle.
std::vector<auth::KeyRecord> LoadAll(db::Session& session, const Clock& clock,
                                     std::vector<std::string>& damage);
// Gives checksums to the keys that an older program wrote. Writes nothing where all have one.
void GiveChecksums(db::Database& database);

// Stores when and from where keys were used since the last call. Called every minute and at the
// stop, not by requests. Blocks on the writer; does nothing if no key was used. Throws Fault.
void FlushLastUsed(db::Database& database, auth::KeyTable& table);

// Gives keys that were read the last uses of the KeyTable, which has later ones than the database.
void RefreshUses(std::span<Key> keys, const auth::KeyTable& table);

// A new id and a new key from the system's random generator.
Secret MakeSecret(std::string_view prefix, auth::Mode mode, UtcMs now);

// Notes in memory, then stores, which keys have ended (base/time/ends.h), so that setting the clock
// back does not revive them. The gate calls it, too, before it refuses an ended key. Blocks on the
// writer; does nothing if no key has ended. Throws Fault if the database is not writable; the end
// then stays noted in memory, and the next call stores it.
void WriteDownEnds(db::Database& database, auth::KeyTable& table, const Clock& clock);
// Milliseconds until the next key ends if the clock is not set; nothing if none will.
std::optional<int64_t> DueInMs(const auth::KeyTable& table, const Clock& clock);

// What the commands need besides the transaction.
struct CommandContext {
  auth::KeyTable& table;
  auth::Mode mode;
  // Expiries are compared with settled time; a grace period that starts now is measured by
  // monotonic time (base/time/clock.h). The stamp says when a change was made.
  UtcMs settled_now;
  int64_t monotonic_ms;
};

// The commands below run inside the caller's transaction, on behalf of `principal`. A key can grant
// neither a scope it lacks, nor a higher tier, nor the scopes that manage keys (Refusal
// kInsufficientScope); the local command line can grant everything. Commands with an `id` throw
// Refusal(kNotFound) for an unknown one.
//
// Creates a key. The draft must have a name and scopes.
Key Create(db::Tx& tx, CommandContext context, const auth::Principal& principal, const Draft& draft,
           const Secret& secret, const db::Stamp& stamp);
// Creates a key with what the local command line has granted before (keys/pairing.h): the
// principal's own scopes do not matter.
Key CreateGranted(db::Tx& tx, CommandContext context, const auth::Principal& principal,
                  const Draft& draft, const Secret& secret, const db::Stamp& stamp);
// Creates the key of a role, whatever the principal's own scopes are. Where another device has the
// name, a number is added ("Kitchen 2"): lists, alerts and marks name devices. Throws Refusal
// kInsufficientScope for a panel that the principal may not let in (auth::MayGrant).
Key CreateForRole(db::Tx& tx, CommandContext context, const auth::Principal& principal,
                  const Grant& grant, const Secret& secret, const db::Stamp& stamp);
// The same of what was granted before (keys/pairing.h), on behalf of a device.
Key CreateAs(db::Tx& tx, CommandContext context, const auth::Principal& author, const Grant& grant,
             const Secret& secret, const db::Stamp& stamp);
// Throws as CreateForRole().
void RequireMayGrant(const auth::Principal& principal, auth::Role role);
// Throws Refusal: kValidationFailed if the key is revoked or in its grace period, or if its role
// says what is to be changed; kLastManagingKey
// if the company would be left without a key that can manage keys.
Key Change(db::Tx& tx, CommandContext context, const auth::Principal& principal,
           std::string_view id, const Draft& draft, const db::Stamp& stamp);
// Creates a key with the same properties; the old one keeps working for `grace_s` seconds.
Key Rotate(db::Tx& tx, CommandContext context, const auth::Principal& principal,
           std::string_view id, const Secret& secret, int64_t grace_s, const db::Stamp& stamp);
// Ends the key at once, its grace period too. A revoked key is returned unchanged. Throws
// Refusal(kLastManagingKey).
Key Revoke(db::Tx& tx, CommandContext context, const auth::Principal& principal,
           std::string_view id, const db::Stamp& stamp);

// The keys, revoked ones included, that were created up to that created_seq, for `comanda drill`.
db::RowCount CountUpTo(db::Session& session, db::CompanyId company, int64_t last);

}  // namespace comanda::keys
