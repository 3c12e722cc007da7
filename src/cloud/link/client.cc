#include "cloud/link/client.h"

#include <cstdlib>
#include <utility>

#include "base/concat.h"
#include "base/gzip.h"
#include "base/text.h"
#include "base/version.h"
#include "net/call.h"

namespace comanda::cloud {
namespace {

constexpr int64_t kConnectMs = 10'000;

net::Call CallFor(const Target& target, const Request& request) {
  net::Call call{.purpose = net::Purpose::kCloud,
                 .method = request.method,
                 .url = target.url + request.path,
                 .authorities = target.authorities,
                 .body = request.body,
                 .connect_timeout_ms = kConnectMs,
                 .timeout_ms = request.answer_ms + request.wait_s * 1'000,
                 .answer_bytes_max = kAnswerBytesMax};
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) call.headers.push_back(Concat({name, ": ", value}));
  };
  add("Authorization", "Bearer " + target.key);
  add("User-Agent", Concat({"Comanda/", kVersion}));
  add("Accept", "application/json");
  add("Accept-Encoding", "gzip");
  add("Content-Type", request.body.empty() ? "" : "application/json");
  add("Idempotency-Key", request.idempotency_key);
  add("If-None-Match", request.etag);
  add("If-Match", request.if_match);
  add("Comanda-Occurred-At", request.occurred_at);
  if (request.wait_s > 0) add("Prefer", Concat({"wait=", request.wait_s}));
  return call;
}

Reachability ReachabilityOf(net::Outcome outcome) {
  switch (outcome) {
    case net::Outcome::kAnswered:
      return Reachability::kReached;
    case net::Outcome::kTlsUntrusted:
    case net::Outcome::kTlsPinMismatch:
      return Reachability::kCertificate;
    case net::Outcome::kAnswerTooLarge:
      return Reachability::kUnusable;
    case net::Outcome::kTimeout:
    case net::Outcome::kNameNotFound:
    case net::Outcome::kAddressRefused:
    case net::Outcome::kConnectionFailed:
    case net::Outcome::kCancelled:
    case net::Outcome::kNotStarted:
    case net::Outcome::kInvalidCall:
      return Reachability::kUnreachable;
  }
  return Reachability::kUnreachable;
}

// Replaces a body in gzip by its text. False where it is none, or too large.
bool Decompress(net::Answer& answer) {
  const auto coding = answer.Header("Content-Encoding");
  if (!coding || answer.body.empty() || AsciiEqualsIgnoreCase(*coding, "identity")) return true;
  if (!AsciiEqualsIgnoreCase(*coding, "gzip")) return false;
  std::optional<std::string> text = GunzipAtMost(answer.body, kAnswerBytesMax);
  if (!text) return false;
  answer.body = *std::move(text);
  return true;
}

bool IsJsonObject(const net::Reply& reply) {
  const auto body = reply.Find("");
  return body && body->kind() == json::Kind::kObject;
}

// What an answer with a complete head and body says. kLater where it says nothing.
Verdict VerdictOf(const net::Reply& reply) {
  const int status = reply.status();
  if (status == 304) return Verdict::kNotModified;
  if (status == 204) return Verdict::kOk;
  if (status >= 200 && status < 300) return reply.Find("data") ? Verdict::kOk : Verdict::kLater;
  const bool is_transient = status == 408 || status == 425 || status == 429;
  if (status < 400 || status >= 500 || is_transient || !IsJsonObject(reply)) return Verdict::kLater;
  if (status == 401) return Verdict::kKeyRefused;
  if (status == 403) return Verdict::kScopeMissing;
  return Verdict::kRefused;
}

// Whether an answer that is to be tried again is one of a server that speaks the specification.
bool IsAnswerOfApi(const net::Reply& reply) { return reply.status() >= 400 && IsJsonObject(reply); }

std::string ClockTrouble(int64_t skew_ms) {
  return Concat({"the clock of this box is ", std::abs(skew_ms) / 1'000, " s ",
                 skew_ms > 0 ? "ahead of" : "behind", " that of the cloud"});
}

Reply Judged(net::Answer answer, UtcMs now) {
  Reply reply;
  reply.body_bytes = static_cast<int64_t>(answer.body.size());
  reply.reachability = answer.is_refused ? Reachability::kRefused : ReachabilityOf(answer.outcome);
  if (answer.outcome != net::Outcome::kAnswered) {
    reply.trouble = Trimmed(answer.error);  // Mbed TLS ends its words with a newline
    reply.answer = net::Reply(std::move(answer));
    return reply;
  }
  const auto skew_ms = answer.ClockSkewMs(now);
  const bool is_whole = Decompress(answer);
  reply.answer = net::Reply(std::move(answer));
  if (skew_ms && std::abs(*skew_ms) > kClockSkewMsMax) {
    reply.reachability = Reachability::kClock;
    reply.trouble = ClockTrouble(*skew_ms);
    return reply;
  }
  if (is_whole) reply.verdict = VerdictOf(reply.answer);
  if (reply.verdict == Verdict::kOk || reply.verdict == Verdict::kNotModified) return reply;
  reply.trouble = reply.answer.Described();
  const bool is_unusable =
      reply.verdict == Verdict::kLater && (!is_whole || !IsAnswerOfApi(reply.answer));
  if (!is_unusable) return reply;
  reply.reachability = Reachability::kUnusable;
  reply.trouble = Concat({"no answer of the API: status ", reply.answer.status(),
                          is_whole ? "" : ", a body that cannot be decompressed"});
  return reply;
}

}  // namespace

std::string_view Name(Reachability reachability) {
  switch (reachability) {
    case Reachability::kReached:
      return "busy";
    case Reachability::kUnreachable:
      return "unreachable";
    case Reachability::kRefused:
      return "the cloud refuses connections";
    case Reachability::kCertificate:
      return "certificate";
    case Reachability::kClock:
      return "clock";
    case Reachability::kUnusable:
      return "no answer of the API";
  }
  return "";
}

Client::Client(Target target, net::Network& network, const Clock& clock, int64_t share_percent)
    : target_(std::move(target)), network_(network), clock_(clock), pace_(share_percent) {}

Reply Client::Send(const Request& request, const std::stop_token& stop) {
  Count(request);
  return Judge(network_.Send(CallFor(target_, request), stop));
}

std::optional<net::Network::Ticket> Client::Start(const Request& request,
                                                  net::Network::OnDone on_done) {
  const auto ticket = network_.Start(CallFor(target_, request), std::move(on_done));
  if (ticket) Count(request);
  return ticket;
}

void Client::Count(const Request& request) {
  pace_.Count(clock_.MonotonicMs());
  ++requests_;
  bytes_ += static_cast<int64_t>(request.body.size());
}

Reply Client::Judge(net::Answer answer) {
  const UtcMs now = clock_.Now();
  if (answer.outcome == net::Outcome::kAnswered) {
    pace_.Learn(answer, clock_.MonotonicMs(), now);
    if (const auto skew_ms = answer.ClockSkewMs(now)) clock_skew_ms_ = skew_ms;
  }
  Reply reply = Judged(std::move(answer), now);
  bytes_ += reply.body_bytes;
  return reply;
}

}  // namespace comanda::cloud
