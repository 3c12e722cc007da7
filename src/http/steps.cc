#include "http/steps.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/id.h"
#include "base/problem.h"
#include "base/text.h"
#include "crypto/hash.h"
#include "http/compression.h"
#include "http/tags.h"
#include "http/vary.h"
#include "wire/coding.h"

namespace comanda::http {
namespace {

void CheckContentType(const wire::Request& request) {
  const std::string coding = AsciiLower(Trimmed(request.Header("Content-Encoding").value_or("")));
  if (!coding.empty() && coding != "identity") {
    throw Refusal(Problem::kUnsupportedMediaType,
                  "The body must not be compressed; leave Content-Encoding out.");
  }
  std::string_view rest = request.Header("Content-Type").value_or("");
  const std::string type = AsciiLower(TakePiece(rest, ';'));
  const bool is_json = type.empty() || type == "application/json";
  bool is_utf8 = true;
  while (!rest.empty()) {
    const std::string parameter = AsciiLower(TakePiece(rest, ';'));
    if (!parameter.starts_with("charset=")) continue;
    is_utf8 = parameter == "charset=utf-8" || parameter == "charset=\"utf-8\"" ||
              parameter == "charset=utf8";
  }
  if (is_json && is_utf8) return;
  throw Refusal(Problem::kUnsupportedMediaType,
                "The body must be JSON in UTF-8; send Content-Type: application/json.");
}

// Refuses a request without a declared body where one is needed: a client that ends its body by
// closing the connection has sent none (RFC 9112 section 6.3).
void CheckLengthIsKnown(const wire::Request& request) {
  if (request.local || request.Header("Content-Length") || request.Header("Transfer-Encoding")) {
    return;
  }
  throw Refusal(Problem::kLengthRequired,
                "A JSON object is needed, and Content-Length must say how long it is.");
}

// Refuses what can wait where the disk is nearly full, so that the rest of it is left to orders and
// payments. The sandbox has no orders that matter.
void RequireSpace(const Site& site, const wire::Request& request, const Route& route) {
  const db::Fullness fullness = site.space.fullness();
  const bool orders_only = fullness == db::Fullness::kOrdersOnly;
  const bool is_sandbox_write = site.mode == auth::Mode::kTest && !IsRead(request.method);
  const bool waits = (orders_only && (route.space == Space::kCommon || is_sandbox_write)) ||
                     (fullness >= db::Fullness::kTight && route.space == Space::kPlenty);
  if (!waits) return;
  Refusal refusal(Problem::kServiceUnavailable,
                  std::string("The disk of the box is nearly full: ") +
                      (orders_only ? "only orders and payments are written"
                                   : "reports, imports and large updates of the menu wait") +
                      " until there is space again.");
  refusal.retry_after_s = 30;
  throw refusal;
}

// The handler's answer; or the recorded one, where the request was refused before the writer looked
// its key up: what was right the first time may be wrong today, or the disk full.
Response AnswerOnce(Visit& visit) {
  const Route& route = *visit.asked.route;
  try {
    RequireSpace(visit.site, visit.exchange.request, route);
    Context context(visit.site, visit.exchange, visit.asked, visit.caller, visit.memory,
                    visit.lease);
    return route.handler(context);
  } catch (...) {
    if (!visit.memory.IsUnread()) throw;
    std::optional<Response> first = visit.site.database.Read(
        [&](db::Snapshot& snapshot) { return visit.memory.FirstAnswer(visit.site, snapshot); },
        route.readers);
    if (first) return *std::move(first);
    throw;
  }
}

bool IsWord(std::string_view segment) {
  constexpr size_t kLongestWord = 20;
  return segment.size() <= kLongestWord && std::ranges::all_of(segment, [](char c) {
           return (c >= 'a' && c <= 'z') || c == '-' || c == '.' || c == '_';
         });
}

}  // namespace

void Admit(Visit& visit) {
  visit.caller.Admit(visit.site, visit.exchange, *visit.asked.route);
  visit.lease = AnswerBudget::Lease(visit.site.answer_budget, visit.caller.principal().actor);
}

void CheckAccept(Visit& visit) {
  if (visit.asked.route->access != Access::kKey) return;
  std::string_view ranges = visit.exchange.request.Header("Accept").value_or("*/*");
  if (Trimmed(ranges).empty()) return;
  while (!ranges.empty()) {
    std::string_view range = TakePiece(ranges, ',');
    const std::string type = AsciiLower(TakePiece(range, ';'));
    if (type == "*/*" || type == "application/*" || type == "application/json") return;
  }
  throw Refusal(Problem::kNotAcceptable, "Answers are application/json; Accept must allow that.");
}

void ReadBody(Visit& visit) {
  const Route& route = *visit.asked.route;
  if (!route.reads_body) return;
  CheckContentType(visit.exchange.request);
  std::string text = visit.exchange.ReadBody(route.body_max);
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    if (!route.body_optional) {
      if (text.empty()) CheckLengthIsKnown(visit.exchange.request);
      throw Refusal(Problem::kInvalidJson, "The body is empty; a JSON object is needed.");
    }
    text = "{}";
  }
  text.shrink_to_fit();  // it may wait for its turn, and has grown by doubling
  visit.asked.body_lease = visit.site.body_budget.Wait(text.size());
  visit.asked.body = std::make_unique<json::Document>(json::Document::Parse(text));
}

