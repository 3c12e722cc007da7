#include "menu/slug.h"

#include "base/text.h"

namespace comanda::menu {

std::string Slug(std::string_view name) {
  std::string slug;
  bool gap = false;
  for (const char c : Folded(name)) {
    const bool keep = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (keep && gap && !slug.empty()) slug += '-';
    if (keep) slug += c;
    gap = !keep;
  }
  return slug.empty() ? "-" : slug;
}

}  // namespace comanda::menu
