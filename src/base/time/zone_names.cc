#include "base/time/zone_names.h"

#include <algorithm>
#include <string>

#include "base/nearest.h"
#include "base/text.h"
#include "base/time/zone_name_table.h"

namespace comanda {
namespace {

static_assert(std::ranges::is_sorted(kZones));
static_assert(std::ranges::is_sorted(kZoneLinks, {}, &ZoneLink::name));
static_assert(std::ranges::all_of(kZoneLinks, [](const ZoneLink& link) {
  return std::ranges::binary_search(kZones, link.target);
}));

}  // namespace

std::string_view CanonicalZoneName(std::string_view name) {
  const auto found = std::ranges::lower_bound(kZoneLinks, name, {}, &ZoneLink::name);
  return found != kZoneLinks.end() && found->name == name ? found->target : name;
}

std::vector<std::string_view> OtherZoneNames(std::string_view name) {
  const std::string_view canonical = CanonicalZoneName(name);
  std::vector<std::string_view> others;
  if (canonical != name) others.push_back(canonical);
  for (const ZoneLink& link : kZoneLinks) {
    if (link.target == canonical && link.name != name) others.push_back(link.name);
  }
  return others;
}

bool IsKnownZoneName(std::string_view name) {
  return std::ranges::binary_search(kZones, CanonicalZoneName(name));
}

std::string_view NearestZoneName(std::string_view text) {
  std::vector<std::string_view> names(kZones.begin(), kZones.end());
  for (const ZoneLink& link : kZoneLinks) names.push_back(link.name);
  std::string wanted = AsciiLower(text);
  std::ranges::replace(wanted, ' ', '_');
  // A city alone, in any case: "Lima", "buenos aires".
  for (const std::string_view name : names) {
    const std::string lower = AsciiLower(name);
    if (lower == wanted || lower.ends_with("/" + wanted)) return CanonicalZoneName(name);
  }
  return CanonicalZoneName(Nearest(text, names));
}

}  // namespace comanda
