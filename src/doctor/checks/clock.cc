#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "doctor/checks.h"

namespace comanda::doctor {
namespace {

constexpr int64_t kMinuteMs = 60'000;
constexpr int64_t kDayMs = 24 * 60 * kMinuteMs;
// As long as an authority of the box is valid. A later date is far more likely a wrong clock than
// a program of that age.
constexpr int64_t kProgramAgeMaxMs = 10 * 365 * kDayMs;
constexpr int64_t kHardwareClockOffMaxMs = 2 * kMinuteMs;
// The kernel corrects 500 at most.
constexpr double kDriftMaxPpm = 400;
constexpr int64_t kBatteryMicrovoltsMin = 1'000'000;

// The unit of the installed program that keeps the clock; empty if there is none.
std::string TimeUnit(const Machine& machine) {
  for (const std::string unit :
       {"systemd-timesyncd", "chrony", "chronyd", "ntpsec", "ntp", "openntpd"}) {
    for (const std::string directory : {"/usr/lib/systemd/system/", "/lib/systemd/system/"}) {
      if (machine.IsThere(directory + unit + ".service")) return unit;
    }
  }
  return "";
}

// What gives the machine a time server. Not timedatectl(1): it wants a bus, and a program that
// keeps the clock, and not every Debian has these.
std::string FollowServer(const Machine& machine) {
  const std::string unit = TimeUnit(machine);
  return unit.empty() ? "apt install systemd-timesyncd" : "systemctl enable --now " + unit;
}

std::string SetClock(const Machine& machine) {
  return FollowServer(machine) + "     # or by hand: date -s '2026-11-20 18:30:00'";
}

std::string Minute(UtcMs at) {
  std::string text = FormatInstant(at).substr(0, 16);
  text[10] = ' ';
  return text + " UTC";
}

std::string Day(UtcMs at) { return FormatInstant(at).substr(0, 10); }

// An absurd clock; nothing else about clocks is worth saying then.
std::optional<Finding> CheckDate(const Box& box) {
  constexpr std::string_view kWhy =
      "Devices may refuse the certificate, receivers of webhooks too, and orders carry this date. "
      "The box serves nevertheless.";
  if (box.now < box.built) {
    return Broken("The clock shows " + Minute(box.now) + ", and this program was built on " +
                      Day(box.built) + ".",
                  kWhy, SetClock(box.machine));
  }
  if (box.now - box.built > kProgramAgeMaxMs) {
    return Broken("The clock shows " + Minute(box.now) +
                      ", more than ten years after this program "
                      "was built (" +
                      Day(box.built) + ").",
                  kWhy, SetClock(box.machine));
  }
  return std::nullopt;
}

Finding CheckSynchronised(const Box& box) {
  std::array<char, 80> drift = {};
  std::snprintf(drift.data(), drift.size(), "%.0f ppm (%.1f s a day)", box.clock.drift_ppm,
                std::abs(box.clock.drift_ppm) * 0.0864);
  const std::string unit = TimeUnit(box.machine);
  const std::string shows = "The clock shows " + Minute(box.now);
  if (box.clock.state != "synchronised") {
    return Warning(
        shows + " and is " +
            (box.clock.state == "unknown" ? "perhaps not synchronised" : "not synchronised") +
            " with a time server.",
        "It may be minutes off after some months; receivers of webhooks and devices "
        "refuse a clock that is far off.",
        SetClock(box.machine) + (unit.empty() ? "" : "\njournalctl -u " + unit + " -n 20"));
  }
  if (std::abs(box.clock.drift_ppm) > kDriftMaxPpm) {
    return Warning(
        shows + ", is synchronised, and would be off by " + drift.data() + " without that.",
        "The quartz of this machine is bad: without a network the clock is soon wrong.",
        unit.empty() ? "timedatectl" : "journalctl -u " + unit + " -n 20");
  }
  return Well(shows + " and is synchronised; drift " + drift.data() + ".");
}

Finding CheckHardwareClock(const Box& box) {
  const std::vector<std::string> clocks = box.machine.List("/sys/class/rtc");
  if (clocks.empty()) {
    return Warning("This machine has no hardware clock.",
                   "After a power cut it starts with a wrong date until it reaches a time server.",
                   FollowServer(box.machine) + "     # and a network that reaches a time server");
  }
  const std::string directory = "/sys/class/rtc/" + clocks.front() + "/";
  const auto battery = box.machine.Number(directory + "battery_voltage");
  if (battery && *battery < kBatteryMicrovoltsMin) {
    return Warning("The hardware clock has no battery, or an empty one.",
                   "After a power cut the box starts with a wrong date until it reaches a time "
                   "server.",
                   "cat " + directory + "battery_voltage     # microvolts; fit a battery");
  }
  const auto shown = box.machine.Number(directory + "since_epoch");
  if (!shown || *shown < 0 || *shown > 253'402'300'799) {
    return Warning("The hardware clock " + clocks.front() + " cannot be read.",
                   "After a power cut the box may start with a wrong date.", "hwclock --show");
  }
  const std::string adjust = box.machine.Read("/etc/adjtime").value_or("");
  if (adjust.find("LOCAL") != std::string::npos) {
    return Well("The hardware clock is kept in local time.");
  }
  const int64_t off_ms = *shown * 1000 - box.now;
  if (std::abs(off_ms) > kHardwareClockOffMaxMs) {
    return Warning("The hardware clock shows " + Minute(*shown * 1000) + ", the system's " +
                       Minute(box.now) + ".",
                   "After a power cut the box starts with the time of the hardware clock.",
                   "hwclock --systohc     # once the system's clock is right");
  }
  return Well("The hardware clock agrees.");
}

}  // namespace

Findings CheckClock(const Box& box) {
  if (auto absurd = CheckDate(box)) return {*std::move(absurd)};
  Findings findings = {CheckSynchronised(box), CheckHardwareClock(box)};
  const std::string state = StateOf(box, "clock");
  if (state.find("stepped") != state.npos) {
    findings.push_back(
        Warning("The server says: " + state + ".",
                "Keys expire by the old time until the new time is a day old or synchronised.",
                "timedatectl"));
  }
  return findings;
}

}  // namespace comanda::doctor
