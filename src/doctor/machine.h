#pragma once

// The machine as its checks read it: files below a root directory, which is / or, in tests, a
// prepared tree, and programs of that tree. Nothing throws for what a file contains or where it is
// missing: other kernels and boards have other files. Reads may block (doctor/bounded.h). Any
// thread.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace comanda::doctor {

class Machine {
 public:
  // `root` without a slash at its end; empty: this machine. Paths below begin with a slash.
  // `program_ms`: how long a program may run.
  explicit Machine(std::string root = {}, int64_t program_ms = 3'000)
      : root_(std::move(root)), program_ms_(program_ms) {}

  // The first 256 KiB of a regular file or of one in /proc or /sys; nothing if it cannot be read.
  std::optional<std::string> Read(std::string_view path) const;
  // The first line without blanks at its ends; empty if there is none.
  std::string Line(std::string_view path) const;
  // A file that holds one number, decimal or 0x hexadecimal; nothing for anything else.
  std::optional<int64_t> Number(std::string_view path) const;
  // The names in a directory, sorted, 4096 at most.
  std::vector<std::string> List(std::string_view directory) const;
  // True also for a symbolic link whose target is missing.
  bool IsThere(std::string_view path) const;
  // Where a symbolic link points; empty if it is none.
  std::string Target(std::string_view link) const;
  // The sizes of all files below a directory, on its file system.
  int64_t BytesBelow(std::string_view directory) const;
  // What a program prints, whatever its exit code: for what no file tells. It is searched in the
  // system's directories for programs, and run with LC_ALL=C as its only environment variable.
  // Nothing if it is not installed, or has not ended in time.
  std::optional<std::string> OutputFrom(const std::string& program,
                                        const std::vector<std::string>& arguments) const;

  std::string PathOf(std::string_view path) const { return root_ + std::string(path); }

 private:
  std::string root_;
  int64_t program_ms_;
};

// "0x0A", "10", "-5"; nothing for anything else. Pure.
std::optional<int64_t> ParseNumber(std::string_view text);
// The words of a line between blanks and tabs. Pure.
std::vector<std::string_view> WordsOf(std::string_view line);
// The value after "key" and blanks or a colon at the beginning of a line, as in /proc/meminfo.
std::optional<int64_t> NumberAfter(std::string_view text, std::string_view key);

}  // namespace comanda::doctor
