#include "doctor/checks/units.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "doctor/checks.h"
#include "doctor/checks/unit.h"

namespace comanda::doctor {
namespace {

constexpr std::string_view kTimer = "comanda-backup.timer";
constexpr std::string_view kSetup = "comanda-setup.socket";

constexpr std::array kUnits = {
    PackageUnit{
        kTimer, Installed::kEnabled, "makes a backup each night",
        "No backup is made automatically: data after the last backup are lost with the disk."},
    PackageUnit{"comanda-backup.service", Installed::kCalled,
                "is the nightly backup, which the timer starts",
                "What came after the last good backup is lost with the disk."},
    PackageUnit{kSetup, Installed::kEnabled, "holds port 80 for /setup and /ca.crt",
                "Devices cannot learn to trust the box from http://ADDRESS/setup."},
    PackageUnit{"comanda-https.socket", Installed::kDisabled,
                "holds port 443, for addresses without a port number",
                "Devices that use the address without a port number cannot connect."},
};

// What systemd knows of a unit, by the names of systemctl's properties; empty if it was not asked.
using Properties = std::map<std::string, std::string, std::less<>>;

// All at once, since each call of systemctl takes its time.
std::map<std::string, Properties, std::less<>> AskSystemd(const Machine& machine) {
  std::map<std::string, Properties, std::less<>> units;
  if (!machine.IsThere("/run/systemd/system")) return units;
  std::vector<std::string> words = {"show", "--property=Id,ActiveState,Result"};
  for (const PackageUnit& unit : kUnits) words.emplace_back(unit.name);
  // KEY=VALUE, an empty line between units.
  const std::string text = machine.OutputFrom("systemctl", words).value_or("") + "\n\n";
  Properties properties;
  std::string_view rest = text;
  while (!rest.empty()) {
    std::string_view line = TakePiece(rest, '\n');
    if (!line.empty()) {
      const std::string key(TakePiece(line, '='));
      properties[key] = line;
    } else if (!properties.empty()) {
      const std::string name = properties["Id"];
      units[name] = std::exchange(properties, {});
    }
  }
  return units;
}

std::string PortOfSocket(const PackageUnit& unit) { return unit.name == kSetup ? "80" : "443"; }

bool IsSocket(const PackageUnit& unit) { return unit.name.ends_with(".socket"); }

// The commands that bring a unit into the state in which the package installs it. A socket is
// started with the server, since systemd refuses to start it beside a server that runs.
std::string HowToStart(const PackageUnit& unit, const UnitFiles& files) {
  std::string commands;
  const std::string name(unit.name);
  if (files.is_masked) commands += "systemctl unmask " + name + "\n";
  if (unit.installed == Installed::kCalled) {
    return commands + "systemctl start " + name;
  }
  if (IsSocket(unit))
    return commands + "systemctl enable " + name + " && systemctl restart comanda";
  return commands + "systemctl enable --now " + name;
}

// Whether its owner does without the unit for a reason that can be seen: no backups are wanted; the
// server listens itself; the unit was disabled for another program, which has the port.
bool IsNotNeeded(const Box& box, const PackageUnit& unit, const UnitFiles& files) {
  if (unit.name.starts_with("comanda-backup")) return box.options.backup_to.empty();
  if (unit.name != kSetup) return false;
  const bool is_off = files.is_masked || !files.is_enabled;
  return !box.options.setup_listen.empty() || (is_off && IsTakenByAnother(box, 80));
}

Finding CheckFailed(const PackageUnit& unit, const std::string& result) {
  const std::string name(unit.name);
  const std::string what =
      name + " has failed (" + result + "); it " + std::string(unit.purpose) + ".";
  if (IsSocket(unit)) {
    return Warning(what, unit.loss,
                   "ss -ltnp 'sport = :" + PortOfSocket(unit) +
                       "'     # which program has the port; stop it, then:\nsystemctl restart "
                       "comanda\njournalctl -u " +
                       name + " -n 20");
  }
  return Warning(what, unit.loss,
                 "journalctl -u " + name + " -n 20     # why\nsystemctl start " + name);
}

// Nothing if it is as it should be.
std::optional<Finding> CheckUnit(const Box& box, const PackageUnit& unit,
                                 const Properties& properties) {
  const UnitFiles files = FindUnitFiles(box.machine, unit.name);
  if (!files.is_installed && !files.is_masked) return std::nullopt;
  const auto property = [&](std::string_view name) {
    const auto found = properties.find(name);
    return found == properties.end() ? std::string() : found->second;
  };
  const std::string state = property("ActiveState");
  const std::string name(unit.name);
  if (IsNotNeeded(box, unit, files)) return std::nullopt;
  if (files.is_masked && unit.installed != Installed::kDisabled) {
    return Warning(name + " is masked; it " + std::string(unit.purpose) + ".", unit.loss,
                   HowToStart(unit, files));
  }
  if (state == "failed") return CheckFailed(unit, property("Result"));
  if (unit.installed == Installed::kEnabled && !files.is_enabled) {
    return Warning(name + " is disabled; it " + std::string(unit.purpose) + ".", unit.loss,
                   HowToStart(unit, files));
  }
  const bool should_run = files.is_enabled && (!IsSocket(unit) || box.server.has_value());
  if (should_run && state == "inactive") {
    return Warning(name + " is enabled and does not run; it " + std::string(unit.purpose) + ".",
                   unit.loss,
                   IsSocket(unit) ? "systemctl restart comanda" : "systemctl start " + name);
  }
  return std::nullopt;
}

}  // namespace

std::span<const PackageUnit> PackageUnits() { return kUnits; }

Findings CheckUnits(const Box& box) {
  if (!FindUnit(box)) return {Well("No units of systemd serve this data directory.")};
  const auto known = AskSystemd(box.machine);
  Findings findings;
  std::string well;
  for (const PackageUnit& unit : kUnits) {
    const auto found = known.find(unit.name);
    auto finding = CheckUnit(box, unit, found == known.end() ? Properties() : found->second);
    if (finding) {
      findings.push_back(*std::move(finding));
    } else {
      well += (well.empty() ? "" : ", ") + std::string(unit.name);
    }
  }
  if (!well.empty()) findings.push_back(Well("As they should be: " + well + "."));
  return findings;
}

}  // namespace comanda::doctor
