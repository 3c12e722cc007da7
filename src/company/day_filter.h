#pragma once

// The query parameter filter[day] (contract sections 7 and 11): how the days of the other filters
// are cut.

#include <string_view>

#include "base/time/zone.h"
#include "company/company.h"
#include "http/query.h"

namespace comanda::company {

inline constexpr std::string_view kDayParameter = "filter[day]";

// The days of that zone: from midnight to midnight (calendar, the default), or from the company's
// day_starts_at of today on (business). Refusal invalid_parameter for another word.
Days ReadDays(const http::Query& query, const Company& company, Zone zone);

}  // namespace comanda::company
