#pragma once

// The table of settings and its row type: options.cc holds the rows, load.cc applies them. Internal
// to this room.

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
};

std::span<const Setting> Settings();

// Rules that relate several settings to each other. Throws Refusal.
void CheckTogether(const Options& options);

// A validation_failed on the setting; the message ends with the source of the value.
Refusal Bad(const Given& given, FieldCode code, std::string message);

}  // namespace comanda::config
