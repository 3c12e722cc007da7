#pragma once

// One row per setting: options.cc holds them, load.cc applies them. Of this room alone.

#include <span>
#include <string>
#include <string_view>

#include "base/problem.h"
#include "config/options.h"

namespace comanda::config {

// A value as somebody gave it, and where.
struct Given {
  std::string_view name;
  std::string_view value;
  std::string_view where;  // "--listen", "comanda.conf, line 3"
};

struct Setting {
  std::string_view name;
  std::string_view argument;
  std::string_view default_value;
  std::string_view text;
  bool reloadable;
  bool in_file;  // may stand in comanda.conf, not only on the command line
  void (*parse)(const Given& given, Options& options);  // Refusal for a bad value
};

std::span<const Setting> Settings();

// Rules that concern two settings.
void CheckTogether(const Options& options);

// validation_failed on that setting; the message ends with where it stands.
Refusal Bad(const Given& given, FieldCode code, std::string message);

}  // namespace comanda::config
