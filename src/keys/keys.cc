#include "keys/keys.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "auth/gate.h"
#include "base/id.h"
#include "base/problem.h"
#include "base/text.h"
#include "company/companies.h"
#include "crypto/hash.h"
#include "keys/audit.h"
#include "keys/json.h"
#include "keys/store.h"

namespace comanda::keys {
namespace {

constexpr int64_t kSecondMs = 1000;

bool IsLocal(const auth::Principal& principal) { return principal.actor == "local"; }

std::string Bytes(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
  }
  return bytes;
}

auth::KeyRecord Record(const Key& key, db::CompanyId company, std::string company_uuid) {
  auth::KeyRecord record{.id = key.id,
                         .company = company,
                         .company_uuid = std::move(company_uuid),
                         .hash = Bytes(key.hash_hex),
                         .name = key.name,
                         .scopes = key.scopes,
                         .tier = key.tier,
                         .mode = key.mode,
                         .role = key.role,
                         .allowed_cidrs = key.allowed_cidrs,
                         .expires_at = key.expires_at,
                         .idle_days = key.idle_days,
                         .revoked_at = key.revoked_at,
                         .grace_until_ms = std::nullopt,
                         .ended = key.ended};
  record.use->last_used_at = key.last_used_at.value_or(0);
  record.use->last_used_ip = key.last_used_ip.value_or("");
  return record;
}

// Adds the audit row, and replaces the record in the KeyTable at commit.
void Announce(db::Tx& tx, CommandContext context, const auth::Principal& principal,
              std::string_view action, const Key& key, const db::Stamp& stamp,
              std::optional<int64_t> grace_until_ms = std::nullopt) {
  Audit(tx, principal.company, stamp, {principal.actor, action, key.id, Render(key)});
  auth::KeyRecord record = Record(key, principal.company, company::UuidOf(tx, principal.company));
  record.grace_until_ms = grace_until_ms;
  record.use->used_at_ms = context.monotonic_ms;  // of a new key; others keep theirs
  tx.OnCommit([&table = context.table, record = std::move(record)] { table.Put(record); });
}

// `before`: the scopes that the key has already and may keep.
void RequireGrantable(const auth::Principal& principal, auth::ScopeSet wanted,
                      auth::ScopeSet before) {
  if (IsLocal(principal)) return;
  for (const auth::ScopeRow& row : auth::kScopes) {
    if (!wanted.Has(row.scope) || before.Has(row.scope)) continue;
    auth::Gate::RequireScope(principal.scopes, row.scope);
    if (auth::IsLocalOnly(row.scope)) {
      Refusal refusal(Problem::kInsufficientScope,
                      "Only the command line of the box can grant " + std::string(row.name) + ".");
      refusal.required_scope = row.name;
      throw refusal;
    }
  }
}

void RequireTier(const auth::Principal& principal, auth::Tier wanted) {
  if (IsLocal(principal) || wanted <= principal.tier) return;
  throw Refusal(Problem::kInsufficientScope,
                "The key's own tier is " + std::string(Name(principal.tier)) +
                    "; it cannot grant the higher tier " + std::string(Name(wanted)) + ".");
}

Key Get(db::Session& session, db::CompanyId company, std::string_view id) {
  std::optional<Key> key = store::Find(session, company, id);
  if (!key) throw Refusal(Problem::kNotFound, "There is no API key with that id.");
  return std::move(*key);
}

// Refuses to change a key that is revoked or in its grace period.
void RequireLasting(const Key& key, UtcMs now) {
  if (key.revoked_at) {
    throw Invalid("id", FieldCode::kNotAllowed,
                  key.IsRevoked(now) ? "the key is revoked; create a new one."
                                     : "the key was rotated already; use the new one.");
  }
}

// `text` with " NUMBER" behind it, shortened so that it is no longer than a name may be.
std::string Numbered(std::string_view text, int64_t number) {
  const std::string suffix = " " + std::to_string(number);
  std::string name(text);
  while (CharacterCount(name) + suffix.size() > kNameMax) {
    while ((name.back() & 0xc0) == 0x80) name.pop_back();  // the rest of a character in UTF-8
    name.pop_back();
  }
  return std::string(Trimmed(name)) + suffix;
}

// That which is wanted, or, where another device has it, the first of "Kitchen 2", "Kitchen 3"…
// that none has.
std::string FreeName(db::Session& session, db::CompanyId company, const std::string& wanted) {
  const std::set<std::string> taken = store::DeviceNames(session, company);
  if (!taken.contains(Folded(wanted))) return wanted;
  constexpr size_t kDigitsMax = 4;
  std::string_view base = Trimmed(wanted);
  int64_t number = 2;
  const size_t digits = base.find_last_not_of("0123456789") + 1;  // 0: there is nothing else
  const bool is_numbered = digits > 0 && base[digits - 1] == ' ' && digits < base.size() &&
                           base.size() - digits <= kDigitsMax;
  if (is_numbered) {
    number = std::stoll(std::string(base.substr(digits))) + 1;
    base = Trimmed(base.substr(0, digits));
  }
  while (taken.contains(Folded(Numbered(base, number)))) ++number;
  return Numbered(base, number);
}

// A role says what its keys may do and when they end.
void RequireAsRoleSays(const Key& before, const Key& after) {
  if (!before.role) return;
  json::Errors errors;
  const auto require = [&](std::string_view field, bool is_same) {
    if (is_same) return;
    errors.Add(std::string(field), FieldCode::kNotAllowed,
               "comes from the role " + std::string(Name(*before.role)) +
                   ": let the device in again with another role.");
  };
  require("scopes", before.scopes.bits() == after.scopes.bits());
  require("tier", before.tier == after.tier);
  require("expires_at", before.expires_at == after.expires_at);
  require("idle_days", before.idle_days == after.idle_days);
  errors.ThrowIfAny();
}

// No device gets the name of another one by a change either.
void RequireOwnName(db::Session& session, db::CompanyId company, const Key& before,
                    const Key& after) {
  if (!after.role || Folded(after.name) == Folded(before.name)) return;
  if (!store::DeviceNames(session, company).contains(Folded(after.name))) return;
  throw Invalid("name", FieldCode::kDuplicate,
                "is the name of another device: choose another, such as " +
                    FreeName(session, company, after.name) + ", or shut that one out first");
}

bool Manages(const Key& key, UtcMs now) {
  return !key.role && key.scopes.Has(auth::Scope::kApiKeysWrite) && key.IsActive(now);
}

// Through the API a company must keep a key that can manage keys, at least until `until`.
void RequireOtherManager(db::Session& session, const auth::Principal& principal, const Key& key,
                         UtcMs now, UtcMs until) {
  if (IsLocal(principal) || !Manages(key, now)) return;
  if (store::AnyOtherManager(session, principal.company, key.id, now, until)) return;
  throw Refusal(Problem::kLastManagingKey,
                "This is the last key that can manage keys; make another one first.");
}

Key NewKey(CommandContext context, const Secret& secret, UtcMs now) {
  const std::string& text = secret.text;
  return {.id = secret.id,
          .name = "",
          .hash_hex = crypto::Sha256Hex(text),
          .key_prefix = text.substr(0, kShownPrefixSize),
          .last_four = text.substr(text.size() - kShownSuffixSize),
          .mode = context.mode,
          .scopes = {},
          .tier = auth::Tier::kStandard,
          .allowed_cidrs = {},
          .created_at = now,
          .updated_at = now,
          .last_used_at = std::nullopt,
          .last_used_ip = std::nullopt,
          .expires_at = std::nullopt,
          .role = std::nullopt,
          .idle_days = std::nullopt,
          .revoked_at = std::nullopt,
          .ended = auth::Ended::kNot};
}

void Apply(Key& key, const Draft& draft) {
  if (draft.name) key.name = *draft.name;
  if (draft.scopes) key.scopes = *draft.scopes;
  if (draft.tier) key.tier = *draft.tier;
  if (draft.expires_at) key.expires_at = *draft.expires_at;
  if (draft.idle_days) key.idle_days = *draft.idle_days;
  if (draft.allowed_cidrs) key.allowed_cidrs = *draft.allowed_cidrs;
}

}  // namespace

