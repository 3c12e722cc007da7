#include "base/counted.h"
#include "doctor/checks.h"

namespace comanda::doctor {
namespace {

constexpr double kHourS = 60 * 60;

// A station that nobody watches is told to the other displays at once; a person is sent there when
// that has changed nothing for an hour of the opening hours. `open_s`: how long of these.
Finding CheckUnwatched(int64_t stations, double open_s) {
  const std::string which =
      Counted(stations, "station of the kitchen has dishes to make that no display shows",
              "stations of the kitchen have dishes to make that no display shows");
  if (open_s >= kHourS) {
    return Warning(which + ", for an hour or more.",
                   "Nobody sees these orders. Look at the kitchen's screens: are they switched on, "
                   "on the network, and on their page?");
  }
  if (open_s <= 0) return Well(which + "; the restaurant is closed.");
  const auto minutes = static_cast<int64_t>(open_s / 60);
  return Well(which + ", since " +
              (minutes == 0 ? "less than a minute" : Counted(minutes, "minute", "minutes")) +
              "; the other displays say so. Nothing is to be done here before it is an hour.");
}

}  // namespace

Findings CheckKitchen(const Box& box) {
  const auto unwatched_s = Metric(box, "comanda_kitchen_unwatched_seconds");
  const auto muted = Metric(box, "comanda_kitchen_displays_muted");
  if (!unwatched_s || !muted) return {Well("Not asked: no server answers.")};
  Findings findings;
  const auto unwatched =
      static_cast<int64_t>(Metric(box, "comanda_kitchen_stations_unwatched").value_or(0));
  if (unwatched > 0) findings.push_back(CheckUnwatched(unwatched, *unwatched_s));
  if (*muted > 0) {
    findings.push_back(
        Warning(Counted(static_cast<int64_t>(*muted), "display of the kitchen is muted.",
                        "displays of the kitchen are muted."),
                "A new order makes no sound there. Touch the bar at the top of the "
                "screen."));
  }
  if (!findings.empty()) return findings;
  const std::string state = StateOf(box, "kitchen");
  if (state.empty()) return {Well("No display of the kitchen is used.")};
  return {Well("The kitchen: " + state + ".")};
}

}  // namespace comanda::doctor
