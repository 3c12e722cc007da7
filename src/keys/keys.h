#pragma once

// The face of the room: the life of an API key. Every change leaves a row in the audit log and acts
// on the very next request (the key table is replaced at commit).

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "auth/key_table.h"
#include "db/database.h"
#include "db/session.h"
#include "keys/key.h"

namespace comanda::keys {

// All keys of the file, for KeyTable::Load at start.
std::vector<auth::KeyRecord> LoadAll(db::Session& session);

// Writes what the table learnt about the use of keys since the last call; app/ calls it every
// minute and at the stop. Writes nothing where no key was used.
void FlushLastUsed(db::Database& database, auth::KeyTable& table);

// Id and text of a new key from the system's random source.
Secret MakeSecret(std::string_view prefix, auth::Mode mode, UtcMs now);

// Writes down which keys have ended since the last call: no clock that is put back brings them
// back. Acts in memory at once. app/ calls it when the next end is due (DueInMs), the gate before
// it refuses a key. Writes nothing where none has ended. Fault where the disk does not take it; the
// next call tries again.
void WriteDownEnds(db::Database& database, auth::KeyTable& table, const Clock& clock);
// How long it is until the next key ends, if no clock is set; nothing where none will.
std::optional<int64_t> DueInMs(const auth::KeyTable& table, const Clock& clock);

struct Door {
  auth::KeyTable& table;
  auth::Mode mode;
  // What ends, ends by the settled clock; a grace that begins now by the monotonic one
  // (base/clock.h). `stamp` says when a change was made.
  UtcMs settled_now;
  int64_t monotonic_ms;
};

// The commands. `who` is the principal: a key can grant neither a scope it lacks nor a higher tier
// nor the scopes that manage keys (Refusal insufficient_scope); the local command line can grant
// everything.

// The draft has a name and scopes.
Key Create(db::Tx& tx, Door door, const auth::Principal& who, const Draft& draft,
           const Secret& secret, const db::Stamp& stamp);
// Refusal not_found; validation_failed on a key that is revoked; last_managing_key.
Key Change(db::Tx& tx, Door door, const auth::Principal& who, std::string_view id,
           const Draft& draft, const db::Stamp& stamp);
// A new key like the old one, which lives on for that long.
Key Rotate(db::Tx& tx, Door door, const auth::Principal& who, std::string_view id,
           const Secret& secret, int64_t grace_s, const db::Stamp& stamp);
// Again on a revoked key: unchanged.
Key Revoke(db::Tx& tx, Door door, const auth::Principal& who, std::string_view id,
           const db::Stamp& stamp);

}  // namespace comanda::keys
