#include "http/dispatch.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <utility>

#include "auth/gate.h"
#include "base/id.h"
#include "base/log.h"
#include "base/problem.h"
#include "base/text.h"
#include "crypto/hash.h"
#include "wire/coding.h"
#include "http/cors.h"
#include "http/idempotency.h"
#include "wire/problem.h"
#include "http/store.h"

namespace comanda::http {
namespace {

bool IsRead(Method method) {
  return method == Method::kGet || method == Method::kHead || method == Method::kOptions;
}

// Refuses what excludes the one form that there is; lenient otherwise.
void CheckAccept(const Request& request) {
  std::string_view ranges = request.Header("Accept").value_or("*/*");
  if (Trimmed(ranges).empty()) return;
  while (!ranges.empty()) {
    std::string_view range = TakePiece(ranges, ',');
    const std::string type = AsciiLower(TakePiece(range, ';'));
    if (type == "*/*" || type == "application/*" || type == "application/json") return;
  }
  throw Refusal(Problem::kNotAcceptable, "Answers are application/json; Accept must allow that.");
}

void CheckContentType(const Request& request) {
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

// Of two that differ, a proxy may have looked at the one and we at the other.
std::optional<std::string_view> Credential(const Request& request, std::string_view name) {
  std::optional<std::string_view> found;
  for (const auto& [header, value] : request.headers) {
    if (!AsciiEqualsIgnoreCase(header, name)) continue;
    if (found.value_or(value) != value) {
      throw Refusal(Problem::kConflictingCredentials,
                    std::string(name) + " came twice and differs; send it once.");
    }
    found = value;
  }
  return found;
}

// A client that ends its body by closing the connection has sent none, as HTTP counts.
void CheckLengthIsKnown(const Request& request) {
  if (request.local || request.Header("Content-Length") || request.Header("Transfer-Encoding")) {
    return;
  }
  throw Refusal(Problem::kLengthRequired,
                "A JSON object is needed, and Content-Length must say how long it is.");
}

// The path with ids in lower case and an order's public id replaced by its UUID: the same record
// has the same path.
std::string CanonicalPath(const Context& context, const std::vector<std::string>& parameters,
                          const Site& site) {
  constexpr std::string_view kOrder = "/v1/orders/{id}";
  const std::string_view pattern = context.route().pattern;
  std::string path;
  size_t next = 0;
  for (std::string_view rest = pattern; !rest.empty();) {
    const size_t open = std::min(rest.find('{'), rest.size());
    path += rest.substr(0, open);
    rest.remove_prefix(open);
    if (rest.empty()) break;
    rest.remove_prefix(rest.find('}') + 1);
    const std::string& value = parameters[next];
    std::optional<std::string> id = ParseId(value);
    if (!id && next == 0 && pattern.starts_with(kOrder) && site.find_order_uuid) {
      id = site.database.Read(
          [&](db::Snapshot& snapshot) {
            return site.find_order_uuid(snapshot, context.company(), value);
          },
          context.route().readers);
    }
    path += id.value_or(value);
    ++next;
  }
  return path;
}

// Which of several is asked for: a technician must never make a key of the wrong restaurant.
Refusal SayWhichCompany(const std::vector<CompanyName>& companies) {
  std::vector<FieldError> listed;
  for (const CompanyName& company : companies) {
    listed.push_back({company.uuid, FieldCode::kRequired, company.name});
  }
  return Refusal(Problem::kInvalidParameter,
                 "There are several restaurants here: say which one with --company ID.",
                 std::move(listed));
}

// The company that the command line speaks for: the one that X-Company-Id names, or the only one.
auth::Principal LocalPrincipal(const Request& request, const Route& route, Site& site) {
  auth::Principal local;
  local.actor = "local";
  local.scopes = auth::ScopeSet::All();
  if (!route.of_one_company) return local;
  const std::optional<std::string_view> wanted = request.Header("X-Company-Id");
  const std::optional<std::string> id = wanted ? ParseId(*wanted) : std::nullopt;
  if (wanted && !id) throw Refusal(Problem::kInvalidHeader, "The id of a company must be a UUID.");
  const std::vector<CompanyName> companies = site.database.Read(
      [&](db::Snapshot& snapshot) { return site.find_companies(snapshot, id, kFieldErrorsMax); });
  if (companies.empty() && id) {
    throw Refusal(Problem::kNotFound, "There is no company " + *id + " here.");
  }
  if (companies.empty()) {
    throw Refusal(Problem::kNotFound, "There is no company here yet; import one first.");
  }
  if (companies.size() > 1) throw SayWhichCompany(companies);
  local.company = companies.front().company;
  local.company_uuid = companies.front().uuid;
  return local;
}

bool IsWord(std::string_view segment) {
  constexpr size_t kLongestWord = 20;
  return segment.size() <= kLongestWord && std::ranges::all_of(segment, [](char c) {
           return (c >= 'a' && c <= 'z') || c == '-' || c == '.' || c == '_';
         });
}

// "PE-7222853393"
bool IsPublicId(std::string_view segment) {
  constexpr size_t kDigits = 10;
  return segment.size() == 3 + kDigits && segment[2] == '-' &&
         std::ranges::all_of(segment.substr(0, 2), [](char c) { return c >= 'A' && c <= 'Z'; }) &&
         std::ranges::all_of(segment.substr(3), [](char c) { return c >= '0' && c <= '9'; });
}

// The path with a star for each segment that is neither a word nor an id: who puts a key or a phone
// number there must not find it in the log.
std::string PathForLog(std::string_view path) {
  std::string shown;
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::string_view segment = path.substr(0, path.find('/'));
    const bool is_known =
        segment == "v1" || IsWord(segment) || IsPublicId(segment) || ParseId(segment);
    shown += '/';
    shown += is_known ? segment : "*";
    path.remove_prefix(segment.size());
  }
  return shown;
}

}  // namespace

// One request on its way through.
struct Dispatcher::Visit {
  explicit Visit(const Request& asked) : request(asked) {}

