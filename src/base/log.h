#pragma once

// Structured log, one line per event, with journal priorities ("<6>"): changes and
// errors, not a line per poll. No secret is ever passed to it; values that look like an API key are
// masked all the same.
//
//   log::Info("order placed", {{"order", id}, {"total", total}});
//   -> <6>order placed order=0190... total=12.5 (values with blanks or quotes are quoted)
//
// Any thread. Each line is written when it happens, cut at PIPE_BUF (4096 bytes). Where the output
// is a pipe that nobody reads, a line waits at most 100 ms, and those after it do not wait until
// the pipe is read again: they are lost, so that no request hangs on the log.

#include <cstdint>
#include <array>
#include <charconv>
#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>

namespace comanda::log {

enum class Level : uint8_t { kError = 3, kWarning = 4, kNotice = 5, kInfo = 6, kDebug = 7 };

// A name and what it is, which must live as long as the line is made. Needs no memory of its own.
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

// Lines below this level are dropped. Default kInfo.
void SetLevel(Level level);
// Where lines go: stdout, unless a command needs that for its answer.
void SetOutput(int fd);
// Without the "<6>" prefix where the output is a terminal. A line that finds no memory or no reader
// is lost: nothing that goes on or is given up depends on it.
void Write(Level level, std::string_view message, Fields fields = {}) noexcept;
// The line as Write puts it, without prefix and line end: secrets masked, control bytes escaped, so
// that no value can begin a line of its own, and values cut at 4096 bytes.
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
