#pragma once

// Cross-origin requests from browsers (the Fetch standard's "CORS protocol"): refused by the
// browser, except for the origins in the setting cors_origins (contract section 1).

#include <span>
#include <string>
#include <string_view>

#include "wire/request.h"
#include "wire/response.h"

namespace comanda::http {

// Adds the header fields that let the page's script read the answer, where its origin is listed.
// `allowed` are the methods of the path, for the answer to OPTIONS (a preflight); empty otherwise.
void AddCors(const wire::Request& request, std::span<const std::string> origins,
             std::string_view allowed, wire::Response& response);

}  // namespace comanda::http
