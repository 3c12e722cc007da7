#include "app/file_findings.h"

#include <string_view>

#include "base/text.h"
#include "doctor/checks/named_files.h"

namespace comanda::app {

doctor::Findings FindFileTroubles(const config::Options& options) {
  doctor::Box box;
  box.options = options;
  return doctor::NamedFiles(box);
}

Refusal AsRefusal(const doctor::Finding& finding) {
  Refusal refusal(Problem::kValidationFailed, finding.what + " " + finding.why);
  const auto add = [&](std::string_view line) {
    refusal.errors.push_back({"", FieldCode::kNotAllowed, std::string(line)});
  };
  if (!finding.command.empty()) add("as root:");
  std::string_view rest = finding.command;
  while (!rest.empty()) add(TakePiece(rest, '\n'));
  return refusal;
}

}  // namespace comanda::app
