#include "doctor/checks.h"
#include "doctor/checks/unit.h"

namespace comanda::doctor {

Findings CheckDisk(const Box& box) {
  const std::string& directory = box.options.data_directory;
  if (!box.is_read_only) return {Well("The file system of " + directory + " can be written.")};
  return {Broken(
      "The file system of " + directory +
          " is read-only: the card or disk is worn, or its file system was stopped after an error.",
      "Stored data can be read; no order can be taken. First get the data off this disk, then "
      "restart the machine, which checks the file system; if it is read-only again, replace the "
      "disk and restore the backup.",
      BackupCommand(box) + "\ndmesg --level=emerg,alert,crit,err | tail -20\nfindmnt -T " +
          directory)};
}

}  // namespace comanda::doctor