std::vector<auth::KeyRecord> LoadAll(db::Session& session, const Clock& clock,
                                     std::vector<std::string>& damage) {
  std::vector<auth::KeyRecord> records;
  const UtcMs settled_now = clock.SettledNow();
  const int64_t monotonic_ms = clock.MonotonicMs();
  for (const store::Owned& owned : store::All(session, damage)) {
    try {
      records.push_back(Record(owned.key, owned.company, company::UuidOf(session, owned.company)));
      const UtcMs used_at = std::max(owned.key.last_used_at.value_or(0), owned.key.created_at);
      records.back().use->used_at_ms = monotonic_ms - std::max<int64_t>(settled_now - used_at, 0);
    } catch (const Fault& fault) {
      if (fault.kind != Fault::Kind::kDamaged) throw;
      damage.push_back("API key " + owned.key.id + " grants nothing: " + fault.cause);
    }
  }
  return records;
}

void GiveChecksums(db::Database& database) {
  const bool any =
      database.Read([](db::Snapshot& snapshot) { return store::AnyWithoutChecksum(snapshot); });
  if (!any) return;
  database.Write([](db::Tx& tx, const db::Stamp&) { store::GiveChecksums(tx); });
}

void FlushLastUsed(db::Database& database, auth::KeyTable& table) {
  struct Use {
    std::shared_ptr<const auth::KeyRecord> key;
    UtcMs at;
    std::string ip;
  };
  std::vector<Use> uses;
  for (const auto& key : table.All()) {
    std::lock_guard lock(key->use->mutex);
    if (!std::exchange(key->use->last_used_dirty, false)) continue;
    uses.push_back({key, key->use->last_used_at, key->use->last_used_ip});
  }
  if (uses.empty()) return;
  try {
    database.Write([&](db::Tx& tx, const db::Stamp&) {
      for (const Use& use : uses) {
        store::UpdateUse(tx, use.key->company, use.key->id, use.at, use.ip);
      }
    });
  } catch (const Fault&) {
    for (const Use& use : uses) {
      std::lock_guard lock(use.key->use->mutex);
      use.key->use->last_used_dirty = true;
    }
    throw;
  }
}

