#include "orders/permission.h"

#include <algorithm>

#include "orders/order.h"

namespace comanda::orders {
namespace {

char Capital(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

}  // namespace

bool MayEdit(std::string_view actor, std::string_view source) {
  constexpr std::string_view kApp = "app:";
  if (actor == "local" || actor.starts_with("key:")) return source == kApiSource;
  if (actor == "cloud") return source != kApiSource;
  if (!actor.starts_with(kApp)) return false;
  return source != kApiSource && std::ranges::equal(actor.substr(kApp.size()), source, {}, Capital);
}

}  // namespace comanda::orders
