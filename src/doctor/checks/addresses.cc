#include <algorithm>
#include <set>

#include "doctor/checks.h"
#include "ops/addresses.h"

namespace comanda::doctor {
namespace {

constexpr int64_t kRecentMs = 30 * 86'400'000LL;

std::string Joined(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::optional<Finding> CheckChange(const Box& box) {
  if (!box.is_data_readable) return std::nullopt;
  const auto record = ops::ReadAddressRecord(box.options.data_directory);
  if (!record || record->former.empty()) return std::nullopt;
  const int64_t age_ms = box.now - record->changed_at;
  if (age_ms < 0 || age_ms > kRecentMs) return std::nullopt;
  return Warning("The address changed on " + FormatInstant(record->changed_at).substr(0, 10) +
                     " from " + Joined(record->former) + " to " + Joined(record->addresses) + ".",
                 "Devices that were given the old number do not find the box. It changes again "
                 "unless the router reserves one for the box (a fixed lease).",
                 "ip -4 address\nhostname     # give devices the new address or NAME.local");
}

std::string LinkOf(const Machine& machine, const std::string& interface) {
  const std::string directory = "/sys/class/net/" + interface + "/";
  const auto speed = machine.Number(directory + "speed");
  return speed && *speed > 0 ? ", " + std::to_string(*speed) + " Mbit/s" : "";
}

}  // namespace

Findings CheckAddresses(const Box& box) {
  if (box.addresses.empty()) {
    std::string unplugged;
    for (const std::string& name : box.machine.List("/sys/class/net")) {
      const std::string directory = "/sys/class/net/" + name + "/";
      if (name != "lo" && box.machine.IsThere(directory + "device") &&
          box.machine.Line(directory + "carrier") != "1") {
        unplugged += (unplugged.empty() ? " No cable or no signal at " : ", ") + name;
      }
    }
    return {Broken("The machine has no address." + unplugged + (unplugged.empty() ? "" : "."),
                   "No device can connect.",
                   "ip link\nip address\njournalctl -b -u '*network*' -n 20")};
  }
  if (std::ranges::all_of(box.addresses, [](const InterfaceAddress& one) {
        return one.address.starts_with("169.254.");
      })) {
    return {Broken(
        "The machine gave itself " + box.addresses.front().address + ": no DHCP server answered.",
        "Devices of the restaurant's network do not find it.",
        "ip link\njournalctl -b -u '*network*' -n 20     # is the router on?")};
  }
  Findings findings;
  if (auto change = CheckChange(box)) findings.push_back(*std::move(change));
  for (const InterfaceAddress& one : box.addresses) {
    const bool is_ipv6 = one.address.find(':') != std::string::npos;
    findings.push_back(
        Well(one.address + " on " + one.interface + LinkOf(box.machine, one.interface) +
             (!one.is_leased ? "."
              : is_ipv6      ? ", lent by the router."
                             : ", leased (DHCP): reserve it for the box in the router.")));
  }
  return findings;
}

}  // namespace comanda::doctor
