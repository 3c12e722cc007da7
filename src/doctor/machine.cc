#include "doctor/machine.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <memory>

#include "base/time/clock.h"
#include "base/handle.h"
#include "base/text.h"

namespace comanda::doctor {
namespace {

constexpr size_t kReadBytesMax = 256 * 1024;
constexpr size_t kNamesMax = 4096;
constexpr int kDepthMax = 6;
constexpr size_t kOutputBytesMax = 4 << 20;

// Up to `max` bytes of a file descriptor that does not block for long.
std::string ReadUpTo(int fd, size_t max) {
  std::string text;
  while (text.size() < max) {
    const size_t size = text.size();
    text.resize(std::min(max, size + 16'384));
    const ssize_t got = ::read(fd, text.data() + size, text.size() - size);
    const int error = errno;
    text.resize(size + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0 || (got < 0 && error != EINTR)) break;
  }
  return text;
}

int64_t BytesOf(const std::string& directory, dev_t device, int depth, size_t& left) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(directory.c_str()), &::closedir);
  if (!entries) return 0;
  int64_t bytes = 0;
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == ".." || left == 0) continue;
    --left;
    struct stat found {};
    const std::string path = directory + "/" + entry->d_name;
    if (::lstat(path.c_str(), &found) != 0 || found.st_dev != device) continue;
    if (S_ISREG(found.st_mode)) bytes += found.st_blocks * 512;
    if (S_ISDIR(found.st_mode) && depth < kDepthMax)
      bytes += BytesOf(path, device, depth + 1, left);
  }
  return bytes;
}

// The output of a process until its end; nothing if that takes longer.
std::optional<std::string> OutputOf(int pipe, int64_t timeout_ms) {
  const int64_t deadline_ms = SystemClock().MonotonicMs() + timeout_ms;
  std::string text;
  while (text.size() < kOutputBytesMax) {
    const int64_t left_ms = deadline_ms - SystemClock().MonotonicMs();
    if (left_ms <= 0) return std::nullopt;
    pollfd wait{.fd = pipe, .events = POLLIN, .revents = 0};
    if (::poll(&wait, 1, static_cast<int>(left_ms)) <= 0) continue;
    std::array<char, 16'384> bytes;
    const ssize_t count = ::read(pipe, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(bytes.data(), static_cast<size_t>(count));
  }
  return text;
}

}  // namespace

std::optional<std::string> Machine::Read(std::string_view path) const {
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
  const Fd fd(::open(PathOf(path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat found {};
  if (!fd || ::fstat(fd.get(), &found) != 0 || !S_ISREG(found.st_mode)) return std::nullopt;
  return ReadUpTo(fd.get(), kReadBytesMax);
}

std::string Machine::Line(std::string_view path) const {
  const std::string text = Read(path).value_or("");
  // Files of the device tree end with NUL.
  return std::string(Trimmed(std::string_view(text).substr(0, text.find_first_of({"\n\0", 2}))));
}

std::optional<int64_t> Machine::Number(std::string_view path) const {
  return ParseNumber(Line(path));
}

std::vector<std::string> Machine::List(std::string_view directory) const {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(PathOf(directory).c_str()),
                                                    &::closedir);
  std::vector<std::string> names;
  if (!entries) return names;
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (names.size() == kNamesMax) break;
    names.emplace_back(name);
  }
  std::ranges::sort(names);
  return names;
}

bool Machine::IsThere(std::string_view path) const {
  struct stat found {};
  return ::lstat(PathOf(path).c_str(), &found) == 0;
}

std::string Machine::Target(std::string_view link) const {
  std::array<char, 4096> target;
  const ssize_t size = ::readlink(PathOf(link).c_str(), target.data(), target.size());
  return std::string(target.data(), static_cast<size_t>(std::max<ssize_t>(size, 0)));
}

int64_t Machine::BytesBelow(std::string_view directory) const {
  const std::string path = PathOf(directory);
  struct stat found {};
  size_t left = 100'000;
  if (::stat(path.c_str(), &found) != 0) return 0;
  return BytesOf(path, found.st_dev, 0, left);
}

std::optional<std::string> Machine::OutputFrom(const std::string& program,
                                               const std::vector<std::string>& arguments) const {
  std::string path;
  for (const char* directory : {"/usr/sbin/", "/usr/bin/", "/sbin/", "/bin/"}) {
    path = PathOf(directory + program);
    if (::access(path.c_str(), X_OK) == 0) break;
    path.clear();
  }
  if (path.empty()) return std::nullopt;

  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  const Fd reading(ends[0]);
  Fd writing(ends[1]);
  posix_spawn_file_actions_t actions;
  if (::posix_spawn_file_actions_init(&actions) != 0) return std::nullopt;
  const std::unique_ptr<posix_spawn_file_actions_t, int (*)(posix_spawn_file_actions_t*)> owner(
      &actions, &::posix_spawn_file_actions_destroy);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, writing.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);

  std::vector<std::string> words = arguments;
  words.insert(words.begin(), program);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  std::string language = "LC_ALL=C";
  std::array<char*, 2> environment = {language.data(), nullptr};
  pid_t process = -1;
  if (::posix_spawn(&process, path.c_str(), &actions, nullptr, pointers.data(),
                    environment.data()) != 0) {
    return std::nullopt;
  }
  writing.Reset();
  std::optional<std::string> output = OutputOf(reading.get(), program_ms_);
  ::kill(process, SIGKILL);
  // One that hangs in the kernel is left behind.
  for (int tries = 0; tries < 20 && ::waitpid(process, nullptr, WNOHANG) == 0; ++tries) {
    ::usleep(5'000);
  }
  return output;
}

std::optional<int64_t> ParseNumber(std::string_view text) {
  int64_t value = 0;
  const bool is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (is_hexadecimal) text.remove_prefix(2);
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value, is_hexadecimal ? 16 : 10);
  if (text.empty() || result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return value;
}

std::vector<std::string_view> WordsOf(std::string_view line) {
  std::vector<std::string_view> words;
  constexpr std::string_view kBlanks = " \t\r\n";
  while (true) {
    const size_t begin = line.find_first_not_of(kBlanks);
    if (begin == line.npos) return words;
    const size_t end = std::min(line.find_first_of(kBlanks, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    line.remove_prefix(end);
  }
}

std::optional<int64_t> NumberAfter(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::vector<std::string_view> words = WordsOf(line);
    if (words.size() < 2) continue;
    std::string_view name = words[0];
    if (name.ends_with(':')) name.remove_suffix(1);
    if (name == key) return ParseNumber(words[1]);
  }
  return std::nullopt;
}

}  // namespace comanda::doctor
