#pragma once

// The handlers of GET /v1/company, /v1/company/payment-methods and /v1/company/tables
// (specification, Company; contract section 10).

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "db/session.h"
#include "http/context.h"
#include "http/route.h"

namespace comanda::company {

std::span<const http::Route> Routes();

// Finds the company that a request on the control socket names: the one with that `uuid`, or
// without it the oldest ones, at most `limit`, so that the answer can list the choices. http::Site
// refers to it.
std::vector<http::CompanyName> FindNames(db::Session& session,
                                         const std::optional<std::string>& uuid, size_t limit);

}  // namespace comanda::company