void ReadQuery(Visit& visit) { visit.asked.query = Query::Parse(visit.exchange.request.query); }

void Remember(Visit& visit) {
  const Asked& asked = visit.asked;
  if (asked.route->replay == Replay::kNone) return;
  std::optional<std::string> key = idempotency::ReadKey(visit.exchange.request);
  if (!key) {
    if (asked.route->replay != Replay::kRequired) return;
    throw Refusal(Problem::kMissingIdempotencyKey,
                  "Send the header Idempotency-Key: a text of your own, made once per order, and "
                  "the same one when you repeat the request.");
  }
  idempotency::Claim claim{.company = visit.caller.principal().company, .key = *std::move(key)};
  const bool is_of_company = claim.company != db::CompanyId();
  if (is_of_company) {
    claim.scope = idempotency::ScopeOf(visit.site, claim.company, visit.exchange.request.method,
                                       *asked.route, asked.parameters);
    claim.fingerprint = crypto::Sha256Hex(claim.scope + '\n' + asked.query.Canonical() + '\n' +
                                          (asked.body ? asked.body->Canonical() : std::string()));
  }
  visit.memory = idempotency::Memory(std::move(claim), asked.route->find_first);
}

void Answer(Visit& visit) {
  Response made = AnswerOnce(visit);
  visit.costs_nothing = made.costs_nothing;
  // The handler itself has added some to the exchange (Context::AwaitChange).
  std::vector<std::pair<std::string, std::string>> added =
      std::exchange(visit.exchange.response.headers, {});
  visit.exchange.response = std::move(made);
  std::ranges::move(added, std::back_inserter(visit.exchange.response.headers));
}

void Condition(Visit& visit) {
  const wire::Request& request = visit.exchange.request;
  wire::Response& response = visit.exchange.response;
  if (!IsRead(request.method)) return;
  const Route& route = *visit.asked.route;
  if (response.status == 200 && response.etag.empty() && route.access == Access::kKey) {
    response.etag = BodyTag(response.Body());
  }
  if (response.status != 200 && response.status != 304) return;
  if (HasTwoForms(route, response)) AddVary(response, "Accept-Encoding");
  if (response.status == 304 || response.etag.empty()) return;
  if (!NamesTag(request, response.etag) && !NamesAnyTag(request)) return;
  response.status = 304;
  response.body.clear();
  response.shared_body.reset();
}

void Compress(Visit& visit) {
  const wire::Request& request = visit.exchange.request;
  wire::Response& response = visit.exchange.response;
  if (!IsRead(request.method) || response.status != 200) return;
  if (!MustCompress(request, *visit.asked.route, response)) return;
  if (visit.lease.TryReserve(2 * response.Body().size())) wire::Compress(response);
}

void Charge(Visit& visit) {
  const std::string& body = visit.exchange.response.Body();
  if (!IsRead(visit.exchange.request.method)) {
    visit.lease.Hold(body);
  } else if (!visit.lease.TryHold(body)) {
    throw AnswerBudget::NoRoom();
  }
}

void ShowRate(Visit& visit) {
  auth::Permit* permit = visit.caller.permit().get();
  if (permit == nullptr) return;
  wire::Response& response = visit.exchange.response;
  if (response.status == 304 || visit.costs_nothing) visit.site.gate.Refund(*permit);
  const auth::RateState& rate = permit->rate;
  if (rate.limit == 0) return;
  response.headers.reserve(response.headers.size() + 3);
  response.headers.emplace_back("RateLimit-Limit", std::to_string(rate.limit));
  response.headers.emplace_back("RateLimit-Remaining", std::to_string(rate.remaining));
  response.headers.emplace_back("RateLimit-Reset", std::to_string(rate.reset_s));
}

std::string PathForLog(const Visit& visit) {
  const PublicIds* ids = visit.asked.route == nullptr ? nullptr : visit.asked.route->public_ids;
  std::string shown;
  for (std::string_view path = visit.exchange.request.path; !path.empty();) {
    path.remove_prefix(1);  // the slash
    const std::string_view segment = path.substr(0, path.find('/'));
    const bool is_shown = segment == "v1" || IsWord(segment) || ParseId(segment) ||
                          (ids != nullptr && ids->is_one(segment));
    shown += '/';
    shown += is_shown ? segment : "*";
    path.remove_prefix(segment.size());
  }
  return shown;
}

}  // namespace comanda::http
