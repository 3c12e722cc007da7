#pragma once

// Secrets and signatures: Standard Webhooks 1.0.0 (https://www.standardwebhooks.com) and the
// platform's own header (contract section 13, Headers). Pure except MakeSecret(). Any thread.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"

namespace comanda::webhooks {

// "whsec_" and the padded base64 of 32 random bytes.
std::string MakeSecret();

// What the messages of a subscription are signed with. While it rotates there are two.
struct Secrets {
  std::string current;
  std::optional<std::string> old;  // signs too, until its end
};

// The headers that sign a message: webhook-id, webhook-timestamp, webhook-signature ("v1,…", of the
// new secret first), `own_header` ("sha256=" and hexadecimal), and `own_header`-New while rotating.
std::vector<std::string> Sign(const Secrets& secrets, std::string_view message_id, UtcMs at,
                              std::string_view body, std::string_view own_header);

}  // namespace comanda::webhooks
