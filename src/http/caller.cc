#include "http/caller.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/id.h"
#include "base/problem.h"
#include "base/text.h"

namespace comanda::http {
namespace {

// The credential of that header. Refuses two that differ: a proxy may have checked the other one.
std::optional<std::string_view> Credential(const wire::Request& request, std::string_view name) {
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

std::shared_ptr<const auth::KeyRecord> Identify(Site& site, const wire::Request& request) {
  return site.gate.Identify(
      {Credential(request, "Authorization"), Credential(request, "X-API-Key")},
      request.client_address);
}

[[noreturn]] void RefuseRate(int64_t wait_s) {
  Refusal refusal(Problem::kRateLimitExceeded, "The key has made too many requests; wait " +
                                                   std::to_string(wait_s) + " s and go on.");
  refusal.retry_after_s = static_cast<int>(wait_s);
  throw refusal;
}

// The refusal where a command names no company and there are several: a technician must never make
// a key for the wrong restaurant.
Refusal SayWhichCompany(const std::vector<CompanyName>& companies) {
  std::vector<FieldError> listed;
  for (const CompanyName& company : companies) {
    listed.push_back({company.uuid, FieldCode::kRequired, company.name});
  }
  return Refusal(Problem::kInvalidParameter,
                 "There are several restaurants here: say which one with --company ID.",
                 std::move(listed));
}

// The command line acts for the company that X-Company-Id names, or for the only one.
auth::Principal LocalPrincipal(const wire::Request& request, const Route& route, Site& site) {
  auth::Principal local;
  local.actor = "local";
  local.name = "local";
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

}  // namespace

void Caller::Admit(Site& site, wire::Exchange& exchange, const Route& route) {
  const wire::Request& request = exchange.request;
  if (route.access == Access::kOpen) return;
  if (request.local) {
    principal_ = LocalPrincipal(request, route, site);
    return;
  }
  if (route.access == Access::kLocal) throw Refusal(Problem::kNotFound, "There is no such path.");

  std::shared_ptr<const auth::KeyRecord> key = Identify(site, request);
  exchange.Authenticate();
  permit_ = std::make_shared<auth::Permit>(site.gate.Admit(std::move(key)));
  principal_ = permit_->principal();
  if (permit_->rate.retry_after_s > 0) RefuseRate(permit_->rate.retry_after_s);
  if (route.scope) auth::Gate::RequireScope(principal_.scopes, *route.scope);
}

void Caller::Renew(Site& site, const wire::Request& request, const Route& route) {
  if (!permit_) return;
  const std::shared_ptr<const auth::KeyRecord> key = Identify(site, request);
  if (route.scope) auth::Gate::RequireScope(key->scopes, *route.scope);
  principal_.scopes = key->scopes;
}

bool Caller::KeyHasChanged(const Site& site) const {
  if (!permit_) return false;
  const auth::KeyRecord& key = permit_->key();
  return site.gate.keys().Find(key.hash).get() != &key;
}

}  // namespace comanda::http
