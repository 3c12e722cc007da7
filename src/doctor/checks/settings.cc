#include "doctor/checks.h"
#include "doctor/checks/named_files.h"

namespace comanda::doctor {

Findings CheckSettings(const Box& box) {
  if (!box.is_data_readable) return {Well("Not looked at: this user may not.")};
  if (!box.settings_trouble.empty()) {
    return {Broken("The settings cannot be used: " + box.settings_trouble + ".",
                   "The server does not start, or does not apply changes.",
                   "comanda config check --data " + box.options.data_directory)};
  }
  Findings findings = NamedFiles(box);
  if (const std::string older = StateOf(box, "files"); !older.empty()) {
    findings.push_back(Warning("The server does not use its files as they are now: " + older + ".",
                               "What you have changed has no effect yet.",
                               "systemctl reload comanda"));
  }
  if (!findings.empty()) return findings;
  return {Well("The settings can be used; the data are in " + box.options.data_directory + ".")};
}

}  // namespace comanda::doctor
