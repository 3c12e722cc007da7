#pragma once

// Splits the body of a list into the texts of its rows.

#include <string>
#include <string_view>
#include <vector>

namespace comanda::testing {

// The objects in `data`. Their strings must not contain braces.
inline std::vector<std::string> RowsIn(std::string_view body) {
  std::vector<std::string> rows;
  body.remove_prefix(body.find('[') + 1);
  while (!body.empty() && body.front() != ']') {
    size_t end = 0;
    int depth = 0;
    do {
      if (body[end] == '{') ++depth;
      if (body[end] == '}') --depth;
      ++end;
    } while (depth > 0 && end < body.size());
    rows.emplace_back(body.substr(0, end));
    body.remove_prefix(end);
    if (!body.empty() && body.front() == ',') body.remove_prefix(1);
  }
  return rows;
}

}  // namespace comanda::testing
