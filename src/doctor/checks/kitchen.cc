#include "doctor/checks.h"

namespace comanda::doctor {

Findings CheckKitchen(const Box& box) {
  constexpr double kHourS = 60 * 60;
  const auto unwatched_s = Metric(box, "comanda_kitchen_unwatched_seconds");
  const auto muted = Metric(box, "comanda_kitchen_displays_muted");
  if (!unwatched_s || !muted) return {Well("Not asked: no server answers.")};
  Findings findings;
  if (*unwatched_s >= kHourS) {
    findings.push_back(Warning(
        "A station of the kitchen has had dishes to make for an hour, and no display shows it.",
        "Nobody sees its orders.",
        "Look at the kitchen's screens: switched on, on the network, and on this page?"));
  }
  if (*muted > 0) {
    findings.push_back(Warning(
        "Displays of the kitchen are muted: " + std::to_string(static_cast<int64_t>(*muted)) + ".",
        "A new order makes no sound there.", "Touch the bar at the top of its screen."));
  }
  if (!findings.empty()) return findings;
  const std::string state = StateOf(box, "kitchen");
  if (state.empty()) return {Well("No display of the kitchen is used.")};
  return {Well("The kitchen: " + state + ".")};
}

}  // namespace comanda::doctor
