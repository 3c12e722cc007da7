#pragma once

// The box as a client of the cloud: one request at a time, and what its answer means for the sync
// (contract section 15; specification, Errors). Everything that the cloud may answer is classified
// here; no other file of the room reads a status.
//
// Bodies are asked for in gzip. An answer is bounded before and after decompression. Redirects are
// not followed. The key is sent in Authorization and never appears in a log or an error text.

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "base/time/clock.h"
#include "crypto/authorities.h"
#include "net/network.h"
#include "net/reply.h"
#include "outbox/pace.h"

namespace comanda::cloud {

// Of an answer, decompressed.
inline constexpr size_t kAnswerBytesMax = 8 * 1024 * 1024;
// A box clock that differs more from the Date of the cloud is reported (Reachability::kClock).
inline constexpr int64_t kClockSkewMsMax = 300'000;

// Where the cloud is and how it is asked.
struct Target {
  std::string url;  // https://HOST[:PORT][/PREFIX], without the slash at the end and without /v1
  std::string key;  // the API key
  std::shared_ptr<const crypto::Authorities> authorities;
};

struct Request {
  std::string method = "GET";
  std::string path = {};  // below Target::url: "/v1/orders?per_page=100"
  std::string body = {};  // JSON, or empty
  std::string idempotency_key = {};
  std::string occurred_at = {};  // Comanda-Occurred-At
  std::string etag = {};         // If-None-Match
  std::string if_match = {};
  int64_t wait_s = 0;          // Prefer: wait
  int64_t answer_ms = 30'000;  // it fails when its answer takes longer, a long poll's wait added
};

enum class Verdict : uint8_t {
  kOk,            // 2xx with `data`
  kNotModified,   // 304
  kRefused,       // any 4xx but those below: it would be refused again
  kKeyRefused,    // 401
  kScopeMissing,  // 403 insufficient_scope; any other 403 too
  kLater,  // 408, 425, 429, 5xx, 3xx, an answer that is no JSON or has no `data`, or none at all
};

// Why no usable answer came. kReached: one came.
enum class Reachability : uint8_t {
  kReached,
  kUnreachable,  // no name, no connection, no answer in time, or the connection broke
  kRefused,      // its address refuses connections: nothing listens there
  kCertificate,  // the certificate is not trusted
  kClock,        // the certificate is not valid now and the box's clock is wrong
  kUnusable,     // an answer that is none: HTML, a redirect, no `data`, too large
};

std::string_view Name(Reachability reachability);  // for people: "unreachable"

struct Reply {
  Verdict verdict = Verdict::kLater;
  Reachability reachability = Reachability::kReached;
  net::Reply answer;       // its body, decompressed
  std::string trouble;     // for people: what went wrong, without the key; empty for kOk
  int64_t body_bytes = 0;  // as they came over the line
};

// One thread. Outlived by `network` and `clock`.
class Client {
 public:
  Client(Target target, net::Network& network, const Clock& clock, int64_t share_percent);

  // Sends the request and waits for its answer; blocks for Request::answer_ms at most, and a long
  // poll for its wait longer. Does not wait for the pace: the caller asks pace() first. Never
  // throws for what the cloud does.
  Reply Send(const Request& request, const std::stop_token& stop);

  // The same in two steps, for a long poll beside other requests: Start() sends the request, and
  // `on_done` gets the answer on the network thread; Judge() is then called with it on the thread
  // of the client. Nothing, and no call of `on_done`, where the network takes no more calls.
  std::optional<net::Network::Ticket> Start(const Request& request, net::Network::OnDone on_done);
  Reply Judge(net::Answer answer);
  void Cancel(net::Network::Ticket ticket) { network_.Cancel(ticket); }

  outbox::Pace& pace() { return pace_; }
  // Requests that were sent, and bytes of bodies in both directions, since the client was made.
  int64_t requests() const { return requests_; }
  int64_t bytes() const { return bytes_; }
  // The local wall clock minus that of the cloud, ms, as the last answer's Date tells.
  std::optional<int64_t> clock_skew_ms() const { return clock_skew_ms_; }

 private:
  void Count(const Request& request);

  const Target target_;
  net::Network& network_;
  const Clock& clock_;
  outbox::Pace pace_;
  int64_t requests_ = 0;
  int64_t bytes_ = 0;
  std::optional<int64_t> clock_skew_ms_;
};

}  // namespace comanda::cloud
