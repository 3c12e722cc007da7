#pragma once

// The checks of `comanda doctor`. Each is a function of what is known of the box (doctor/box.h),
// in a file of its own; it may read further files, changes nothing, and reports at least one
// finding. The table in checks.cc has their names and their order.

#include <span>
#include <string_view>

#include "doctor/box.h"
#include "doctor/finding.h"

namespace comanda::doctor {

struct Check {
  std::string_view name;  // one word, in reports
  Findings (*run)(const Box&);
};
std::span<const Check> Checks();

// Synchronised, set after the program was built, and not corrected by more than is usual.
// The clock: synchronised, plausible beside the build date, and how far it drifts.
Findings CheckClock(const Box& box);
// Version and machine; whether the running server is of a program that was replaced.
Findings CheckProgram(const Box& box);
// The age of the program, and where newer ones come from.
Findings CheckUpdates(const Box& box);
// Whether the settings can be used.
Findings CheckSettings(const Box& box);
// Whether a server runs for the data directory and answers.
Findings CheckService(const Box& box);
// The other units of the package: enabled, not masked, not failed.
Findings CheckUnits(const Box& box);
// Whether a program other than the server and systemd listens on that TCP port. True where only
// root could tell which one does.
bool IsTakenByAnother(const Box& box, int port);
// What the running server says of itself in /readyz.
Findings CheckServer(const Box& box);
// Whether the file system of the data can be written.
Findings CheckDisk(const Box& box);
// The file system of the data: of this machine, owners and modes of the files.
Findings CheckFiles(const Box& box);
// Whether the database files can be read and their pages are sound.
Findings CheckDatabase(const Box& box);
// What the server's background check found in the rows.
Findings CheckRows(const Box& box);
// Free space, beside the thresholds of the settings.
Findings CheckSpace(const Box& box);
// How worn the disk is, as an eMMC or SATA disk reports it.
Findings CheckWear(const Box& box);
// The temperature of the processor.
Findings CheckTemperature(const Box& box);
// The supply of a Raspberry Pi: undervoltage, now or earlier.
Findings CheckPower(const Box& box);
// Free memory; processes that were ended for lack of it.
Findings CheckMemory(const Box& box);
// Whether a hardware watchdog restarts a machine that hangs.
Findings CheckWatchdog(const Box& box);
// Whether the certificate can be used and until when it is valid.
Findings CheckCertificate(const Box& box);
// Whether the server listens on its ports and no other program does.
Findings CheckPorts(const Box& box);
// The addresses of the machine: there, and not changing under the clients.
Findings CheckAddresses(const Box& box);
// Whether devices find the box by its name (mDNS).
Findings CheckName(const Box& box);
// Whether a firewall of the machine lets clients in.
Findings CheckFirewall(const Box& box);
// The queues of the running server and the duration of its commits.
Findings CheckLoad(const Box& box);
// Receivers that fail or are suspended.
Findings CheckWebhooks(const Box& box);
// Whether the sync with the cloud goes on, and what of it waits for a person.
Findings CheckCloud(const Box& box);
// Whether the delivery apps tell the state of the store.
Findings CheckApps(const Box& box);
// Stations of the kitchen that nobody watches, and displays that are muted.
Findings CheckKitchen(const Box& box);
// Age and place of the backups (setting backup_to).
Findings CheckBackups(const Box& box);
// The size of the system's log.
Findings CheckLog(const Box& box);
// Time zone data and certificate authorities of the system.
Findings CheckSystem(const Box& box);

}  // namespace comanda::doctor
