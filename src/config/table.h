#pragma once

// The table of settings and its row type: options.cc holds the rows, load.cc applies them,
// change.cc edits comanda.conf. Internal to this room, but for kProgram.

#include <span>
#include <string>
#include <string_view>

#include "base/problem.h"
#include "config/options.h"

namespace comanda::config {

// A value and its source, for error messages.
struct Given {
  std::string_view name;
  std::string_view value;
  // "--listen", or "comanda.conf, line 3".
  std::string_view where;
};

// Which program has a setting: `comanda`, whose database is files (SQLite), or `comanda-head`,
// whose database is a server (PostgreSQL).
enum class Program : uint8_t { kBoth, kComanda, kHead };
// The one that is linked.
extern const Program kProgram;

// One row of the table.
struct Setting {
  std::string_view name;
  std::string_view argument;
  std::string_view default_value;
  std::string_view text;
  bool reloadable;
  // True if comanda.conf may set it; else it is for the command line only.
  bool in_file;
  // Stores the value in `options`. Throws Refusal for a bad value.
  void (*parse)(const Given& given, Options& options);
  Program program = Program::kBoth;
};

// Those of this program.
std::span<const Setting> Settings();

// Refusal with the nearest name if there is no such setting; GetSettingOfFile() also if
// comanda.conf may not set it.
const Setting& GetSetting(const Given& given);
const Setting& GetSettingOfFile(const Given& given);

inline constexpr std::string_view kFileName = "comanda.conf";
std::string PathOfFile(const std::string& data_directory);

// The name of the setting that a line of comanda.conf gives a value; empty if it gives none.
std::string_view NameIn(std::string_view line);

// What Load() returns if the file has this content and the command line nothing but `data`. Throws
// as Load() does.
Options LoadContent(const std::string& data_directory, std::string_view content);

// The value that this content of the file gives the setting, as it is read; empty if none.
std::string ValueIn(std::string_view content, std::string_view name);

// Rules that relate several settings to each other. Throws Refusal.
void CheckTogether(const Options& options);

// A validation_failed on the setting; the message ends with the source of the value.
Refusal Bad(const Given& given, FieldCode code, std::string message);

}  // namespace comanda::config
