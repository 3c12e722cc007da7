#pragma once

// One look-up: asks an app whether the store is open. Gets a token where the app wants one, renews
// it once where it is refused, repeats the call where the app says that the result comes later.

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "crypto/authorities.h"
#include "delivery/provider.h"
#include "delivery/rules.h"
#include "net/network.h"

namespace comanda::delivery {

// A token, kept between look-ups.
struct Token {
  std::string text;
  int64_t renew_at_ms = 0;  // monotonic
};

// What is asked, and with what.
struct Question {
  const Provider& provider;
  std::string country;    // of the company
  Variables credentials;  // the provider's (credentials.h)
  std::shared_ptr<const crypto::Authorities> authorities;
  net::AddressCheck allows_address;
};

// What came of it. Texts have no secrets.
struct Found {
  StatusRow row;
  std::string words;  // the app's own, or what went wrong: for the log
  // The app wants no call before: a 429 says so.
  std::optional<int64_t> not_before_ms;  // monotonic
  int status = 0;                        // of the last answer; 0: none came
  std::string body;                      // of the last answer, at most kShownMax bytes
};
inline constexpr size_t kShownMax = 4'096;
// The longest that a look-up takes, ms.
inline constexpr int64_t kLookUpMsMax = 4'500;

// Blocks for kLookUpMsMax at most, or until `stop` is requested. Throws nothing for what the app
// does. Any thread but the network's; one at a time for each `token`, which it reads and writes.
Found Ask(const Question& question, Token& token, net::Network& network, const Clock& clock,
          const std::stop_token& stop);

}  // namespace comanda::delivery
