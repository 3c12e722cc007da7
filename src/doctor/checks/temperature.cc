#include <algorithm>

#include "doctor/checks.h"

namespace comanda::doctor {
namespace {

// In thousandths of a degree Celsius, as the kernel has them.
constexpr int64_t kSaneMin = -40'000;
constexpr int64_t kSaneMax = 150'000;
constexpr int64_t kHot = 80'000;  // where a zone names no threshold of its own
constexpr int64_t kNearCritical = 5'000;

struct Zone {
  int64_t temperature;
  int64_t hot;       // the machine slows down from here on
  int64_t critical;  // and stops here
};

std::optional<int64_t> Sane(const Machine& machine, const std::string& path) {
  const auto value = machine.Number(path);
  return value && *value >= kSaneMin && *value <= kSaneMax ? value : std::nullopt;
}

std::optional<Zone> ReadZone(const Machine& machine, const std::string& directory) {
  const auto temperature = Sane(machine, directory + "temp");
  if (!temperature) return std::nullopt;
  Zone zone{.temperature = *temperature, .hot = kHot, .critical = kSaneMax};
  for (int trip = 0; trip < 16; ++trip) {
    const std::string prefix = directory + "trip_point_" + std::to_string(trip);
    const std::string type = machine.Line(prefix + "_type");
    const auto at = Sane(machine, prefix + "_temp");
    if (!at || *at <= 0) continue;
    if (type == "passive") zone.hot = std::max(kHot, *at);
    if (type == "critical" || type == "hot") zone.critical = std::min(zone.critical, *at);
  }
  return zone;
}

}  // namespace

Findings CheckTemperature(const Box& box) {
  std::optional<Zone> worst;
  for (const std::string& name : box.machine.List("/sys/class/thermal")) {
    if (!name.starts_with("thermal_zone")) continue;
    const auto zone = ReadZone(box.machine, "/sys/class/thermal/" + name + "/");
    if (zone &&
        (!worst || zone->critical - zone->temperature < worst->critical - worst->temperature)) {
      worst = zone;
    }
  }
  if (!worst) return {Well("This machine does not report its temperature.")};
  const std::string text = "The machine has " + std::to_string(worst->temperature / 1000) + " °C.";
  constexpr std::string_view kCommand =
      "grep . /sys/class/thermal/thermal_zone*/temp     # free its vents, move it from the oven";
  if (worst->temperature >= worst->critical - kNearCritical) {
    return {Broken(text,
                   "It switches itself off at " + std::to_string(worst->critical / 1000) + " °C.",
                   kCommand)};
  }
  if (worst->temperature >= worst->hot) {
    return {Warning(text, "It slows down, and heat wears out disk and board.", kCommand)};
  }
  return {Well(text)};
}

}  // namespace comanda::doctor
