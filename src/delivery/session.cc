#include "delivery/session.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/concat.h"
#include "base/gzip.h"
#include "base/text.h"
#include "base/version.h"
#include "delivery/credentials.h"
#include "net/backoff.h"

namespace comanda::delivery {
namespace {

constexpr std::string_view kToken = "token";
constexpr int64_t kRateLimitedMsMax = 15 * 60'000;
constexpr int64_t kRateLimitedMs = 30'000;
constexpr int kUnauthorized = 401, kForbidden = 403, kTooManyRequests = 429;
// A call that has less time than this is not begun.
constexpr int64_t kCallMsMin = 50;
constexpr std::string_view kRefusedWords = "the app refuses the credentials";

int64_t NumberAt(const json::Value& root, std::string_view pointer, const Variables& variables) {
  const std::string text = pointer.empty() ? "" : TextAt(root, pointer, variables).value_or("");
  int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return std::max<int64_t>(number, 0);
}

}  // namespace

Session::Session(const Account& account, const std::optional<TokenSource>& source, Token& token,
                 net::Network& network, const Clock& clock, const SessionLimits& limits,
                 std::stop_token stop)
    : account_(account),
      source_(source),
      token_(token),
      network_(network),
      clock_(clock),
      limits_(limits),
      stop_(std::move(stop)),
      deadline_ms_(clock.MonotonicMs() + limits.session_ms),
      variables_(account.credentials) {
  const auto values = account.provider->by_country.find(account.company.country_code);
  if (values == account.provider->by_country.end()) return;
  variables_.insert(values->second.begin(), values->second.end());
}

CallEnd Session::Send(const Make& make, const IsRefusal& is_refusal) {
  CallEnd end = SendOnce(make, is_refusal);
  if (end != CallEnd::kRefused) return end;
  token_ = {};
  if (!std::exchange(was_token_kept_, false)) return end;
  end = SendOnce(make, is_refusal);
  if (end == CallEnd::kRefused) token_ = {};
  return end;
}

CallEnd Session::SendOnce(const Make& make, const IsRefusal& is_refusal) {
  CallEnd end = TakeToken();
  if (end == CallEnd::kAnswered) end = Transfer(make(variables_));
  if (end != CallEnd::kAnswered || !is_refusal || !is_refusal(reply_)) return end;
  return Fail(CallEnd::kRefused, std::string(kRefusedWords));
}

// The kept token while it lasts, else a new one.
CallEnd Session::TakeToken() {
  if (!source_) return CallEnd::kAnswered;
  if (token_.text.empty() || clock_.MonotonicMs() >= token_.renew_at_ms) return GetToken();
  was_token_kept_ = variables_[std::string(kToken)] != token_.text || was_token_kept_;
  variables_[std::string(kToken)] = token_.text;
  return CallEnd::kAnswered;
}

CallEnd Session::GetToken() {
  was_token_kept_ = false;
  const CallEnd end = Transfer(Filled(source_->call, variables_));
  if (end != CallEnd::kAnswered) return end;
  const auto root = reply_.Find("");
  const bool is_good =
      status_ >= 200 && status_ < 300 && root &&
      Holds(source_->call.body_ok, *root, {.variables = variables_, .now = clock_.Now()});
  const auto text = is_good ? TextAt(*root, source_->access, variables_) : std::nullopt;
  if (!text || text->empty() || HasControl(*text)) {
    if (root || (status_ >= 400 && status_ < 500)) {
      return Fail(CallEnd::kRefused, std::string(kRefusedWords));
    }
    return Fail(CallEnd::kFailed, Concat({"no token, status ", status_}));
  }
  Keep(*text, *root);
  return CallEnd::kAnswered;
}

void Session::Keep(const std::string& token, const json::Value& answer) {
  int64_t ttl_s = NumberAt(answer, source_->expires_in, variables_);
  if (const int64_t at_s = NumberAt(answer, source_->expires_at, variables_); at_s > 0) {
    ttl_s = at_s - clock_.Now() / 1'000;
  }
  if (ttl_s <= 0) ttl_s = source_->default_ttl_s;
  const int64_t life_s = std::max(ttl_s - source_->renew_before_s, ttl_s / 2);
  token_ = {.text = token, .renew_at_ms = clock_.MonotonicMs() + life_s * 1'000};
  variables_[std::string(kToken)] = token;
}

CallEnd Session::Transfer(Request request) {
  words_.clear();
  status_ = 0;
  const int64_t left_ms = LeftMs();
  if (left_ms < kCallMsMin || stop_.stop_requested()) {
    return Fail(CallEnd::kTimeout, "no time is left for another call");
  }
  net::Call call{.purpose = net::Purpose::kDeliveryApps,
                 .method = std::move(request.method),
                 .url = std::move(request.url),
                 .authorities = account_.authorities,
                 .allows_address = account_.allows_address,
                 .headers = std::move(request.headers),
                 .body = std::move(request.body),
                 .connect_timeout_ms = std::min(limits_.connect_ms, left_ms),
                 .timeout_ms = std::min(limits_.call_ms, left_ms),
                 .answer_bytes_max = limits_.bytes_max};
  call.headers.push_back(Concat({"User-Agent: Comanda/", kVersion}));
  call.headers.push_back("Accept-Encoding: gzip");
  if (!request.content_type.empty()) {
    call.headers.push_back(Concat({"Content-Type: ", request.content_type}));
  }
  net::Answer answer = network_.Send(std::move(call), stop_);
  status_ = answer.status;
  if (answer.outcome != net::Outcome::kAnswered) {
    const bool is_late = answer.outcome == net::Outcome::kTimeout;
    return Fail(is_late ? CallEnd::kTimeout : CallEnd::kFailed, answer.error);
  }
  if (!Decompress(answer)) {
    return Fail(CallEnd::kFailed, "an answer that is too large once it is decompressed");
  }
  body_ = answer.body;
  reply_ = net::Reply(std::move(answer));
  return JudgeStatus();
}

CallEnd Session::JudgeStatus() {
  if (status_ == kUnauthorized) return Fail(CallEnd::kRefused, std::string(kRefusedWords));
  if (status_ == kForbidden) return Fail(CallEnd::kForbidden, "status 403");
  if (status_ != kTooManyRequests) return CallEnd::kAnswered;
  const auto header = reply_.Header("Retry-After");
  const auto wait_ms =
      header ? net::ReadRetryAfter(*header, clock_.Now(), kRateLimitedMsMax) : std::nullopt;
  not_before_ms_ = clock_.MonotonicMs() + wait_ms.value_or(kRateLimitedMs);
  return Fail(CallEnd::kRateLimited, "status 429");
}

CallEnd Session::Fail(CallEnd end, std::string words) {
  words_ = std::move(words);
  return end;
}

bool Session::Decompress(net::Answer& answer) const {
  const auto coding = answer.Header("Content-Encoding");
  if (!coding || answer.body.empty() || !AsciiEqualsIgnoreCase(*coding, "gzip")) return true;
  auto text = GunzipAtMost(answer.body, limits_.bytes_max);
  if (text) answer.body = *std::move(text);
  return text.has_value();
}

std::string Session::Masked(std::string_view text) const {
  return delivery::Masked(text, *account_.provider, variables_);
}

void Session::Pause(int64_t ms) const {
  std::mutex mutex;
  std::condition_variable_any woken;
  std::unique_lock lock(mutex);
  woken.wait_for(lock, stop_, std::chrono::milliseconds(ms), [] { return false; });
}

}  // namespace comanda::delivery