namespace {

using KeyPointer = std::shared_ptr<const auth::KeyRecord>;

// Notes in memory which keys have ended. Returns those whose end is not stored yet.
std::vector<KeyPointer> MarkEnded(auth::KeyTable& table, const Clock& clock) {
  std::vector<KeyPointer> ended;
  const UtcMs settled_now = clock.SettledNow();
  const int64_t now_ms = clock.MonotonicMs();
  for (const KeyPointer& key : table.All()) {
    if (key->ended != auth::Ended::kNot) {
      if (!key->end_is_written) ended.push_back(key);
      continue;
    }
    const auth::Ended how = key->EndedAt(settled_now, now_ms);
    if (how == auth::Ended::kNot) continue;
    auth::KeyRecord marked = *key;
    marked.ended = how;
    marked.end_is_written = false;
    const auto after = std::make_shared<const auth::KeyRecord>(std::move(marked));
    if (table.Replace(key, after)) ended.push_back(after);
  }
  return ended;
}

}  // namespace

void WriteDownEnds(db::Database& database, auth::KeyTable& table, const Clock& clock) {
  const std::vector<KeyPointer> ended = MarkEnded(table, clock);
  if (ended.empty()) return;
  database.Write([&](db::Tx& tx, const db::Stamp&) {
    for (const KeyPointer& key : ended) {
      // False if the key was changed meanwhile: that change has stored its end.
      const store::EndingTerms terms = {.expires_at = key->expires_at, .idle_days = key->idle_days};
      if (!store::UpdateEnded(tx, key->company, key->id, key->ended, terms)) continue;
      tx.OnCommit([&table, key] {
        auth::KeyRecord written = *key;
        written.end_is_written = true;
        table.Replace(key, std::make_shared<const auth::KeyRecord>(std::move(written)));
      });
    }
  });
}

