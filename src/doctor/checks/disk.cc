#include "doctor/checks/disk.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <string_view>

#include "base/file.h"

namespace comanda::doctor {

Disk DiskOf(const Machine& machine, const std::string& path) {
  struct stat found {};
  std::string existing = path;
  while (::stat(existing.c_str(), &found) != 0) {
    if (existing == "/" || existing == ".") return {};
    existing = DirectoryOf(existing);
  }
  const std::string link = "/sys/dev/block/" + std::to_string(major(found.st_dev)) + ":" +
                           std::to_string(minor(found.st_dev));
  // ../../devices/pci0000:00/0000:00:14.0/usb2/2-1/…/block/sda/sda1
  const std::string target = machine.Target(link);
  constexpr std::string_view kBlock = "/block/";
  const size_t at = target.find(kBlock);
  if (at == target.npos) return {};
  const std::string_view rest = std::string_view(target).substr(at + kBlock.size());
  Disk disk{.name = std::string(rest.substr(0, rest.find('/')))};
  disk.is_removable = target.find("/usb") != target.npos ||
                      machine.Line("/sys/block/" + disk.name + "/removable") == "1";
  return disk;
}

}  // namespace comanda::doctor
