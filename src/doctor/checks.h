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

Findings CheckClock(const Box& box);
Findings CheckProgram(const Box& box);
Findings CheckSettings(const Box& box);
Findings CheckService(const Box& box);
Findings CheckServer(const Box& box);
Findings CheckFiles(const Box& box);
Findings CheckDatabase(const Box& box);
Findings CheckRows(const Box& box);
Findings CheckSpace(const Box& box);
Findings CheckWear(const Box& box);
Findings CheckTemperature(const Box& box);
Findings CheckPower(const Box& box);
Findings CheckMemory(const Box& box);
Findings CheckWatchdog(const Box& box);
Findings CheckCertificate(const Box& box);
Findings CheckPorts(const Box& box);
Findings CheckAddresses(const Box& box);
Findings CheckName(const Box& box);
Findings CheckFirewall(const Box& box);
Findings CheckLoad(const Box& box);
Findings CheckWebhooks(const Box& box);
Findings CheckBackups(const Box& box);
Findings CheckLog(const Box& box);
Findings CheckSystem(const Box& box);

}  // namespace comanda::doctor
