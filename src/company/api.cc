#include "company/api.h"

#include <array>

#include "company/companies.h"
#include "company/hours.h"
#include "company/json.h"
#include "company/list.h"
#include "company/store.h"
#include "events/types.h"
#include "http/context.h"
#include "http/list.h"

namespace comanda::company {
namespace {

using auth::Scope;

// The ETag is a hash of the body, so it changes when `currently_open` changes (contract section 6).
http::Response GetCompany(http::Context& ctx) {
  ctx.query().AllowOnly({});
  const Company company =
      ctx.Read([&](db::Snapshot& snapshot) { return Get(snapshot, ctx.company()); });
  const bool open =
      OpenAt(ParseHours(company.business_hours), FindZone(company), ctx.site().clock.Now());
  return http::Data(Render(company, open));
}

http::Response ListPaymentMethods(http::Context& ctx) {
  RequirePaymentMethodParameters(ctx.query());
  return http::AnswerList(ctx, static_cast<size_t>(events::Counter::kOther),
                          http::Cache::kPrivateNoCache, FindPaymentMethods);
}

http::Response ListTables(http::Context& ctx) {
  RequireTableParameters(ctx.query());
  return http::AnswerList(ctx, static_cast<size_t>(events::Counter::kOther),
                          http::Cache::kPrivateNoCache, FindTables);
}

constexpr std::array kRoutes = {
    http::Get("/v1/company", Scope::kCompaniesRead, GetCompany),
    http::Get("/v1/company/payment-methods", Scope::kPaymentMethodsRead, ListPaymentMethods),
    http::Get("/v1/company/tables", Scope::kCompaniesRead, ListTables),
};

}  // namespace

std::span<const http::Route> Routes() { return kRoutes; }

std::vector<http::CompanyName> FindNames(db::Session& session,
                                         const std::optional<std::string>& uuid, size_t limit) {
  const std::vector<Named> found =
      uuid ? SelectNamed(session, *uuid) : SelectOldest(session, limit);
  std::vector<http::CompanyName> names;
  for (const Named& company : found) {
    names.push_back({.company = company.company_id, .uuid = company.uuid, .name = company.name});
  }
  return names;
}

}  // namespace comanda::company
