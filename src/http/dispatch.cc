#include "http/dispatch.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "http/cors.h"
#include "http/steps.h"
#include "wire/problem.h"

namespace comanda::http {
namespace {

// What is released when the answer was sent: wire::Response::held.
struct Held {
  Held(std::shared_ptr<auth::Permit> of_key, AnswerBudget::Lease bytes)
      : permit(std::move(of_key)), lease(std::move(bytes)) {}
  std::shared_ptr<auth::Permit> permit;
  AnswerBudget::Lease lease;
};

// What a browser asks for by itself beside any page. None of it exists; that says nothing about a
// client.
bool BrowsersAskFor(std::string_view path) {
  return path == "/favicon.ico" || path == "/robots.txt" || path.starts_with("/apple-touch-icon");
}

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

void Dispatcher::Handle(wire::Exchange& exchange) {
  Visit visit(site_, exchange);
  try {
    Run(visit);
  } catch (const Refusal& refusal) {
    Refuse(visit, refusal);
  } catch (const std::exception& failure) {
    const Fault::Kind kind = KindOfHandled();
    if (kind != Fault::Kind::kDiskReadOnly) {  // which the database has said
      log::Error("request failed",
                 {{"request", exchange.request.request_id}, {"cause", failure.what()}});
    }
    if (kind == Fault::Kind::kDamaged) site_.database.damaged_rows().Note(failure.what());
    Refuse(visit, wire::ToRefusal(kind));
  }
  Finish(visit);
}

void Dispatcher::Run(Visit& visit) const {
  const wire::Request& request = visit.exchange.request;
  if (request.method == Method::kOptions) return AnswerOptions(visit.exchange);
  Router::Match match = router_.Find(request.method, request.path);
  visit.asked.route = match.route;
  visit.asked.parameters = std::move(match.parameters);
  for (const Step step : kSteps) step(visit);
}

void Dispatcher::AnswerOptions(wire::Exchange& exchange) const {
  const wire::Request& request = exchange.request;
  std::string allowed = router_.Allowed(request.path);
  if (allowed.empty()) static_cast<void>(router_.Find(request.method, request.path));  // throws
  exchange.response.status = 204;
  exchange.response.content_type = {};
  exchange.response.headers.emplace_back("Allow", std::move(allowed));
}

void Dispatcher::Refuse(Visit& visit, const Refusal& refusal) {
  const wire::Request& request = visit.exchange.request;
  visit.lease.Release();
  visit.costs_nothing = false;
  visit.exchange.response = wire::ProblemResponse(refusal, visit.site.options.errors_base,
                                                  request.path, request.request_id);
}

// What every answer gets, those to refused requests included.
void Dispatcher::Finish(Visit& visit) {
  const wire::Request& request = visit.exchange.request;
  wire::Response& response = visit.exchange.response;
  if (const std::span<const std::string> origins = site_.options.cors_origins; !origins.empty()) {
    const bool is_preflight = request.method == Method::kOptions && response.status == 204;
    AddCors(request, origins, is_preflight ? router_.Allowed(request.path) : "", response);
  }
  ShowRate(visit);
  NoteLooker(visit);
  Note(visit);
  response.held = std::make_shared<const Held>(visit.caller.permit(), std::move(visit.lease));
}

void Dispatcher::NoteLooker(const Visit& visit) {
  const Route* route = visit.asked.route;
  const int status = visit.exchange.response.status;
  if (route == nullptr || !route->shows_orders || (status != 200 && status != 304)) return;
  if (visit.exchange.request.local) return;
  site_.lookers.Note(visit.caller.principal().company, site_.clock.MonotonicMs());
}

// Counts the request, and logs writes and errors: a line for each read would wear the flash.
void Dispatcher::Note(const Visit& visit) {
  const wire::Request& request = visit.exchange.request;
  const int status = visit.exchange.response.status;
  const int64_t us = std::chrono::duration_cast<std::chrono::microseconds>(
                         std::chrono::steady_clock::now() - visit.begun)
                         .count();
  durations_.ObserveUs(us);
  const int status_class = std::clamp(status / 100, 2, 5);
  answers_[static_cast<size_t>(status_class - 2)]->Add();

  const bool is_quiet_read =
      IsRead(request.method) && (status < 400 || (status == 404 && BrowsersAskFor(request.path)));
  if (is_quiet_read || status == 429) return;
  const std::string& actor = visit.caller.principal().actor;
  // Clients without a key must not be able to fill the log.
  if (actor.empty() && status < 500 && !unauthenticated_lines_.Allows(site_.clock.MonotonicMs())) {
    return;
  }
  log::Write(status >= 500 ? log::Level::kError : log::Level::kInfo, "request",
             {{"method", Name(request.method)},
              {"path", PathForLog(visit)},
              {"status", status},
              {"request", request.request_id},
              {"actor", actor},
              {"us", us}});
}

}  // namespace comanda::http
