#pragma once

// The units of systemd that the package installs (systemd/), beside comanda.service, which
// CheckService() looks at.

#include <span>
#include <string_view>

namespace comanda::doctor {

// How the package leaves a unit (scripts/package).
enum class Installed {
  kEnabled,   // and started
  kDisabled,  // for the owner to enable
  kCalled,    // started by another unit, and never enabled
};

struct PackageUnit {
  std::string_view name;
  Installed installed;
  std::string_view purpose;  // what it is for: "makes a backup each night"
  std::string_view loss;     // what is so without it; a sentence
};

std::span<const PackageUnit> PackageUnits();

}  // namespace comanda::doctor
