#include "orders/permission.h"

#include <algorithm>

namespace comanda::orders {
namespace {

constexpr std::string_view kCloud = "cloud";

char Capital(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

}  // namespace

bool MayEdit(std::string_view actor, std::string_view source, Origin origin) {
  constexpr std::string_view kApp = "app:";
  if (actor == kCloud || origin == Origin::kCloud) {
    return actor == kCloud && origin == Origin::kCloud;
  }
  if (actor == "local" || actor.starts_with("key:")) return source == kApiSource;
  if (!actor.starts_with(kApp)) return false;
  return source != kApiSource && std::ranges::equal(actor.substr(kApp.size()), source, {}, Capital);
}

bool MayCancel(std::string_view actor, std::string_view source, Origin origin) {
  return actor == kCloud || MayEdit(actor, source, origin);
}

}  // namespace comanda::orders
