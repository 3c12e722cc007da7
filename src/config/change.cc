#include <algorithm>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/text.h"
#include "config/options.h"
#include "config/table.h"

namespace comanda::config {
namespace {

constexpr std::string_view kWhere = "comanda config set";

// The content with the setting's line replaced, or removed if there is no value. A new line is
// appended; of several with the name the first one is kept.
std::string WithChange(std::string_view content, const Change& change) {
  std::string out;
  bool written = !change.value;
  const auto write = [&] {
    if (!written) out += change.name + " = " + *change.value + "\n";
    written = true;
  };
  while (!content.empty()) {
    const size_t end = std::min(content.find('\n'), content.size());
    const std::string_view line = content.substr(0, end);
    if (NameIn(line) == change.name) {
      write();
    } else {
      out += line;
      out += '\n';
    }
    content.remove_prefix(std::min(end + 1, content.size()));
  }
  write();
  return out;
}

}  // namespace

FileChange::FileChange(const std::string& data_directory, const std::vector<Change>& changes)
    : data_directory_(data_directory), content_(ReadFile(PathOfFile(data_directory)).value_or("")) {
  for (const Change& change : changes) {
    const Given given{change.name, change.value ? std::string_view(*change.value) : "", kWhere};
    reloadable_ = GetSettingOfFile(given).reloadable && reloadable_;
    content_ = WithChange(content_, change);
  }
  options_ = LoadContent(data_directory_, content_);
  for (const Change& change : changes) {
    if (!change.value || ValueIn(content_, change.name) == Trimmed(*change.value)) continue;
    throw Bad({change.name, *change.value, kWhere}, FieldCode::kInvalidFormat,
              "cannot be written into " + std::string(kFileName) +
                  ": a value has no line break, and no # after a blank");
  }
}

void FileChange::Write() const { ReplaceFile(PathOfFile(data_directory_), content_, 0600); }

}  // namespace comanda::config
