#include "orders/permission.h"

#include "base/text.h"

namespace comanda::orders {
namespace {

constexpr std::string_view kCloud = "cloud";

}  // namespace

bool MayEdit(std::string_view actor, std::string_view source, Origin origin) {
  constexpr std::string_view kApp = "app:";
  if (actor == kCloud || origin == Origin::kCloud) {
    return actor == kCloud && origin == Origin::kCloud;
  }
  if (actor == "local" || actor.starts_with("key:")) return source == kApiSource;
  if (!actor.starts_with(kApp)) return false;
  return source != kApiSource && AsciiUpper(actor.substr(kApp.size())) == source;
}

bool MayCancel(std::string_view actor, std::string_view source, Origin origin) {
  return actor == kCloud || MayEdit(actor, source, origin);
}

}  // namespace comanda::orders
