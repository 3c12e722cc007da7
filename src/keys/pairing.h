#pragma once

// Pairing codes (contract section 3). The owner makes one on the box (`comanda pair`) and shows it
// to a device as a QR code; the device exchanges it for an API key, once, within ten minutes,
// without credentials of its own. The code has 130 bits of randomness and is stored as its hash.
// Its name, and its scopes and tier or its role, are chosen by the owner; without a role it never
// has the scopes that manage the box.
//
// The row of a code decides whether it is accepted: the transaction that inserts the key ends the
// row, so that no crash leaves a code that is accepted twice. The life of a code is measured by
// monotonic time (auth/pairing_codes.h), and after a restart by settled time; what has ended is
// stored as ended. A restored backup ends all codes: one may have been used since.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "auth/pairing_codes.h"
#include "base/time/clock.h"
#include "db/database.h"
#include "keys/key.h"
#include "keys/keys.h"

namespace comanda::keys {

inline constexpr int64_t kCodeLifeMs = 600'000;
// Codes of one company that may be open at once.
inline constexpr size_t kOpenCodesMax = 100;

// What the key of a code will be.
struct CodeDraft {
  std::string name;
  auth::ScopeSet scopes;
  auth::Tier tier = auth::Tier::kLan;
  // Instead of scopes and tier, which are the role's.
  std::optional<auth::Role> role;
};

struct Code {
  std::string id;
  std::string hash_hex;
  CodeDraft draft;
  UtcMs made_at = 0;
  UtcMs expires_at = 0;
};

// A new id, and the text of a new code: 22 letters and digits.
Secret MakeCodeSecret(UtcMs now);

// Stores a new code, on behalf of the local command line or of a panel. Throws
// Refusal(kValidationFailed) if the company has kOpenCodesMax open ones.
Code MakeCode(db::Tx& tx, auth::PairingCodes& codes, CommandContext context,
              const auth::Principal& principal, const CodeDraft& draft, const Secret& secret,
              const db::Stamp& stamp);

// A device with a code, and the key that it is to get.
struct Taker {
  const auth::PairingCode& code;
  const Secret& secret;
  std::string_view address;
};
// Makes the key of an open code and ends the code. Nothing if it has ended.
std::optional<Key> Redeem(db::Tx& tx, auth::PairingCodes& codes, CommandContext context,
                          const Taker& taker, const db::Stamp& stamp);

// The codes of all companies, for PairingCodes::Load() at start. One whose row is damaged, and one
// that cannot be as old as the clock says, has expired.
std::vector<auth::PairingCode> LoadCodes(db::Session& session, const Clock& clock);
// Stores which codes have expired (base/time/ends.h). Blocks on the writer; does nothing if none
// has. Throws Fault; the end then stays noted in memory, and the next call stores it.
void WriteDownExpiredCodes(db::Database& database, auth::PairingCodes& codes, const Clock& clock);
// Deletes the codes that ended a day ago. Blocks on the writer; does nothing if there are none.
// Throws Fault.
void DeleteOldCodes(db::Database& database, auth::PairingCodes& codes, const Clock& clock);
// Milliseconds until the next code expires; nothing if none is open.
std::optional<int64_t> CodesDueInMs(const auth::PairingCodes& codes, const Clock& clock);
// Ends all open codes, in a restored database.
void EndAllCodes(db::Tx& tx, const db::Stamp& stamp);

}  // namespace comanda::keys