std::optional<int64_t> DueInMs(const auth::KeyTable& table, const Clock& clock) {
  std::optional<int64_t> due;
  const auto consider = [&](int64_t in_ms) {
    due = std::max<int64_t>(std::min(due.value_or(in_ms), in_ms), 0);
  };
  for (const KeyPointer& key : table.All()) {
    if (key->ended != auth::Ended::kNot) continue;
    if (key->grace_until_ms) {
      consider(*key->grace_until_ms - clock.MonotonicMs());
    } else if (key->revoked_at) {
      consider(*key->revoked_at - clock.SettledNow());
    }
    if (key->expires_at) consider(*key->expires_at - clock.SettledNow());
    if (const auto idle_end_ms = key->IdleEndMs()) consider(*idle_end_ms - clock.MonotonicMs());
  }
  return due;
}

void RefreshUses(std::span<Key> keys, const auth::KeyTable& table) {
  for (const KeyPointer& record : table.All()) {
    const auto key = std::ranges::find(keys, record->id, &Key::id);
    if (key == keys.end()) continue;
    const std::lock_guard lock(record->use->mutex);
    if (record->use->last_used_at == 0) continue;
    key->last_used_at = record->use->last_used_at;
    key->last_used_ip = record->use->last_used_ip;
  }
}

Secret MakeSecret(std::string_view prefix, auth::Mode mode, UtcMs now) {
  return {.id = NewId(now), .text = auth::MakeKey(prefix, mode)};
}

Key Create(db::Tx& tx, CommandContext context, const auth::Principal& principal, const Draft& draft,
           const Secret& secret, const db::Stamp& stamp) {
  Draft wanted = draft;
  if (!wanted.tier) wanted.tier = IsLocal(principal) ? auth::Tier::kLan : auth::Tier::kStandard;
  RequireGrantable(principal, wanted.scopes.value_or(auth::ScopeSet()), {});
  RequireTier(principal, *wanted.tier);
  return CreateGranted(tx, context, principal, wanted, secret, stamp);
}

Key CreateGranted(db::Tx& tx, CommandContext context, const auth::Principal& principal,
                  const Draft& draft, const Secret& secret, const db::Stamp& stamp) {
  Key key = NewKey(context, secret, stamp.now);
  Apply(key, draft);
  store::Insert(tx, principal.company, key);
  Announce(tx, context, principal, "key.created", key, stamp);
  return key;
}

void RequireMayGrant(const auth::Principal& principal, auth::Role role) {
  if (IsLocal(principal) || auth::MayGrant(principal.role, role)) return;
  throw Refusal(Problem::kInsufficientScope,
                "The role " + std::string(Name(role)) +
                    " is granted by the command line of the box, or by a key of the role panel.");
}

Key CreateForRole(db::Tx& tx, CommandContext context, const auth::Principal& principal,
                  const Grant& grant, const Secret& secret, const db::Stamp& stamp) {
  RequireMayGrant(principal, grant.role);
  return CreateAs(tx, context, principal, grant, secret, stamp);
}

Key CreateAs(db::Tx& tx, CommandContext context, const auth::Principal& author, const Grant& grant,
             const Secret& secret, const db::Stamp& stamp) {
  const auth::RoleRow& role = auth::RowOf(grant.role);
  Key key = NewKey(context, secret, stamp.now);
  key.name = FreeName(tx, author.company, grant.name);
  key.role = grant.role;
  key.scopes = role.scopes;
  key.tier = auth::Tier::kLan;
  key.allowed_cidrs = grant.allowed_cidrs;
  key.idle_days = role.idle_days;
  if (role.life_ms) key.expires_at = stamp.now + *role.life_ms;
  store::Insert(tx, author.company, key);
  Announce(tx, context, author, "key.created", key, stamp);
  return key;
}

