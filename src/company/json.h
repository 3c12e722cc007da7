#pragma once

// The wire form of the company (contract section 10). Opening hours are seven lower-case weekdays,
// each {"is_active": true, "hours": [{"open": "HH:MM", "close": "HH:MM"}]}.

#include <string>
#include <string_view>

#include "company/company.h"
#include "company/hours.h"
#include "json/reader.h"

namespace comanda::company {

// A missing weekday is closed. Wrong fields are noted in the reader's errors.
Hours ReadHours(json::ObjectReader& week);

// As Company::business_hours keeps it: all seven days, in order.
std::string HoursText(const Hours& hours);
// The stored text back; Fault where it is not what HoursText() made.
Hours ParseHours(std::string_view stored);

// The records.
std::string Render(const Company& company, bool currently_open);
std::string Render(const PaymentMethod& method);

}  // namespace comanda::company
