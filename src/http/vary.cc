#include "http/vary.h"

#include <algorithm>
#include <string>

namespace comanda::http {

void AddVary(wire::Response& response, std::string_view request_field) {
  const auto vary =
      std::ranges::find(response.headers, "Vary", [](const auto& header) { return header.first; });
  if (vary == response.headers.end()) {
    response.headers.emplace_back("Vary", request_field);
  } else {
    vary->second += ", " + std::string(request_field);
  }
}

}  // namespace comanda::http
