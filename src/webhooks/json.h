#pragma once

// Subscriptions and messages as JSON (contract section 13). The reading functions throw
// Refusal(kValidationFailed) that lists every invalid field.

#include <optional>
#include <string>
#include <string_view>

#include "events/log.h"
#include "json/reader.h"
#include "webhooks/address_rules.h"
#include "webhooks/subscription.h"

namespace comanda::webhooks {

// What a body asks for. A member without value was not sent; where null is a value of its own, the
// inner optional is empty.
struct Draft {
  std::optional<std::string> url;
  std::optional<std::optional<std::string>> merchant_id;
  std::optional<Kinds> kinds;
  std::optional<Headers> headers;
  std::optional<std::vector<int>> ack_codes;
  std::optional<std::optional<std::string>> public_key_pin;
  std::optional<bool> is_active;
  bool rotates_secret = false;
  int64_t grace_s = 0;
  bool skips_backlog = false;
};

// Resolves a name, for at most 2 s (net/resolve.h). A name without addresses is accepted.
using FindAddresses = std::vector<std::string> (*)(const std::string& host);

// What reading a body depends on, beside the body.
struct ReadSettings {
  json::UnknownFields unknown;
  const Networks& networks;
  FindAddresses find_addresses;
  std::string_view signature_header;
};
// The body of POST /v1/webhooks.
Draft ReadNew(const json::Document& body, const ReadSettings& settings);
// The body of PATCH: at least one field.
Draft ReadChange(const json::Document& body, const ReadSettings& settings);

// The value of a header as answers show it: "****" and its last four characters where it has at
// least twelve.
std::string Masked(std::string_view value);
// The headers that were sent, where a masked value stands for the stored one of that name.
Headers Unmasked(Headers sent, const Headers& stored);

// The record. `secret`: shown once, in the answers of POST and of a rotation.
std::string Render(const Subscription& subscription, const Behind& behind,
                   std::optional<std::string_view> secret = std::nullopt);

// The headers as a row stores them.
std::string StoredHeaders(const Headers& headers);
// Reads what StoredHeaders() wrote.
Headers ParseHeaders(std::string_view stored);

// What a message says; the same bytes on every attempt.
struct Message {
  Kind kind = Kind::kTest;
  std::string_view event_id;
  std::optional<std::string> merchant_id;
  std::string_view company_uuid;
  UtcMs at = 0;
  std::optional<int64_t> sequence;
  std::string_view changes;  // names with commas between them
  std::string_view note;     // JSON; empty: none
  std::string_view data;     // JSON
};
// The body of the request to the receiver.
std::string Render(const Message& message);

}  // namespace comanda::webhooks
