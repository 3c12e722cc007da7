#pragma once

// Keys as JSON: request bodies and answers (contract section 3). The reading functions throw
// Refusal(kValidationFailed) that lists every invalid field.

#include <string>
#include <string_view>
#include <vector>

#include "auth/device_requests.h"
#include "auth/pairing_codes.h"
#include "http/key_display.h"
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
// The body of POST /box/devices/codes: role and name.
CodeDraft ReadDeviceCode(const json::Document& body, json::UnknownFields unknown);
// The body of POST /auth/pair: a code, or the text of a request.
struct Pairing {
  std::string code;
  std::optional<std::string> request;
};
Pairing ReadPairing(const json::Document& body, json::UnknownFields unknown);
// The body of POST /auth/pair/requests: role and name.
auth::DeviceRequest ReadDeviceRequest(const json::Document& body, json::UnknownFields unknown);
// The body of POST /box/devices/accept. Without a grant it asks who shows that number.
struct Acceptance {
  std::string number;
  std::optional<Grant> grant;
};
Acceptance ReadAcceptance(const json::Document& body, json::UnknownFields unknown);

// The record of a key.
std::string Render(const Key& key);
// The record with the member `key`: the secret text, or null in the answer stored for replay.
std::string RenderWithText(const Key& key, std::string_view text);
std::string RenderWithoutText(const Key& key);

// A new pairing code, which is shown once.
std::string Render(const Code& code, std::string_view text);

// What became of a code, for who has made it.
std::string Render(const auth::PairingCode& code, auth::CodeState state);
// A new request of a device, for that device.
std::string RenderAsked(const auth::DeviceRequests::Made& made);
// A request as those see it who let devices in. The number only on the box: others read it from the
// device.
enum class WithNumber : bool { kNo, kYes };
std::string Render(const auth::DeviceRequest& request, WithNumber with_number);
// A key with a role as GET /box/devices shows it, with those of the displays that have that key.
std::string RenderDevice(const Key& key, const std::vector<http::KeyDisplay>& displays);

// A row of the audit log.
std::string Render(const store::AuditRow& row);

}  // namespace comanda::keys
