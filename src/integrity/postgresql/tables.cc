#include "integrity/tables.h"

namespace comanda::integrity {

std::vector<std::string> PartsToCheck(const db::Database&, const Clock&) { return {}; }

Findings CheckTable(const db::Database&, const Clock&, const std::string&, std::function<bool()>) {
  return {};
}

}  // namespace comanda::integrity
