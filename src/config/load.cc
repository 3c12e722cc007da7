#include <algorithm>
#include <optional>

#include "base/file.h"
#include "base/nearest.h"
#include "base/text.h"
#include "config/options.h"
#include "config/table.h"

namespace comanda::config {
namespace {

// The value of a setting and where it comes from; a later source overwrites an earlier one.
struct Source {
  std::string value;
  std::string where;
};
using Sources = std::map<std::string, Source, std::less<>>;

// # starts a comment at the start of a line or after a blank.
std::string_view WithoutComment(std::string_view line) {
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '#') continue;
    if (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t') return line.substr(0, i);
  }
  return line;
}

void ReadLine(std::string_view line, const std::string& where, Sources& sources) {
  const std::string_view content = Trimmed(WithoutComment(line));
  if (content.empty()) return;
  const size_t equals = content.find('=');
  if (equals == std::string_view::npos || Trimmed(content.substr(0, equals)).empty()) {
    throw Bad({kFileName, content, where}, FieldCode::kInvalidFormat,
              "a line must be name = value, or begin with #");
  }
  if (content.find('\0') != content.npos) {
    throw Bad({kFileName, content, where}, FieldCode::kInvalidFormat, "must be text: it has a NUL");
  }
  const std::string name(Trimmed(content.substr(0, equals)));
  const Given given{name, Trimmed(content.substr(equals + 1)), where};
  GetSettingOfFile(given);
  const auto earlier = sources.find(name);
  if (earlier != sources.end()) {
    throw Bad(given, FieldCode::kDuplicate, "stands in " + earlier->second.where + " already");
  }
  sources[name] = {std::string(given.value), where};
}

void ReadContent(std::string_view content, Sources& sources) {
  if (content.starts_with("\xEF\xBB\xBF")) content.remove_prefix(3);
  for (int number = 1; !content.empty(); ++number) {
    const size_t end = std::min(content.find('\n'), content.size());
    ReadLine(content.substr(0, end), std::string(kFileName) + ", line " + std::to_string(number),
             sources);
    content.remove_prefix(std::min(end + 1, content.size()));
  }
}

Sources Collect(const std::map<std::string, std::string>& command_line) {
  Sources sources;
  ReadContent(ReadFile(PathOfFile(DataDirectory(command_line))).value_or(""), sources);
  for (const auto& [name, value] : command_line) {
    const std::string where = "--" + name;
    GetSetting({name, value, where});
    sources[name] = {value, where};
  }
  return sources;
}

Source EffectiveSource(const Sources& sources, const Setting& setting) {
  const auto found = sources.find(setting.name);
  if (found != sources.end()) return found->second;
  return {std::string(setting.default_value), "default"};
}

Options Apply(const Sources& sources) {
  Options options;
  for (const Setting& setting : Settings()) {
    const Source source = EffectiveSource(sources, setting);
    setting.parse({setting.name, source.value, source.where}, options);
  }
  CheckTogether(options);
  return options;
}

}  // namespace

const Setting& GetSetting(const Given& given) {
  const auto settings = Settings();
  const auto found = std::find_if(settings.begin(), settings.end(), [&](const Setting& setting) {
    return setting.name == given.name;
  });
  if (found != settings.end()) return *found;
  std::vector<std::string_view> names;
  for (const Setting& setting : settings) names.push_back(setting.name);
  // Accepts dashes, as on the command line, for the underscores of the table.
  std::string wanted = AsciiLower(given.name);
  std::replace(wanted.begin(), wanted.end(), '-', '_');
  const std::string_view nearest = Nearest(wanted, names);
  throw Bad(
      given, FieldCode::kUnknownField,
      "is not a setting; " + (nearest.empty() ? "comanda config --help lists them"
                                              : "did you mean " + std::string(nearest) + "?"));
}

const Setting& GetSettingOfFile(const Given& given) {
  const Setting& setting = GetSetting(given);
  if (setting.in_file) return setting;
  throw Bad(given, FieldCode::kNotAllowed,
            "is given on the command line alone, as --" + std::string(setting.name) + " " +
                std::string(setting.argument));
}

std::string PathOfFile(const std::string& data_directory) {
  return data_directory + "/" + std::string(kFileName);
}

std::string_view NameIn(std::string_view line) {
  const std::string_view content = WithoutComment(line);
  const size_t equals = content.find('=');
  return equals == std::string_view::npos ? "" : Trimmed(content.substr(0, equals));
}

Options LoadContent(const std::string& data_directory, std::string_view content) {
  Sources sources;
  sources["data"] = {data_directory, "--data"};
  ReadContent(content, sources);
  return Apply(sources);
}

std::string ValueIn(std::string_view content, std::string_view name) {
  Sources sources;
  ReadContent(content, sources);
  const auto found = sources.find(name);
  return found == sources.end() ? "" : found->second.value;
}

// It comes from the command line or the default, because the file is inside it.
std::string DataDirectory(const std::map<std::string, std::string>& command_line) {
  const auto found = command_line.find("data");
  const bool given = found != command_line.end();
  Options options;
  const Setting& setting = GetSetting({"data", "", "--data"});
  setting.parse({setting.name, given ? std::string_view(found->second) : setting.default_value,
                 given ? "--data" : "default"},
                options);
  return options.data_directory;
}

Options Load(const std::map<std::string, std::string>& command_line) {
  return Apply(Collect(command_line));
}

Options Defaults(const std::string& data_directory) {
  return Apply({{"data", {data_directory, "--data"}}});
}

std::string Describe(const std::map<std::string, std::string>& command_line) {
  const Sources sources = Collect(command_line);
  // Throws for settings that Load() would refuse.
  Apply(sources);
  std::string text;
  for (const Setting& setting : Settings()) {
    const Source source = EffectiveSource(sources, setting);
    // The output is a valid comanda.conf; settings that may not be in the file are commented out.
    if (!setting.in_file) text += "# ";
    text += std::string(setting.name) + " = " + source.value;
    text += (source.value.empty() ? "# " : "  # ") + source.where + "\n";
  }
  return text;
}

}  // namespace comanda::config
