#pragma once

// The wire form of opening hours: seven lower-case weekdays, each
// {"is_active": true, "hours": [{"open": "HH:MM", "close": "HH:MM"}]} (contract section 10).

#include <string>
#include <string_view>

#include "company/hours.h"
#include "json/reader.h"

namespace comanda::company {

// A missing weekday is closed. Wrong fields are noted in the reader's errors.
Hours ReadHours(json::ObjectReader& week);

// As Company::business_hours keeps it: all seven days, in order.
std::string HoursText(const Hours& hours);
// The stored text back; Fault where it is not what HoursText() made.
Hours ParseHours(std::string_view stored);

}  // namespace comanda::company
