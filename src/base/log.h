#pragma once

// The structured log: one line per event, to stdout, with the priority prefix that the journal
// reads ("<6>"). It records changes and errors, not each poll. Callers never pass secrets; values
// that look like an API key or a webhook secret are masked as a second line of defence.
//
//   log::Info("order placed", {{"order", id}, {"total", total}});
//   -> <6>order placed order=0190... total=12.5
//
// Values with blanks, quotes or "=" are quoted. Control bytes are escaped, so that no value can
// start a line of its own. Values are cut at 4096 bytes, a line at PIPE_BUF (4096 bytes).
//
// Any thread; a line is written by the thread that logs it, in one write(), so that lines do not
// interleave. Lines are dropped rather than stopping a request: if the output is a pipe that is
// full, one line waits up to 100 ms for room, and the following ones are dropped without waiting
// until the pipe has room again.

#include <cstdint>
#include <array>
#include <charconv>
#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>

namespace comanda::log {

// The priorities of syslog (RFC 5424 section 6.2.1).
enum class Level : uint8_t { kError = 3, kWarning = 4, kNotice = 5, kInfo = 6, kDebug = 7 };

// One name=value pair. Refers to the caller's text, which must outlive the call that logs it;
// numbers are formatted into the field itself. Allocates nothing.
class Field {
 public:
  Field(std::string_view key, std::string_view text) : name(key), text_(text) {}
  Field(std::string_view key, const char* text) : name(key), text_(text) {}
  Field(std::string_view key, const std::string& text) : name(key), text_(text) {}
  template <std::integral Number>
  Field(std::string_view key, Number number)
      : name(key),
        digits_size_(static_cast<size_t>(
            std::to_chars(digits_.data(), digits_.data() + digits_.size(), number).ptr -
            digits_.data())) {}

  std::string_view value() const {
    return digits_size_ == 0 ? text_ : std::string_view(digits_.data(), digits_size_);
  }

  std::string_view name;

 private:
  std::string_view text_;
  std::array<char, 20> digits_ = {};
  size_t digits_size_ = 0;
};

using Fields = std::initializer_list<Field>;

// Drops lines less severe than `level`. The default is kInfo.
void SetLevel(Level level);
// Redirects the log to a file descriptor that the caller keeps open. Commands that print their
// result to stdout send the log to stderr.
void SetOutput(int fd);
// Writes one line; without the "<6>" prefix if the output is a terminal. Never throws: a line that
// finds neither memory nor room in the output is dropped.
void Write(Level level, std::string_view message, Fields fields = {}) noexcept;
// The line as Write() formats it, without prefix and line end, and not cut at PIPE_BUF.
std::string Line(std::string_view message, Fields fields = {});

inline void Error(std::string_view message, Fields fields = {}) {
  Write(Level::kError, message, fields);
}
inline void Warning(std::string_view message, Fields fields = {}) {
  Write(Level::kWarning, message, fields);
}
inline void Notice(std::string_view message, Fields fields = {}) {
  Write(Level::kNotice, message, fields);
}
inline void Info(std::string_view message, Fields fields = {}) {
  Write(Level::kInfo, message, fields);
}
inline void Debug(std::string_view message, Fields fields = {}) {
  Write(Level::kDebug, message, fields);
}

}  // namespace comanda::log
