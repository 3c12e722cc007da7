#pragma once

// Cross-origin requests from browsers: off, but for the origins that the settings list (contract
// section 1). The Fetch standard's "CORS protocol".

#include <span>
#include <string>
#include <string_view>

#include "http/message.h"

namespace comanda::http {

// Lets the page's script read the answer, where its origin is listed. `allowed` are the methods of
// the path for an OPTIONS that asks before the real request; empty otherwise.
void AddCors(const Request& request, std::span<const std::string> origins, std::string_view allowed,
             Response& response);

}  // namespace comanda::http
