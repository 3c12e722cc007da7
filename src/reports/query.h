#pragma once

// The query parameters of reports (contract section 11). Every Refusal is invalid_parameter.

#include "base/clock.h"
#include "company/company.h"
#include "http/query.h"
#include "reports/report.h"
#include "reports/reports.h"

namespace comanda::reports {

// `more` names parameters beyond those of all reports.
void RequireParameters(const http::Query& query, std::span<const std::string_view> more = {});

// Which orders count; days are the company's, or those of `timezone`; without dates, today.
Question ReadQuestion(const http::Query& query, const company::Company& company, UtcMs now);

inline constexpr std::string_view kIncludeParameter = "filter[include]";
Lines ReadLines(const http::Query& query);

}  // namespace comanda::reports
