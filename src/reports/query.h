#pragma once

// The query parameters of reports (contract section 11). Functions throw
// Refusal(kInvalidParameter).

#include "base/time/clock.h"
#include "company/company.h"
#include "http/query.h"
#include "reports/report.h"
#include "reports/reports.h"

namespace comanda::reports {

// Throws for an unknown parameter. `more` are those that only this report has.
void RequireParameters(const http::Query& query, std::span<const std::string_view> more = {});

// The orders that the query selects. Days are local to the company, or to the parameter `timezone`,
// and cut as filter[day] says. Without dates the report covers today.
OrderFilter ReadOrderFilter(const http::Query& query, const company::Company& company, UtcMs now);

// Which date of a payment counts, in the two reports on payments.
inline constexpr std::string_view kByParameter = "filter[by]";
DatedBy ReadDatedBy(const http::Query& query);

// Selects the lines of /products-sold.
inline constexpr std::string_view kIncludeParameter = "filter[include]";
Lines ReadLines(const http::Query& query);

}  // namespace comanda::reports
