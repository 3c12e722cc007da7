#include <algorithm>

#include "base/counted.h"
#include "base/problem.h"
#include "base/text.h"
#include "doctor/checks.h"
#include "json/reader.h"

namespace comanda::doctor {
namespace {

constexpr std::string_view kWhy =
    "A worn disk turns read-only or loses data, often without a warning.";

std::string Replace(const std::string& disk) {
  return "comanda backup     # on another disk; then replace " + disk;
}

bool IsDisk(const Machine& machine, const std::string& name) {
  const auto begins = [&](std::string_view with) { return name.starts_with(with); };
  if (begins("mmcblk")) return name.find("boot") == name.npos && name.find("rpmb") == name.npos;
  return (begins("sd") || begins("nvme")) && machine.IsThere("/sys/block/" + name + "/device");
}

// An eMMC says in tenths how much of its life is used, for each of two kinds of its memory (JESD84,
// DEVICE_LIFE_TIME_EST_TYP_A and _B): 1 is up to 10 %, 10 up to 100 %, 11 more.
Finding CheckEmmc(const Machine& machine, const std::string& name) {
  const std::string directory = "/sys/block/" + name + "/device/";
  const std::string text = machine.Line(directory + "life_time");
  int64_t used = 0;
  for (const std::string_view word : WordsOf(text)) {
    const auto value = ParseNumber(word);
    if (value && *value >= 0 && *value <= 11) used = std::max(used, *value);
  }
  const auto reserve =
      machine.Number(directory + "pre_eol_info");  // 1 normal, 2 80 % used, 3 urgent
  if (used == 11 || reserve == 3) {
    return Broken("The eMMC " + name + " is at the end of its life.", kWhy, Replace(name));
  }
  const std::string shown =
      "The eMMC " + name + " has used up to " + std::to_string(used * 10) + " % of its life";
  if (used >= 9 || reserve == 2) return Warning(shown + ".", kWhy, Replace(name));
  if (used == 0) return Well("The eMMC " + name + " does not report its wear.");
  return Well(shown + ".");
}

std::optional<json::Value> Find(const std::optional<json::Value>& value, std::string_view key) {
  if (!value || value->kind() != json::Kind::kObject) return std::nullopt;
  return value->Find(key);
}

std::optional<int64_t> NumberIn(const std::optional<json::Value>& value, std::string_view key) {
  const auto found = Find(value, key);
  if (!found || found->kind() != json::Kind::kNumber) return std::nullopt;
  return ParseNumber(found->number_text());
}

// The raw value of an attribute of a SATA disk; nothing if it has none of that number.
std::optional<int64_t> Attribute(const json::Value& root, int64_t number) {
  const auto table = Find(Find(root, "ata_smart_attributes"), "table");
  if (!table || table->kind() != json::Kind::kArray) return std::nullopt;
  for (const json::Value& row : table->items()) {
    if (NumberIn(row, "id") == number) return NumberIn(Find(row, "raw"), "value");
  }
  return std::nullopt;
}

Finding ReadSmart(const std::string& name, const json::Value& root) {
  constexpr int64_t kReallocated = 5;
  constexpr int64_t kPending = 197;
  constexpr int64_t kUncorrectable = 198;
  const std::string command = "smartctl -a /dev/" + name + "\n" + Replace(name);
  const auto passed = Find(Find(root, "smart_status"), "passed");
  if (passed && passed->kind() == json::Kind::kBoolean && !passed->boolean()) {
    return Broken("The disk " + name + " says that it is failing (SMART).", kWhy, command);
  }
  const auto nvme = Find(root, "nvme_smart_health_information_log");
  const int64_t errors = NumberIn(nvme, "media_errors").value_or(0) +
                         Attribute(root, kPending).value_or(0) +
                         Attribute(root, kUncorrectable).value_or(0);
  if (errors > 0) {
    return Broken("The disk " + name + " has " +
                      Counted(errors, "place that cannot be read.", "places that cannot be read."),
                  kWhy, command);
  }
  const auto used = NumberIn(nvme, "percentage_used");
  const std::string text = "The disk " + name +
                           (used ? " has used " + std::to_string(*used) + " % of its life."
                                 : " reports no trouble (SMART).");
  const int64_t reallocated = Attribute(root, kReallocated).value_or(0);
  if (used.value_or(0) >= 90) return Warning(text, kWhy, command);
  if (reallocated > 0) {
    return Warning("The disk " + name + " has replaced " + std::to_string(reallocated) +
                       " bad places by spare ones.",
                   kWhy, command);
  }
  return passed || used ? Well(text) : Well("The disk " + name + " does not report its wear.");
}

Finding CheckSmart(const Box& box, const std::string& name) {
  if (!box.is_root) return Well("The wear of " + name + " is for root to read.");
  // Reads what the disk has noted and starts no test; a disk that sleeps is not woken.
  const auto text = box.machine.OutputFrom(
      "smartctl", {"--json=c", "-n", "standby", "-i", "-H", "-A", "/dev/" + name});
  if (!text) {
    return Well("The wear of " + name + " is not read: `apt install smartmontools` makes it so.");
  }
  try {
    const json::Document document = json::Document::Parse(*text);
    return ReadSmart(name, document.root());
  } catch (const Refusal&) {
    return Well("The disk " + name + " does not report its wear.");
  }
}

Finding CheckDisk(const Box& box, const std::string& name) {
  if (!name.starts_with("mmcblk")) return CheckSmart(box, name);
  const std::string directory = "/sys/block/" + name + "/device/";
  if (box.machine.Line(directory + "type") == "SD") {
    return Well("The card " + name + " (SD) cannot report its wear: keep backups on another disk.");
  }
  return CheckEmmc(box.machine, name);
}

}  // namespace

Findings CheckWear(const Box& box) {
  Findings findings;
  for (const std::string& system : box.machine.List("/sys/fs/ext4")) {
    const auto errors = box.machine.Number("/sys/fs/ext4/" + system + "/errors_count");
    if (!errors || *errors <= 0) continue;
    findings.push_back(
        Broken("The file system on " + system + " has met " + Counted(*errors, "error.", "errors."),
               "Files may be damaged. The disk may be failing.",
               "dmesg --level=err | tail\ntune2fs -l /dev/" + system +
                   "\n# then start once with fsck.mode=force on the kernel's line"));
  }
  for (const std::string& name : box.machine.List("/sys/block")) {
    if (IsDisk(box.machine, name)) findings.push_back(CheckDisk(box, name));
  }
  if (findings.empty()) findings.push_back(Well("No disk of this machine reports its wear."));
  return findings;
}

}  // namespace comanda::doctor
