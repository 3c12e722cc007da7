#pragma once

// Keys as JSON: request bodies and answers (contract section 3). The reading functions throw
// Refusal(kValidationFailed) that lists every invalid field.

#include <string>
#include <string_view>

#include "json/reader.h"
#include "keys/key.h"
#include "keys/pairing.h"
#include "keys/store.h"

namespace comanda::keys {

// The body of POST /auth/api-keys. `now` bounds expires_at, which must be in the future.
Draft ReadNewKey(const json::Document& body, json::UnknownFields unknown, UtcMs now);
// The body of PATCH: at least one known field.
Draft ReadChange(const json::Document& body, json::UnknownFields unknown, UtcMs now);
// The grace period of POST .../rotate in seconds; 0 if absent.
int64_t ReadGrace(const json::Document& body, json::UnknownFields unknown);

// The body of POST /control/pairing-codes. A code is never exchanged for a key that manages keys.
CodeDraft ReadNewCode(const json::Document& body, json::UnknownFields unknown);
// The code in the body of POST /auth/pair.
std::string ReadCode(const json::Document& body, json::UnknownFields unknown);

// The record of a key.
std::string Render(const Key& key);
// The record with the member `key`: the secret text, or null in the answer stored for replay.
std::string RenderWithText(const Key& key, std::string_view text);
std::string RenderWithoutText(const Key& key);

// A new pairing code, which is shown once.
std::string Render(const Code& code, std::string_view text);

// A row of the audit log.
std::string Render(const store::AuditRow& row);

}  // namespace comanda::keys
