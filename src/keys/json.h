#pragma once

// The wire form of keys (contract section 3).

#include <string>
#include <string_view>

#include "json/reader.h"
#include "keys/key.h"
#include "keys/store.h"

namespace comanda::keys {

// The body of POST. Refusal lists every wrong field. `now`: a key cannot expire in the past.
Draft ReadNewKey(const json::Document& body, json::UnknownFields unknown, UtcMs now);
// The body of PATCH: at least one known field.
Draft ReadChange(const json::Document& body, json::UnknownFields unknown, UtcMs now);
// The body of POST …/rotate: its grace_seconds.
int64_t ReadGrace(const json::Document& body, json::UnknownFields unknown);

// The record.
std::string Render(const Key& key);
// The record with the member `key`: the text, or null where it is shown no more.
std::string RenderWithText(const Key& key, std::string_view text);
std::string RenderWithoutText(const Key& key);

// An entry of the audit log.
std::string Render(const store::AuditRow& row);

}  // namespace comanda::keys
