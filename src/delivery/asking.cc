#include "delivery/asking.h"

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <mutex>

#include "base/concat.h"
#include "base/gzip.h"
#include "base/text.h"
#include "base/version.h"
#include "delivery/credentials.h"
#include "net/backoff.h"
#include "net/reply.h"
#include "wire/percent.h"

namespace comanda::delivery {
namespace {

constexpr std::string_view kToken = "token";
constexpr int64_t kRateLimitedMsMax = 15 * 60'000;
constexpr int64_t kRateLimitedMs = 30'000;
constexpr int kUnauthorized = 401, kForbidden = 403, kTooManyRequests = 429;
// A call that has less time than this is not begun.
constexpr int64_t kCallMsMin = 50;

std::string FormOf(const CallTemplate& call, const Variables& variables) {
  std::string body;
  for (const auto& [name, text] : call.form) {
    body += Concat({body.empty() ? "" : "&", wire::PercentEncoded(name), "=",
                    wire::PercentEncoded(Expand(text, variables, AsIs))});
  }
  return body;
}

std::string JsonOf(const CallTemplate& call, const Variables& variables) {
  if (!call.raw_json.empty()) return Expand(call.raw_json, variables, InJson);
  std::string body;
  for (const auto& [name, text] : call.json) {
    body += Concat({body.empty() ? "{" : ",", "\"", InJson(name), "\":\"",
                    Expand(text, variables, InJson), "\""});
  }
  return body.empty() ? body : body + "}";
}

int64_t NumberAt(const json::Value& root, std::string_view pointer, const Variables& variables) {
  const std::string text = pointer.empty() ? "" : TextAt(root, pointer, variables).value_or("");
  int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return std::max<int64_t>(number, 0);
}

// Waits; returns early where `stop` is requested.
void Pause(int64_t ms, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any woken;
  std::unique_lock lock(mutex);
  woken.wait_for(lock, stop, std::chrono::milliseconds(ms), [] { return false; });
}

// How a call ended. kNone: the row says what is wrong. kAuth: the app refuses who asks.
enum class End : uint8_t { kAnswer, kNone, kAuth };

class LookUp {
 public:
  LookUp(const Question& question, Token& token, net::Network& network, const Clock& clock,
         const std::stop_token& stop)
      : question_(question),
        provider_(question.provider),
        token_(token),
        network_(network),
        clock_(clock),
        stop_(stop),
        deadline_ms_(clock.MonotonicMs() + kLookUpMsMax),
        variables_(question.credentials) {
    const auto values = provider_.by_country.find(question.country);
    if (values != provider_.by_country.end()) {
      variables_.insert(values->second.begin(), values->second.end());
    }
    found_.row.provider_name = provider_.name;
  }

  Found Make() && {
    End end = TakeToken();
    if (end == End::kAnswer) end = AskStatus();
    if (end == End::kAuth && was_token_kept_) {
      end = GetToken();
      if (end == End::kAnswer) end = AskStatus();
    }
    if (end == End::kAuth) {
      token_ = {};
      Fail(Reason::kAuthFailed, "the app refuses the credentials");
    }
    found_.row.checked_at = clock_.Now();
    // Masked before it is cut, which could leave a part of a secret.
    found_.words = net::Shown(Masked(found_.words, provider_, variables_));
    found_.body = Masked(found_.body, provider_, variables_);
    found_.body.resize(std::min(found_.body.size(), kShownMax));
    return std::move(found_);
  }

 private:
  // The kept token while it lasts, else a new one.
  End TakeToken() {
    if (!provider_.token) return End::kAnswer;
    was_token_kept_ = !token_.text.empty() && clock_.MonotonicMs() < token_.renew_at_ms;
    if (!was_token_kept_) return GetToken();
    variables_[std::string(kToken)] = token_.text;
    return End::kAnswer;
  }

  End GetToken() {
    const TokenSource& source = *provider_.token;
    const End end = Send(source.call);
    if (end != End::kAnswer) return end;
    const int status = reply_.status();
    const auto root = reply_.Find("");
    const bool is_good =
        status >= 200 && status < 300 && root && Holds(source.call.body_ok, *root, Judging());
    const auto text = is_good ? TextAt(*root, source.access, variables_) : std::nullopt;
    if (!text || text->empty() || HasControl(*text)) {
      if (root || (status >= 400 && status < 500)) return End::kAuth;
      Fail(Reason::kError, Concat({"no token, status ", status}));
      return End::kNone;
    }
    Keep(*text, *root);
    return End::kAnswer;
  }

