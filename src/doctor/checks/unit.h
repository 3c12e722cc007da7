#pragma once

// The unit comanda.service of systemd, as its files tell.

#include <string>
#include <string_view>

#include "doctor/box.h"

namespace comanda::doctor {

struct Unit {
  bool is_masked = false;
  bool is_enabled = false;
};
// Nothing if it is not installed, or its data directory is another than the box's.
std::optional<Unit> FindUnit(const Box& box);

// What the files of systemd tell of a unit, such as "comanda-backup.timer".
struct UnitFiles {
  bool is_installed = false;
  bool is_masked = false;
  bool is_enabled = false;
};
UnitFiles FindUnitFiles(const Machine& machine, std::string_view name);

// What starts the server: the unit, or the program itself where there is no unit.
std::string StartCommand(const Box& box);
// What makes a running server read its certificate and settings from the beginning.
std::string RestartCommand(const Box& box);
// What repairs a database with damaged indexes, the server being stopped meanwhile.
std::string RepairCommand(const Box& box);
// What copies the data to another disk: to those of backup_to, or what helps to find one.
std::string BackupCommand(const Box& box);
// The user of the service; "root" without a unit.
std::string UserOf(const Box& box);

}  // namespace comanda::doctor
