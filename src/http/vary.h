#pragma once

#include <string_view>

#include "wire/response.h"

namespace comanda::http {

// Adds a name to the response's one Vary field (RFC 9110, section 12.5.5).
void AddVary(wire::Response& response, std::string_view request_field);

}  // namespace comanda::http
