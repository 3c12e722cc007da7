#pragma once

// Structured log to stdout, one line per event, with journal priorities ("<6>"): changes and errors,
// not a line per poll. No secret is ever passed to it; values that look like an API key are masked
// all the same.
//
//   log::Info("order placed", {{"order", id}, {"total", total}});
//   -> <6>order placed order=0190... total=12.5 (values with blanks or quotes are quoted)
//
// Any thread. Lines are written whole.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace comanda::log {

enum class Level : uint8_t { kError = 3, kWarning = 4, kNotice = 5, kInfo = 6, kDebug = 7 };

struct Field {
  Field(std::string_view name, std::string_view value) : name(name), value(value) {}
  Field(std::string_view name, const char* value) : name(name), value(value) {}
  Field(std::string_view name, const std::string& value) : name(name), value(value) {}
  Field(std::string_view name, int64_t value) : name(name), value(std::to_string(value)) {}
  Field(std::string_view name, int value) : name(name), value(std::to_string(value)) {}
  Field(std::string_view name, uint64_t value) : name(name), value(std::to_string(value)) {}

  std::string_view name;
  std::string value;
};

using Fields = std::initializer_list<Field>;

// Lines below this level are dropped. Default kInfo.
void SetLevel(Level level);
// Without the "<6>" prefix where stdout is a terminal.
void Write(Level level, std::string_view message, Fields fields = {});

inline void Error(std::string_view message, Fields fields = {}) { Write(Level::kError, message, fields); }
inline void Warning(std::string_view message, Fields fields = {}) { Write(Level::kWarning, message, fields); }
inline void Notice(std::string_view message, Fields fields = {}) { Write(Level::kNotice, message, fields); }
inline void Info(std::string_view message, Fields fields = {}) { Write(Level::kInfo, message, fields); }
inline void Debug(std::string_view message, Fields fields = {}) { Write(Level::kDebug, message, fields); }

}  // namespace comanda::log