  const Request& request;
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
  std::shared_ptr<auth::Admission> admission;  // of a key: under way until the answer is out
  AnswerBudget::Lease lease;                   // of its bytes, as long
  auth::Principal local;                       // where there is no key

  auth::Principal Principal() const { return admission ? admission->principal() : local; }
};

namespace {

// What ends with an answer.
struct Held {
  Held(std::shared_ptr<auth::Admission> key, AnswerBudget::Lease bytes)
      : admission(std::move(key)), lease(std::move(bytes)) {}
  std::shared_ptr<auth::Admission> admission;
  AnswerBudget::Lease lease;
};

}  // namespace

Dispatcher::Dispatcher(Site& site, std::vector<std::span<const Route>> tables)
    : site_(site),
      router_(std::move(tables)),
      durations_(site.metrics, "comanda_http_request_duration_seconds",
                 "Time from a request's head to its answer.",
                 "environment=\"" + std::string(Name(site.mode)) + '"') {
  for (size_t i = 0; i < answers_.size(); ++i) {
    answers_[i] = std::make_unique<metrics::Counter>(
        site.metrics, "comanda_http_requests_total", "Requests answered, by class of status.",
        "environment=\"" + std::string(Name(site.mode)) + "\",class=\"" + std::to_string(i + 2) +
            "xx\"");
  }
}

Response Dispatcher::Handle(const Request& request) {
  Visit visit(request);
  const auto refused = [&](const Refusal& refusal) {
    return wire::ProblemResponse(refusal, site_.options.errors_base, request.path,
                                 request.request_id);
  };
  Response response;
  try {
    response = Answer(visit);
  } catch (const Refusal& refusal) {
    visit.lease.Release();
    response = refused(refusal);
  } catch (const std::exception& failure) {
    log::Error("request failed", {{"request", request.request_id}, {"cause", failure.what()}});
    const Fault::Kind kind = KindOfHandled();
    if (kind == Fault::Kind::kDamaged) site_.database.damaged_rows().Note(failure.what());
    visit.lease.Release();
    response = refused(wire::ToRefusal(kind));
  }
  Decorate(visit, response);
  Note(visit, response);
  response.held = std::make_shared<const Held>(std::move(visit.admission), std::move(visit.lease));
  return response;
}

// The story of every request (contract section 1, Order of checks).
Response Dispatcher::Answer(Visit& visit) {
  const Request& request = visit.request;
  if (request.method == Method::kOptions) return Options(request);

  Router::Match match = router_.Find(request.method, request.path);
  Context context(site_, request, *match.route, std::move(match.parameters));
  Admit(visit, *match.route);
  context.principal_ = visit.Principal();
  context.admission_ = visit.admission.get();
  visit.lease = AnswerBudget::Lease(site_.answer_budget, context.principal_.actor);
  context.lease_ = &visit.lease;
  context.identify_again_ = [&] {
    const std::shared_ptr<const auth::KeyRecord> key = Identify(request);
    if (match.route->scope) auth::Gate::RequireScope(key->scopes, *match.route->scope);
    auth::Principal principal = context.principal_;
    principal.scopes = key->scopes;
    return principal;
  };
  if (match.route->access == Access::kKey) CheckAccept(request);

  if (match.route->reads_body) ReadBody(context);
  context.query_ = Query::Parse(request.query);
  ReadIdempotencyKey(context);

  Response response = AnswerOnce(context);
  if (!context.preference_applied_.empty()) {
    response.headers.emplace_back("Preference-Applied", std::move(context.preference_applied_));
  }
  if (!IsRead(request.method)) {
    visit.lease.Hold(response.Body());  // the answer to a committed write is never refused
    return response;
  }
  Fit(context, response);
  if (!visit.lease.TryHold(response.Body())) throw AnswerBudget::NoRoom();
  return response;
}

// The form of an answer to a read that this client has use for (RFC 9110 sections 12.5.3 and 13).
void Dispatcher::Fit(Context& context, Response& response) {
  if (response.status == 200 && response.etag.empty() && context.route().access == Access::kKey) {
    response.etag = BodyTag(response.Body());
  }
  if (response.status != 200 && response.status != 304) return;
  if (context.HasTwoForms(response)) response.headers.emplace_back("Vary", "Accept-Encoding");
  if (response.status == 304) return;
  if (!response.etag.empty() && (context.HasMatch(response.etag) || context.TakesAnyMatch())) {
    response.status = 304;
    response.body.clear();
    response.shared_body.reset();
  } else if (context.MustCompress(response) && context.TryReserve(2 * response.Body().size())) {
    response = wire::Gzipped(std::move(response));
  }
}

Response Dispatcher::Options(const Request& request) const {
  std::string allowed = router_.Allowed(request.path);
  if (allowed.empty()) static_cast<void>(router_.Find(request.method, request.path));
  Response response;
  response.status = 204;
  response.content_type = {};
  response.headers.emplace_back("Allow", std::move(allowed));
  return response;
}

std::shared_ptr<const auth::KeyRecord> Dispatcher::Identify(const Request& request) const {
  return site_.gate.Identify(
      {Credential(request, "Authorization"), Credential(request, "X-API-Key")},
      request.client_address);
}

// Credentials, then rate, then scope.
void Dispatcher::Admit(Visit& visit, const Route& route) {
  const Request& request = visit.request;
  if (route.access == Access::kOpen) return;
  if (request.local) {
    visit.local = LocalPrincipal(request, route, site_);
    return;
  }
  if (route.access == Access::kLocal) throw Refusal(Problem::kNotFound, "There is no such path.");

  std::shared_ptr<const auth::KeyRecord> key = Identify(request);
  if (request.show_key) request.show_key();
  visit.admission = std::make_shared<auth::Admission>(site_.gate.Admit(std::move(key)));
  if (const auth::RateState& rate = visit.admission->rate; rate.retry_after_s > 0) {
    Refusal refusal(Problem::kRateLimitExceeded, "The key has made too many requests; wait " +
                                                     std::to_string(rate.retry_after_s) +
                                                     " s and go on.");
    refusal.retry_after_s = static_cast<int>(rate.retry_after_s);
    throw refusal;
  }
  if (route.scope) auth::Gate::RequireScope(visit.admission->key().scopes, *route.scope);
}

void Dispatcher::ReadBody(Context& context) const {
  const Request& request = context.request();
  const Route& route = context.route();
  CheckContentType(request);
  std::string text = request.body == nullptr ? "" : request.body->Read(route.body_max);
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    if (!route.body_optional) {
      if (text.empty()) CheckLengthIsKnown(request);
      throw Refusal(Problem::kInvalidJson, "The body is empty; a JSON object is needed.");
    }
    text = "{}";
  }
  context.body_ = std::make_unique<json::Document>(json::Document::Parse(text));
}

