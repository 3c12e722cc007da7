#include <algorithm>
#include <array>

#include "doctor/checks.h"

namespace comanda::doctor {
namespace {

// Checks of /readyz that other checks here report, with more detail. What depends on the internet
// says so there.
constexpr std::array<std::string_view, 13> kElsewhere = {
    "backup",   "rows",          "disk",       "time_zones", "clock",   "sync",    "certificate",
    "webhooks", "delivery_apps", "app_orders", "files",      "kitchen", "internet"};

}  // namespace

// What the server itself says. A later check of /readyz appears here without a change.
Findings CheckServer(const Box& box) {
  Findings findings;
  const std::vector<Readiness> all = ReadinessOf(box);
  for (const Readiness& one : all) {
    // The check of the disk has said so.
    if (box.is_read_only && (one.name == "database" || one.name == "disk")) continue;
    if (!one.ok) {
      findings.push_back(Broken("The server is not ready: " + one.name + ": " + one.state + ".",
                                "It refuses requests for this reason.",
                                "journalctl -u comanda -n 50"));
    } else if (one.name != "database" &&
               std::ranges::find(kElsewhere, one.name) == kElsewhere.end()) {
      findings.push_back(Warning("The server says of " + one.name + ": " + one.state + ".",
                                 "A part of the server does not work; the restaurant sells.",
                                 "journalctl -u comanda -n 50"));
    }
  }
  if (!findings.empty()) return findings;
  if (all.empty()) return {Well("Not asked: no server answers.")};
  if (box.is_read_only) return {Well("The server answers what it can read.")};
  return {Well("The server is ready for orders.")};
}

}  // namespace comanda::doctor
