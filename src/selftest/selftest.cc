#include "selftest/selftest.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/problem.h"
#include "selftest/check.h"
#include "selftest/probe.h"

namespace comanda::selftest {
namespace {

struct Subject {
  std::string_view name;
  std::span<const Check> (*checks)();
};

// The order of the run.
constexpr std::array kSubjects = {
    Subject{"The line and the key", LineChecks},
    Subject{"Reading", ReadingChecks},
    Subject{"Creating an order", CreatingChecks},
    Subject{"Items, discounts, payments", MoneyChecks},
    Subject{"Status, events, cancelling", LifeChecks},
    Subject{"Delivery", DeliveryChecks},
    Subject{"Tables", TableChecks},
    Subject{"The kitchen", KitchenChecks},
    Subject{"The menu", MenuChecks},
    Subject{"Keys", KeyChecks},
    Subject{"Webhooks", WebhookChecks},
    Subject{"What must be refused", MistakeChecks},
};

// True if the server authenticates the key.
bool Accepted(const Reply& reply) {
  return reply.status() != 401 && reply.Code() != "address_not_allowed";
}

std::string Missing(auth::ScopeSet needed, auth::ScopeSet held) {
  std::string names;
  for (const auth::ScopeRow& row : auth::kScopes) {
    if (!needed.Has(row.scope) || held.Has(row.scope)) continue;
    if (!names.empty()) names += " and ";
    names += row.name;
  }
  return names;
}

// Why a check cannot be run now; empty if it can.
std::string Obstacle(const Check& check, const Probe& probe) {
  if (probe.settings().interrupted()) return "interrupted";
  if (check.stage == Stage::kServer) return {};
  if (!Accepted(probe.first)) return "the server does not accept the key";
  if (const std::string missing = Missing(check.scopes, probe.scopes()); !missing.empty()) {
    return "the key lacks " + missing;
  }
  switch (check.stage) {
    case Stage::kServer:
    case Stage::kKey:
      return {};
    case Stage::kOrder:
      return probe.take_away.exists() ? "" : "there is no order to do it with";
    case Stage::kDeliveryOrder:
      return probe.delivery.exists() ? "" : "there is no delivery order to do it with";
  }
  return {};
}

// Removes keys: a server may echo what it was sent.
void Redact(std::string& text, const Probe& probe) {
  for (const std::string& key : probe.secrets()) {
    for (size_t at = text.find(key); at != std::string::npos; at = text.find(key, at)) {
      text.replace(at, key.size(), "(the key)");
    }
  }
}

CheckResult Look(const Subject& subject, const Check& check, Probe& probe, Yardstick yardstick) {
  Finding finding(yardstick, check.promise);
  if (std::string obstacle = Obstacle(check, probe); !obstacle.empty()) {
    finding.NotChecked(std::move(obstacle));
  } else {
    check.run(probe, finding);
  }
  CheckResult outcome{.subject = subject.name,
                      .name = check.name,
                      .section = check.section,
                      .words = check.words,
                      .result = finding.result(),
                      .note = finding.note(),
                      .differences = finding.differences()};
  Redact(outcome.note, probe);
  for (Difference& difference : outcome.differences) {
    Redact(difference.what, probe);
    Redact(difference.expected, probe);
    Redact(difference.got, probe);
  }
  return outcome;
}

// Every Comanda serves the description of its API.
Yardstick YardstickFor(Probe& probe) {
  const Reply openapi = probe.Send({.path = "/v1/openapi.json", .with_key = false});
  return openapi.status() == 200 ? Yardstick::kContract : Yardstick::kSpecification;
}

std::vector<std::string> EndpointsNotServed(Probe& probe) {
  // Reading ones, which stand for those that change something beside them.
  constexpr std::array<std::string_view, 8> kAdded = {
      "/v1/events", "/v1/company/tables", "/auth/api-keys", "/v1/openapi.json",
      "/docs",      "/healthz",           "/readyz",        "/problems/not_found"};
  std::vector<std::string> missing;
  for (const std::string_view path : kAdded) {
    if (probe.Get(std::string(path)).status() == 404) missing.push_back("GET " + std::string(path));
  }
  if (probe.deliveries.status() == 404) missing.push_back("GET /v1/webhooks/{id}/deliveries");
  return missing;
}

}  // namespace

size_t Summary::Count(Verdict result) const {
  return static_cast<size_t>(std::ranges::count(outcomes, result, &CheckResult::result));
}

Summary Run(const Settings& settings, net::Network& network,
            const std::function<void(const CheckResult&)>& tell) {
  Probe probe(settings, network);
  probe.first = probe.Get("/v1/company");
  if (probe.first.status() == 0) {
    const std::string why = Shown(probe.first.answer().error);
    const bool is_untrusted = probe.first.answer().outcome == net::Outcome::kTlsUntrusted;
    throw Fault(Fault::Kind::kUnavailable,
                "nothing can be asked at " + settings.url + ": " + why +
                    (is_untrusted ? "; name its authority with --ca or --data" : ""));
  }
  if (Accepted(probe.first)) probe.LearnScopes();

  Summary summary;
  summary.yardstick = YardstickFor(probe);
  for (const Subject& subject : kSubjects) {
    for (const Check& check : subject.checks()) {
      summary.outcomes.push_back(Look(subject, check, probe, summary.yardstick));
      tell(summary.outcomes.back());
    }
  }
  summary.endpoints_not_served = EndpointsNotServed(probe);
  summary.remnants = probe.TidyUp();
  summary.waited_s = probe.waited_s();
  return summary;
}

}  // namespace comanda::selftest