// What tells this request from others, where it came under an Idempotency-Key.
void Dispatcher::ReadIdempotencyKey(Context& context) const {
  const Route& route = context.route();
  if (route.replay == Replay::kNone) return;
  std::optional<std::string> key = idempotency::ReadKey(context.request());
  if (!key) {
    if (route.replay != Replay::kRequired) return;
    throw Refusal(Problem::kMissingIdempotencyKey,
                  "Send the header Idempotency-Key: a text of your own, made once per order, and "
                  "the same one when you repeat the request.");
  }
  context.idempotency_key_ = std::move(*key);
  if (context.company() == db::CompanyId()) return;

  std::string& scope = context.idempotency_scope_;
  scope = std::string(Name(context.request().method)) + ' ' +
          CanonicalPath(context, context.parameters_, site_);
  context.fingerprint_ =
      crypto::Sha256Hex(scope + '\n' + context.query().Canonical() + '\n' +
                        (context.body_ ? context.body_->Canonical() : std::string()));
}

// Whether the request came before is looked up by the writer, in the transaction that would do it
// again; here only where that is not reached: what was right then may be wrong today, or the disk
// full.
Response Dispatcher::AnswerOnce(Context& context) const {
  try {
    RequireSpace(context.route());
    return context.route().handler(context);
  } catch (...) {
    if (std::optional<Response> first = context.FirstAnswer()) return *std::move(first);
    throw;
  }
}

