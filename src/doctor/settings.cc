#include "doctor/checks.h"

namespace comanda::doctor {

Findings CheckSettings(const Box& box) {
  if (!box.is_data_readable) return {Well("Not looked at: this user may not.")};
  if (box.settings_trouble.empty()) {
    return {Well("The settings can be used; the data are in " + box.options.data_directory + ".")};
  }
  return {Broken("The settings cannot be used: " + box.settings_trouble + ".",
                 "The server does not start, or does not take up changes.",
                 "comanda config check --data " + box.options.data_directory)};
}

}  // namespace comanda::doctor