  void Keep(const std::string& token, const json::Value& answer) {
    const TokenSource& source = *provider_.token;
    int64_t ttl_s = NumberAt(answer, source.expires_in, variables_);
    if (const int64_t at_s = NumberAt(answer, source.expires_at, variables_); at_s > 0) {
      ttl_s = at_s - clock_.Now() / 1'000;
    }
    if (ttl_s <= 0) ttl_s = source.default_ttl_s;
    const int64_t life_s = std::max(ttl_s - source.renew_before_s, ttl_s / 2);
    token_ = {.text = token, .renew_at_ms = clock_.MonotonicMs() + life_s * 1'000};
    variables_[std::string(kToken)] = token;
  }

  End AskStatus() {
    const StatusSource& source = *provider_.status;
    auto waits = source.pending_retry_ms.begin();
    while (true) {
      const End end = Send(source.call);
      if (end != End::kAnswer) return end;
      const bool is_pending =
          std::ranges::find(source.pending_http, reply_.status()) != source.pending_http.end();
      if (!is_pending) break;
      if (waits == source.pending_retry_ms.end()) {
        Fail(Reason::kTimeout, "the app accepts the question and gives no answer");
        return End::kNone;
      }
      Pause(std::min(*waits++, std::max<int64_t>(LeftMs(), 0)), stop_);
    }
    return Understand(source);
  }

  End Understand(const StatusSource& source) {
    const int status = reply_.status();
    const auto root = reply_.Find("");
    if (std::ranges::find(source.ok_http, status) == source.ok_http.end()) {
      Fail(Reason::kError, Concat({"status ", status}));
      return End::kNone;
    }
    if (!root) {
      Fail(Reason::kError, "an answer that is no JSON");
      return End::kNone;
    }
    if (Holds(source.body_reauth, *root, Judging())) return End::kAuth;
    if (!Holds(source.call.body_ok, *root, Judging())) {
      Fail(Reason::kError, Concat({"an error inside the answer: ", root->Canonical()}));
      return End::kNone;
    }
    Meaning meaning = Decide(source.rules, *root, Judging());
    found_.row.status = meaning.status;
    found_.row.reason = meaning.reason;
    found_.row.until = meaning.until;
    found_.words = std::move(meaning.words);
    if (meaning.status == StoreStatus::kUnknown && found_.words.empty()) {
      found_.words = Concat({"a state that no rule knows: ", root->Canonical()});
    }
    return End::kAnswer;
  }

  delivery::Judging Judging() const { return {.variables = variables_, .now = clock_.Now()}; }
  int64_t LeftMs() const { return deadline_ms_ - clock_.MonotonicMs(); }

  void Fail(Reason reason, std::string words) {
    found_.row.status = StoreStatus::kUnknown;
    found_.row.reason = reason;
    found_.words = std::move(words);
  }

  net::Call CallOf(const CallTemplate& call) const {
    const std::string form = FormOf(call, variables_), json = JsonOf(call, variables_);
    const int64_t left_ms = LeftMs();
    net::Call made{.purpose = net::Purpose::kDeliveryApps,
                   .method = call.method,
                   .url = Expand(call.url, variables_, wire::PercentEncoded),
                   .authorities = question_.authorities,
                   .allows_address = question_.allows_address,
                   .body = form.empty() ? json : form,
                   .connect_timeout_ms = std::min(provider_.limits.connect_ms, left_ms),
                   .timeout_ms = std::min(provider_.limits.total_ms, left_ms),
                   .answer_bytes_max = static_cast<size_t>(provider_.limits.bytes_max)};
    made.headers.push_back(Concat({"User-Agent: Comanda/", kVersion}));
    made.headers.push_back("Accept-Encoding: gzip");
    if (!form.empty()) made.headers.push_back("Content-Type: application/x-www-form-urlencoded");
    if (!json.empty()) made.headers.push_back("Content-Type: application/json");
    for (const auto& [name, text] : call.headers) {
      made.headers.push_back(Concat({name, ": ", Expand(text, variables_, AsIs)}));
    }
    return made;
  }

  // Sends the call; reply_ has the answer. Anything but kAnswer: the row says what is wrong.
  End Send(const CallTemplate& call) {
    if (LeftMs() < kCallMsMin || stop_.stop_requested()) {
      Fail(Reason::kTimeout, "no time is left for another call");
      return End::kNone;
    }
    net::Answer answer = network_.Send(CallOf(call), stop_);
    found_.status = answer.status;
    if (answer.outcome != net::Outcome::kAnswered) {
      const bool is_late = answer.outcome == net::Outcome::kTimeout;
      Fail(is_late ? Reason::kTimeout : Reason::kError, answer.error);
      return End::kNone;
    }
    if (!Decompress(answer)) {
      Fail(Reason::kError, "an answer that is too large once it is decompressed");
      return End::kNone;
    }
    found_.body = answer.body;
    reply_ = net::Reply(std::move(answer));
    return JudgeStatus();
  }

  End JudgeStatus() {
    const int status = reply_.status();
    if (status == kUnauthorized) return End::kAuth;
    if (status == kForbidden) {
      Fail(Reason::kAuthFailed, "status 403");
      return End::kNone;
    }
    if (status != kTooManyRequests) return End::kAnswer;
    Fail(Reason::kRateLimited, "status 429");
    const auto header = reply_.Header("Retry-After");
    const auto wait_ms =
        header ? net::ReadRetryAfter(*header, clock_.Now(), kRateLimitedMsMax) : std::nullopt;
    found_.not_before_ms = clock_.MonotonicMs() + wait_ms.value_or(kRateLimitedMs);
    return End::kNone;
  }

  bool Decompress(net::Answer& answer) const {
    const auto coding = answer.Header("Content-Encoding");
    if (!coding || answer.body.empty() || !AsciiEqualsIgnoreCase(*coding, "gzip")) return true;
    auto text = GunzipAtMost(answer.body, static_cast<size_t>(provider_.limits.bytes_max));
    if (text) answer.body = *std::move(text);
    return text.has_value();
  }

  const Question& question_;
  const Provider& provider_;
  Token& token_;
  net::Network& network_;
  const Clock& clock_;
  const std::stop_token& stop_;
  const int64_t deadline_ms_;
  Variables variables_;
  net::Reply reply_;
  Found found_;
  bool was_token_kept_ = false;
};

}  // namespace

Found Ask(const Question& question, Token& token, net::Network& network, const Clock& clock,
          const std::stop_token& stop) {
  return LookUp(question, token, network, clock, stop).Make();
}

}  // namespace comanda::delivery
