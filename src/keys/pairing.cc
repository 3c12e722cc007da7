#include "keys/pairing.h"

#include <algorithm>

#include "base/id.h"
#include "base/problem.h"
#include "base/random.h"
#include "crypto/hash.h"
#include "keys/audit.h"
#include "keys/json.h"
#include "keys/pairing_store.h"

namespace comanda::keys {
namespace {

using auth::CodeState;

constexpr size_t kCodeSize = 22;
// How long a code that has ended is known, so that the audit log can name it.
constexpr int64_t kEndedKeptMs = 86'400'000;
// A clock that was put back by more makes a code expire.
constexpr int64_t kClockStepMs = 5 * 60'000;

// How long a stored code lasts at a start of the program.
int64_t LeftMs(const pairing_store::Row& row, UtcMs settled_now) {
  if (settled_now < row.made_at - kClockStepMs) return 0;
  return std::clamp<int64_t>(row.expires_at - settled_now, 0, kCodeLifeMs);
}

// Notes in memory which codes have expired. Returns those whose end is not stored yet.
std::vector<auth::PairingCode> MarkExpired(auth::PairingCodes& codes, int64_t monotonic_ms) {
  std::vector<auth::PairingCode> expired;
  for (auth::PairingCode& code : codes.All()) {
    if (code.stored == CodeState::kOpen && code.At(monotonic_ms) == CodeState::kExpired) {
      code.stored = CodeState::kExpired;
      code.end_is_written = false;
      codes.Put(code);
    }
    if (!code.end_is_written) expired.push_back(std::move(code));
  }
  return expired;
}

}  // namespace

Secret MakeCodeSecret(UtcMs now) {
  constexpr std::string_view kAlphabet =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  Secret secret{.id = NewId(now), .text = ""};
  for (size_t i = 0; i < kCodeSize; ++i) secret.text += kAlphabet[RandomBelow(kAlphabet.size())];
  return secret;
}

Code MakeCode(db::Tx& tx, auth::PairingCodes& codes, CommandContext context,
              const auth::Principal& principal, const CodeDraft& draft, const Secret& secret,
              const db::Stamp& stamp) {
  if (pairing_store::CountOpen(tx, principal.company) >= kOpenCodesMax) {
    throw Invalid("code", FieldCode::kTooManyItems,
                  "at most " + std::to_string(kOpenCodesMax) +
                      " codes may be open at once; they expire after ten minutes");
  }
  const Code code{.id = secret.id,
                  .hash_hex = crypto::Sha256Hex(secret.text),
                  .draft = draft,
                  .made_at = stamp.now,
                  .expires_at = stamp.now + kCodeLifeMs};
  pairing_store::Insert(tx, principal.company, code);
  Audit(tx, principal.company, stamp,
        {principal.actor, "pairing.created", code.id, Render(code, "")});
  auth::PairingCode made{.id = code.id,
                         .hash_hex = code.hash_hex,
                         .company = principal.company,
                         .ends_at_ms = context.monotonic_ms + kCodeLifeMs};
  tx.OnCommit([&codes, made = std::move(made)] { codes.Put(made); });
  return code;
}

std::optional<Key> Redeem(db::Tx& tx, auth::PairingCodes& codes, CommandContext context,
                          const Taker& taker, const db::Stamp& stamp) {
  const auth::PairingCode& code = taker.code;
  const std::optional<Code> stored = pairing_store::FindOpen(tx, code.company, code.hash_hex);
  if (!stored) return std::nullopt;
  auth::Principal author;
  author.actor = "pairing:" + code.id;
  author.company = code.company;
  const CodeDraft& draft = stored->draft;
  const Key key =
      draft.role ? CreateAs(tx, context, author,
                            {.role = *draft.role, .name = draft.name, .allowed_cidrs = {}},
                            taker.secret, stamp)
                 : CreateGranted(tx, context, author,
                                 {.name = draft.name, .scopes = draft.scopes, .tier = draft.tier},
                                 taker.secret, stamp);
  pairing_store::End(tx, code.company, code.hash_hex, CodeState::kUsed, stamp.now, key.id);
  auth::PairingCode used = code;
  used.stored = CodeState::kUsed;
  used.key_id = key.id;
  used.key_name = key.name;
  used.taken_from = taker.address;
  tx.OnCommit([&codes, used = std::move(used)] { codes.Put(used); });
  return key;
}

std::vector<auth::PairingCode> LoadCodes(db::Session& session, const Clock& clock) {
  std::vector<auth::PairingCode> codes;
  for (const pairing_store::Row& row : pairing_store::All(session)) {
    codes.push_back({.id = row.id,
                     .hash_hex = row.hash_hex,
                     .company = row.company,
                     .ends_at_ms = clock.MonotonicMs() + LeftMs(row, clock.SettledNow()),
                     .stored = row.state});
  }
  return codes;
}

void WriteDownExpiredCodes(db::Database& database, auth::PairingCodes& codes, const Clock& clock) {
  const std::vector<auth::PairingCode> expired = MarkExpired(codes, clock.MonotonicMs());
  if (expired.empty()) return;
  database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    for (const auth::PairingCode& code : expired) {
      pairing_store::End(tx, code.company, code.hash_hex, CodeState::kExpired, stamp.now,
                         std::nullopt);
      tx.OnCommit([&codes, written = code]() mutable {
        written.end_is_written = true;
        codes.Put(written);
      });
    }
  });
}

void DeleteOldCodes(db::Database& database, auth::PairingCodes& codes, const Clock& clock) {
  const UtcMs long_ago = clock.RetentionNow() - kEndedKeptMs;
  const std::vector<std::string> old = database.Read(
      [&](db::Snapshot& snapshot) { return pairing_store::EndedBefore(snapshot, long_ago); });
  if (old.empty()) return;
  database.Write(
      [&](db::Tx& tx, const db::Stamp&) { pairing_store::DeleteEndedBefore(tx, long_ago); });
  for (const std::string& hash_hex : old) codes.Forget(hash_hex);
}

std::optional<int64_t> CodesDueInMs(const auth::PairingCodes& codes, const Clock& clock) {
  std::optional<int64_t> due;
  for (const auth::PairingCode& code : codes.All()) {
    if (code.stored != CodeState::kOpen) continue;
    const int64_t in_ms = std::max<int64_t>(code.ends_at_ms - clock.MonotonicMs(), 0);
    due = std::min(due.value_or(in_ms), in_ms);
  }
  return due;
}

void EndAllCodes(db::Tx& tx, const db::Stamp& stamp) { pairing_store::EndAll(tx, stamp.now); }

}  // namespace comanda::keys
