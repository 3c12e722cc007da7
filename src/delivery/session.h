#pragma once

// Calls to an app in the restaurant's name: with a token where the app wants one, which is kept
// between sessions, and renewed once where the app refuses it.

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "delivery/account.h"
#include "delivery/provider.h"
#include "delivery/request.h"
#include "delivery/status/rules.h"
#include "net/network.h"
#include "net/reply.h"

namespace comanda::delivery {

// A token, kept between sessions.
struct Token {
  std::string text;
  int64_t renew_at_ms = 0;  // monotonic
};

// What the calls of a session may take.
struct SessionLimits {
  int64_t session_ms = 4'500;  // all calls together
  int64_t connect_ms = 2'000;  // one call
  int64_t call_ms = 4'000;
  size_t bytes_max = 256 * 1024;  // of an answer, decompressed
};

// How a call ended.
enum class CallEnd : uint8_t {
  kAnswered,     // with any status but those below
  kTimeout,      // or no time is left for it
  kRefused,      // the app refuses the credentials; a new token did not help
  kForbidden,    // 403: it refuses what they ask for
  kRateLimited,  // 429
  kFailed,       // no connection, no answer, no token, an answer that is too large
};

// The outcome of a call; where it was not made for want of a token, that of the call for the token.
struct CallResult {
  CallEnd end = CallEnd::kAnswered;
  int status = 0;          // 0: no answer came
  net::Reply reply = {};   // empty where no whole answer came; may hold secrets
  std::string words = {};  // what went wrong, for logs and reports: short, without secrets
  std::optional<int64_t> not_before_ms = {};  // the app wants no call before (429); monotonic

  const std::string& body() const { return reply.answer().body; }
  // Answered with a status of success.
  bool IsSuccess() const { return end == CallEnd::kAnswered && status >= 200 && status < 300; }
};

// One thread. The account, the token and what else is referred to outlive it.
class Session {
 public:
  Session(const Account& account, const std::optional<TokenSource>& source, Token& token,
          net::Network& network, const Clock& clock, const SessionLimits& limits,
          std::stop_token stop);

  // Makes the request from the variables, ${token} among them, and sends it. Where the app refuses
  // the token, by status 401 or because `is_refusal` is true of its answer, it is renewed and the
  // request sent again, once in a session. Throws nothing for what the app does.
  using Make = std::function<Request(const Variables& variables)>;
  using IsRefusal = std::function<bool(const net::Reply& reply)>;
  CallResult Send(const Make& make, const IsRefusal& is_refusal = {});

  // Credentials, values of the country, and the token.
  const Variables& variables() const { return variables_; }
  // The text without secrets (credentials.h).
  std::string Masked(std::string_view text) const;
  // ms until no further call is begun; may be negative.
  int64_t LeftMs() const { return deadline_ms_ - clock_.MonotonicMs(); }
  // Waits; returns early where the session is to stop.
  void Pause(int64_t ms) const;

 private:
  CallResult SendOnce(const Make& make, const IsRefusal& is_refusal);
  // Nothing: variables_ has the token, or the app wants none. Else the call that gave none.
  std::optional<CallResult> FindToken();
  std::optional<CallResult> GetToken();
  void Keep(const std::string& token, const json::Value& answer);
  CallResult Transfer(Request request) const;
  void JudgeStatus(CallResult& result) const;
  bool Decompress(net::Answer& answer) const;

  const Account& account_;
  const std::optional<TokenSource>& source_;
  Token& token_;
  net::Network& network_;
  const Clock& clock_;
  const SessionLimits limits_;
  const std::stop_token stop_;
  const int64_t deadline_ms_;
  Variables variables_;
  bool was_token_kept_ = false;
};

}  // namespace comanda::delivery
