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
const std::string kRefusedWords = "the app refuses the credentials";

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

CallResult Session::Send(const Make& make, const IsRefusal& is_refusal) {
  CallResult result = SendOnce(make, is_refusal);
  if (result.end == CallEnd::kRefused) {
    token_ = {};
    if (std::exchange(was_token_kept_, false)) result = SendOnce(make, is_refusal);
    if (result.end == CallEnd::kRefused) token_ = {};
  }
  if (result.words.empty() && !result.IsSuccess()) {
    result.words = Concat({"status ", result.status, " ", result.body()});
  }
  // Masked before they are cut, which could leave a part of a secret.
  result.words = net::Shown(Masked(result.words));
  return result;
}

CallResult Session::SendOnce(const Make& make, const IsRefusal& is_refusal) {
  if (auto failed = FindToken()) return *std::move(failed);
  CallResult result = Transfer(make(variables_));
  if (result.end != CallEnd::kAnswered || !is_refusal || !is_refusal(result.reply)) return result;
  result.end = CallEnd::kRefused;
  result.words = kRefusedWords;
  return result;
}

// The kept token while it lasts, else a new one.
std::optional<CallResult> Session::FindToken() {
  if (!source_) return std::nullopt;
  if (token_.text.empty() || clock_.MonotonicMs() >= token_.renew_at_ms) return GetToken();
  was_token_kept_ = variables_[std::string(kToken)] != token_.text || was_token_kept_;
  variables_[std::string(kToken)] = token_.text;
  return std::nullopt;
}

std::optional<CallResult> Session::GetToken() {
  was_token_kept_ = false;
  CallResult result = Transfer(Filled(source_->call, variables_));
  if (result.end != CallEnd::kAnswered) return result;
  const auto root = result.reply.Find("");
  const bool is_good =
      result.IsSuccess() && root &&
      Holds(source_->call.body_ok, *root, {.variables = variables_, .now = clock_.Now()});
  const auto text = is_good ? TextAt(*root, source_->access, variables_) : std::nullopt;
  if (text && !text->empty() && !HasControl(*text)) {
    Keep(*text, *root);
    return std::nullopt;
  }
  const bool is_refused = root || (result.status >= 400 && result.status < 500);
  result.end = is_refused ? CallEnd::kRefused : CallEnd::kFailed;
  result.words = is_refused ? kRefusedWords : Concat({"no token, status ", result.status});
  return result;
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

CallResult Session::Transfer(Request request) const {
  const int64_t left_ms = LeftMs();
  if (left_ms < kCallMsMin || stop_.stop_requested()) {
    return {.end = CallEnd::kTimeout, .words = "no time is left for another call"};
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
  CallResult result{.status = answer.status};
  if (answer.outcome != net::Outcome::kAnswered) {
    const bool is_late = answer.outcome == net::Outcome::kTimeout;
    result.end = is_late ? CallEnd::kTimeout : CallEnd::kFailed;
    result.words = std::move(answer.error);
    return result;
  }
  if (!Decompress(answer)) {
    result.end = CallEnd::kFailed;
    result.words = "an answer that is too large once it is decompressed";
    return result;
  }
  result.reply = net::Reply(std::move(answer));
  JudgeStatus(result);
  return result;
}

void Session::JudgeStatus(CallResult& result) const {
  if (result.status == kUnauthorized) {
    result.end = CallEnd::kRefused;
    result.words = kRefusedWords;
  } else if (result.status == kForbidden) {
    result.end = CallEnd::kForbidden;
    result.words = "status 403";
  } else if (result.status == kTooManyRequests) {
    const auto header = result.reply.Header("Retry-After");
    const auto wait_ms =
        header ? net::ReadRetryAfter(*header, clock_.Now(), kRateLimitedMsMax) : std::nullopt;
    result.end = CallEnd::kRateLimited;
    result.words = "status 429";
    result.not_before_ms = clock_.MonotonicMs() + wait_ms.value_or(kRateLimitedMs);
  }
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
