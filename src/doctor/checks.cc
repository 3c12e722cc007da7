#include "doctor/checks.h"

#include <array>

namespace comanda::doctor {
namespace {

// In the order of a report among findings of one state: the clock and the disk first, because they
// explain much of the rest.
constexpr std::array kChecks = {
    Check{"clock", CheckClock},
    // What it causes says nothing of the cause: no server, no orders, no backup.
    Check{"disk", CheckDisk},
    // The program.
    Check{"program", CheckProgram},
    Check{"updates", CheckUpdates},
    Check{"settings", CheckSettings},
    Check{"service", CheckService},
    Check{"units", CheckUnits},
    Check{"server", CheckServer},
    // The data.
    Check{"files", CheckFiles},
    Check{"database", CheckDatabase},
    Check{"rows", CheckRows},
    Check{"backups", CheckBackups},
    // The machine.
    Check{"space", CheckSpace},
    Check{"wear", CheckWear},
    Check{"temperature", CheckTemperature},
    Check{"power", CheckPower},
    Check{"memory", CheckMemory},
    Check{"watchdog", CheckWatchdog},
    Check{"log", CheckLog},
    Check{"system", CheckSystem},
    // The network.
    Check{"certificate", CheckCertificate},
    Check{"ports", CheckPorts},
    Check{"addresses", CheckAddresses},
    Check{"name", CheckName},
    Check{"firewall", CheckFirewall},
    // What the running server counts.
    Check{"load", CheckLoad},
    Check{"webhooks", CheckWebhooks},
    Check{"cloud", CheckCloud},
    Check{"apps", CheckApps},
    Check{"kitchen", CheckKitchen},
};

}  // namespace

std::span<const Check> Checks() { return kChecks; }

}  // namespace comanda::doctor
