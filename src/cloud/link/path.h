#pragma once

// Paths of requests to the cloud, whose ids are any text.

#include <string>
#include <string_view>

namespace comanda::cloud {

// "/v1/orders/<id>", for the cloud's id of the order.
std::string OrderPath(std::string_view cloud_id);

// "&per_page=100" of a list; empty for a cloud that takes none (Features::per_page).
std::string PerPage(int64_t rows);

}  // namespace comanda::cloud
