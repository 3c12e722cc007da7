#include <array>

#include "base/time/clock.h"
#include "base/id.h"
#include "selftest/check.h"

namespace comanda::selftest {
namespace {

using auth::Scope;

constexpr std::string_view kTables = "/v1/company/tables";
constexpr std::array<std::string_view, 4> kTableFields = {"id", "name", "area", "active"};

void ListsTables(Probe& probe, Finding& finding) {
  const Reply list = probe.Get(std::string(kTables) + "?per_page=100");
  if (!finding.Status(list, 200, "GET " + std::string(kTables)) || !finding.List(list)) return;
  for (const json::Value& table : list.Items("data")) {
    if (!finding.Members(table, kTableFields, "a table")) return;
    if (Shown(Find(table, "active")) == "true") probe.table_id = TextAt(table, "id");
  }
  if (list.Items("data").empty()) finding.NotChecked("the list is empty");
  finding.Status(probe.Get(std::string(kTables) + "?sort=-name"), 200, "?sort=-name");
  finding.Problem(probe.Get(std::string(kTables) + "?sort=area"), 400, "invalid_parameter",
                  "?sort=area");
}

void OpensATable(Probe& probe, Finding& finding) {
  if (probe.table_id.empty()) return finding.NotChecked("no table is known");
  const TestOrder order = probe.Create(Filled(
      R"({"service_type":"TABLE","table_id":"$","order_title":"SELFTEST"})", {probe.table_id}));
  if (!finding.Status(order.created, 201)) return;
  finding.Text(order.created, "data.service_type", "TABLE");
  finding.Text(order.created, "data.table_id", probe.table_id);
  finding.Text(order.created, "data.table.id", probe.table_id);
  finding.Set(order.created, "data.table.name");
}

Reply PostOrder(Probe& probe, std::string_view service_type, const std::string& table) {
  return probe.Send(
      {.method = "POST",
       .path = "/v1/orders",
       .body = Filled(R"({"service_type":"$","table_id":"$"})", {std::string(service_type), table}),
       .headers = {"Idempotency-Key: " + probe.NewReference()}});
}

void RefusesUnknownTables(Probe& probe, Finding& finding) {
  finding.Invalid(PostOrder(probe, "TABLE", NewId(SystemClock().Now())), "table_id", "not_found");
}

void RefusesTablesElsewhere(Probe& probe, Finding& finding) {
  const std::string table = probe.table_id.empty() ? NewId(SystemClock().Now()) : probe.table_id;
  finding.Invalid(PostOrder(probe, "TAKEAWAY", table), "table_id", "not_allowed");
}

constexpr std::array kChecks = {
    Check{"Tables are listed with their areas", "10",
          "GET /v1/company/tables: id, name, area, active; sort name", Stage::kKey,
          Needs(Scope::kCompaniesRead), ListsTables, Promise::kContract},
    Check{"An order is opened at a table", "7", "table_id is optional, only for TABLE", Stage::kKey,
          Needs(Scope::kOrdersWrite), OpensATable},
    Check{"A table that does not exist is refused", "7", "table_id must exist", Stage::kKey,
          Needs(Scope::kOrdersWrite), RefusesUnknownTables},
    Check{"Only an order of a table has one", "7", "table_id only for TABLE", Stage::kKey,
          Needs(Scope::kOrdersWrite), RefusesTablesElsewhere},
};

}  // namespace

std::span<const Check> TableChecks() { return kChecks; }

}  // namespace comanda::selftest
