#pragma once

// The company as JSON (contract section 10). Opening hours are an object with seven lower-case
// weekdays, each {"is_active": true, "hours": [{"open": "HH:MM", "close": "HH:MM"}]}.

#include <optional>
#include <string>
#include <string_view>

#include "company/company.h"
#include "company/hours.h"
#include "json/reader.h"

namespace comanda::company {

// A time of day of a row; nothing if malformed. That of another system may have seconds, which are
// cut.
std::optional<int> TimeOfDayIn(const json::ObjectReader& row, std::string_view text);

// Adds invalid fields to the reader's errors. A missing weekday is closed.
Hours ReadHours(json::ObjectReader& week);

// The form in which Company::business_hours is stored: all seven days, in order.
std::string HoursText(const Hours& hours);
// The inverse of HoursText(). Throws Fault for any other text.
Hours ParseHours(std::string_view stored);

// The records as answers show them.
std::string Render(const Company& company, bool currently_open);
std::string Render(const PaymentMethod& method);
std::string Render(const Table& table);

}  // namespace comanda::company
