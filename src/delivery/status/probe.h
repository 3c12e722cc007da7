#pragma once

// One probe: asks an app whether the store is open, in a session (session.h); repeats the call
// where the app says that the result comes later.

#include <optional>
#include <stop_token>
#include <string>

#include "base/time/clock.h"
#include "delivery/provider.h"
#include "delivery/session.h"
#include "net/network.h"

namespace comanda::delivery {

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
// The longest that a probe takes, ms.
inline constexpr int64_t kProbeMsMax = 4'500;

// Blocks for kProbeMsMax at most, or until `stop` is requested. Throws nothing for what the app
// does. Any thread but the network's; one at a time for each `token`, which it reads and writes.
Found Ask(const Account& account, Token& token, net::Network& network, const Clock& clock,
          const std::stop_token& stop);

}  // namespace comanda::delivery
