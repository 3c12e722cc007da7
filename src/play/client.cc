#include "play/client.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/concat.h"
#include "base/problem.h"
#include "json/reader.h"

namespace comanda::play {
namespace {

constexpr int64_t kTimeoutMs = 30'000;
constexpr int64_t kRetryMs = 300;
constexpr int64_t kLookMs = 100;

// What another order may be answered differently: it is closed, changed, gone or there already.
bool ConcernsThisOrder(int status) {
  return status < 300 || status == 404 || status == 409 || status == 412 || status == 422;
}

std::string DetailOf(const Answer& answer) {
  try {
    const json::Document document = json::Document::Parse(answer.body);
    if (const auto detail = document.root().Find("detail")) return std::string(detail->text());
  } catch (const Refusal&) {
  }
  return "the server answers " + std::to_string(answer.status);
}

}  // namespace

Client::Client(std::string socket, std::function<bool()> interrupted, Say say)
    : socket_(std::move(socket)),
      interrupted_(std::move(interrupted)),
      say_(std::move(say)),
      heartbeats_(SystemClock()),
      network_(heartbeats_, metrics_) {}

net::Call Client::CallOf(const Request& request) const {
  net::Call call{.method = request.method,
                 .url = "http://localhost" + request.path,
                 .unix_socket = socket_,
                 .headers = {"Content-Type: application/json"},
                 .body = request.body,
                 .timeout_ms = kTimeoutMs};
  if (!request.key.empty()) call.headers.push_back("Idempotency-Key: " + request.key);
  if (request.occurred_at) {
    call.headers.push_back("Comanda-Occurred-At: " + FormatInstant(*request.occurred_at));
  }
  return call;
}

Answer Client::Send(const Request& request) {
  for (bool is_away = false;; is_away = true) {
    const net::Answer got = network_.Send(CallOf(request));
    if (got.outcome == net::Outcome::kAnswered && got.status < 500) {
      if (is_away) say_("The server answers again.");
      const Answer answer{.status = got.status, .body = got.body};
      if (ConcernsThisOrder(answer.status)) return answer;
      throw Refusal(
          Problem::kValidationFailed,
          Concat({"play works where the demo restaurant lives alone. ", DetailOf(answer)}));
    }
    if (!is_away) {
      say_(got.outcome == net::Outcome::kAnswered
               ? "The server answers " + std::to_string(got.status) + "; trying again."
               : "The server does not answer; waiting for it.");
    }
    if (interrupted_()) throw Interrupted{};
    Wait(kRetryMs);
  }
}

void Client::Wait(int64_t ms) const {
  for (; ms > 0 && !interrupted_(); ms -= kLookMs) {
    std::this_thread::sleep_for(std::chrono::milliseconds(std::min(ms, kLookMs)));
  }
}

}  // namespace comanda::play
