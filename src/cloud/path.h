#pragma once

// Paths of requests to the cloud. Its ids are any text.

#include <string>
#include <string_view>

namespace comanda::cloud {

// The text with everything but unreserved characters percent-encoded (RFC 3986 section 2.3), for
// one segment of a path or one value of a query.
std::string Encoded(std::string_view text);

// "/v1/orders/<id>", for the cloud's id of the order.
std::string OrderPath(std::string_view cloud_id);

}  // namespace comanda::cloud
