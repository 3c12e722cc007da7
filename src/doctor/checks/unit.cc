#include "doctor/checks/unit.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "base/file.h"
#include "base/text.h"

namespace comanda::doctor {
namespace {

constexpr std::string_view kName = "comanda.service";
constexpr std::string_view kDefaultData = "/var/lib/comanda";

// The text of the unit; of several, the one that systemd takes.
std::optional<std::string> TextOf(const Machine& machine, std::string_view name = kName) {
  for (const std::string directory :
       {"/etc/systemd/system/", "/usr/lib/systemd/system/", "/lib/systemd/system/"}) {
    auto text = machine.Read(directory + std::string(name));
    if (text) return text;
  }
  return std::nullopt;
}

std::string ValueOf(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = TakePiece(text, '\n');
    if (line.starts_with(key)) return std::string(Trimmed(line.substr(key.size())));
  }
  return {};
}

std::string DataOf(std::string_view unit) {
  const std::string command = ValueOf(unit, "ExecStart=");
  const std::vector<std::string_view> words = WordsOf(command);
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == "--data") return std::string(words[i + 1]);
  }
  return std::string(kDefaultData);
}

bool IsOnAnotherFileSystem(const std::string& path, const std::string& other) {
  struct stat one {
  }, two{};
  return ::stat(path.c_str(), &one) == 0 && ::stat(other.c_str(), &two) == 0 &&
         one.st_dev != two.st_dev;
}

}  // namespace

UnitFiles FindUnitFiles(const Machine& machine, std::string_view name) {
  const std::string unit(name);
  UnitFiles files{.is_installed = TextOf(machine, name).has_value()};
  for (const std::string directory : {"/etc/systemd/system", "/run/systemd/system"}) {
    if (machine.Target(directory + "/" + unit) == "/dev/null") files.is_masked = true;
    for (const std::string& wanting : machine.List(directory)) {
      if (wanting.ends_with(".wants") && machine.IsThere(directory + "/" + wanting + "/" + unit)) {
        files.is_enabled = true;
      }
    }
  }
  return files;
}

std::optional<Unit> FindUnit(const Box& box) {
  const UnitFiles files = FindUnitFiles(box.machine, kName);
  const auto text = TextOf(box.machine);
  if (!text && !files.is_masked) return std::nullopt;
  const std::string data = text ? DataOf(*text) : std::string(kDefaultData);
  if (WithoutSlash(data) != WithoutSlash(box.options.data_directory)) return std::nullopt;
  return Unit{.is_masked = files.is_masked, .is_enabled = files.is_enabled};
}

std::string StartCommand(const Box& box) {
  const std::optional<Unit> unit = FindUnit(box);
  if (!unit) return "comanda serve --data " + box.options.data_directory;
  return std::string(unit->is_masked ? "systemctl unmask comanda\n" : "") +
         "systemctl start comanda\njournalctl -u comanda -n 20";
}

std::string RestartCommand(const Box& box) {
  if (FindUnit(box)) return "systemctl restart comanda";
  const std::string start = "comanda serve --data " + box.options.data_directory;
  if (!box.server || box.server->process == 0) return start;
  return "kill " + std::to_string(box.server->process) + "\n" + start;
}

std::string RepairCommand(const Box& box) {
  const std::string& data = box.options.data_directory;
  const std::string repair =
      "comanda verify --repair --data " + data +
      "     # no order is lost; if it refuses, restore a backup (systemd/README.md, Restore)\n";
  if (FindUnit(box)) return "systemctl stop comanda\n" + repair + "systemctl start comanda";
  const bool is_running = box.server && box.server->process > 0;
  return (is_running ? "kill " + std::to_string(box.server->process) + "\n" : std::string()) +
         repair + "comanda serve --data " + data;
}

std::string BackupCommand(const Box& box) {
  const std::string data = " --data " + box.options.data_directory;
  const bool has_other_disk =
      std::ranges::any_of(box.options.backup_to, [&](const std::string& target) {
        return IsOnAnotherFileSystem(target, box.options.data_directory);
      });
  if (has_other_disk) return "comanda backup" + data;
  return "lsblk -o NAME,SIZE,MODEL,FSTYPE,MOUNTPOINT     # mount another disk, then: comanda "
         "backup "
         "MOUNTPOINT/comanda" +
         data;
}

std::string UserOf(const Box& box) {
  if (!FindUnit(box)) return "root";
  const std::string user = ValueOf(TextOf(box.machine).value_or(""), "User=");
  return user.empty() ? "root" : user;
}

}  // namespace comanda::doctor