Key Change(db::Tx& tx, CommandContext context, const auth::Principal& principal,
           std::string_view id, const Draft& draft, const db::Stamp& stamp) {
  const Key before = Get(tx, principal.company, id);
  RequireLasting(before, context.settled_now);
  Key key = before;
  Apply(key, draft);
  if (Render(key) == Render(before)) return before;
  RequireAsRoleSays(before, key);
  RequireOwnName(tx, principal.company, before, key);
  if (key.expires_at != before.expires_at || key.idle_days != before.idle_days)
    key.ended = auth::Ended::kNot;
  RequireGrantable(principal, key.scopes, before.scopes);
  if (key.tier > before.tier) RequireTier(principal, key.tier);
  if (!key.scopes.Has(auth::Scope::kApiKeysWrite)) {
    RequireOtherManager(tx, principal, before, context.settled_now, context.settled_now);
  } else if (key.End() < before.End()) {
    // An earlier expiry could also leave the company without a managing key.
    RequireOtherManager(tx, principal, before, context.settled_now, before.End());
  }
  key.updated_at = stamp.now;
  store::Update(tx, principal.company, key);
  Announce(tx, context, principal, "key.changed", key, stamp);
  return key;
}

Key Rotate(db::Tx& tx, CommandContext context, const auth::Principal& principal,
           std::string_view id, const Secret& secret, int64_t grace_s, const db::Stamp& stamp) {
  Key old = Get(tx, principal.company, id);
  RequireLasting(old, context.settled_now);
  if (!old.IsActive(context.settled_now)) {
    throw Invalid("id", FieldCode::kNotAllowed, "the key has expired; create a new one.");
  }
  for (const auth::ScopeRow& row : auth::kScopes) {
    if (old.scopes.Has(row.scope)) auth::Gate::RequireScope(principal.scopes, row.scope);
  }
  RequireTier(principal, old.tier);
  if (old.role) RequireMayGrant(principal, *old.role);

  Key key = NewKey(context, secret, stamp.now);
  key.name = old.name;
  key.scopes = old.scopes;
  key.tier = old.tier;
  key.allowed_cidrs = old.allowed_cidrs;
  key.expires_at = old.expires_at;
  key.role = old.role;
  key.idle_days = old.idle_days;
  store::Insert(tx, principal.company, key);
  Announce(tx, context, principal, "key.created", key, stamp);

  old.revoked_at = stamp.now + grace_s * kSecondMs;
  old.updated_at = stamp.now;
  if (grace_s == 0) old.ended = auth::Ended::kRevoked;
  store::Update(tx, principal.company, old);
  Announce(tx, context, principal, "key.rotated", old, stamp,
           context.monotonic_ms + grace_s * kSecondMs);
  return key;
}

Key Revoke(db::Tx& tx, CommandContext context, const auth::Principal& principal,
           std::string_view id, const db::Stamp& stamp) {
  Key key = Get(tx, principal.company, id);
  // Not IsRevoked(): a key in its grace period is revoked now, whatever the clock says.
  if (key.ended == auth::Ended::kRevoked) return key;
  RequireOtherManager(tx, principal, key, context.settled_now, context.settled_now);
  key.revoked_at = stamp.now;
  key.updated_at = stamp.now;
  key.ended = auth::Ended::kRevoked;
  store::Update(tx, principal.company, key);
  Announce(tx, context, principal, "key.revoked", key, stamp);
  return key;
}

db::RowCount CountUpTo(db::Session& session, db::CompanyId company, int64_t last) {
  return store::CountUpTo(session, company, last);
}

}  // namespace comanda::keys