// What can wait leaves the rest of the disk to orders and payments. The sandbox has no orders that
// matter.
void Dispatcher::RequireSpace(const Route& route) const {
  const db::Fullness fullness = site_.space.fullness();
  const bool orders_only = fullness == db::Fullness::kOrdersOnly;
  const bool is_sandbox_write = site_.mode == auth::Mode::kTest && !IsRead(route.method);
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

void Dispatcher::Decorate(Visit& visit, Response& response) {
  const bool is_question = visit.request.method == Method::kOptions && response.status == 204;
  AddCors(visit.request, site_.options.cors_origins,
          is_question ? router_.Allowed(visit.request.path) : "", response);
  if (!visit.admission) return;
  if (response.status == 304 || response.costs_nothing) site_.gate.Refund(*visit.admission);
  const auth::RateState& rate = visit.admission->rate;
  if (rate.limit == 0) return;
  response.headers.reserve(response.headers.size() + 3);
  response.headers.emplace_back("RateLimit-Limit", std::to_string(rate.limit));
  response.headers.emplace_back("RateLimit-Remaining", std::to_string(rate.remaining));
  response.headers.emplace_back("RateLimit-Reset", std::to_string(rate.reset_s));
}

// Changes and errors make a line, reads are counted alone: a line per poll wears the flash.
void Dispatcher::Note(const Visit& visit, const Response& response) {
  const int64_t us = std::chrono::duration_cast<std::chrono::microseconds>(
                         std::chrono::steady_clock::now() - visit.begun)
                         .count();
  durations_.ObserveUs(us);
  const int status_class = std::clamp(response.status / 100, 2, 5);
  answers_[static_cast<size_t>(status_class - 2)]->Add();

  const bool is_quiet_read = IsRead(visit.request.method) && response.status < 400;
  if (is_quiet_read || response.status == 429) return;
  const std::string actor = visit.Principal().actor;
  // Clients without a key must not be able to fill the log.
  if (actor.empty() && response.status < 500 &&
      !unauthenticated_lines_.Allows(site_.clock.MonotonicMs())) {
    return;
  }
  log::Write(response.status >= 500 ? log::Level::kError : log::Level::kInfo, "request",
             {{"method", Name(visit.request.method)},
              {"path", PathForLog(visit.request.path)},
              {"status", response.status},
              {"request", visit.request.request_id},
              {"actor", actor},
              {"us", us}});
}

}  // namespace comanda::http
