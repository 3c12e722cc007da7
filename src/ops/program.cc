#include "ops/program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/time/clock.h"
#include "base/handle.h"

namespace comanda::ops {
namespace {

constexpr size_t kOutputBytesMax = 64 * 1024;

std::string PathOf(const std::string& name) {
  for (const char* directory : {"/usr/sbin/", "/usr/bin/", "/sbin/", "/bin/"}) {
    std::string path = directory + name;
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return "";
}

std::string ReadUntil(int fd, int64_t deadline_ms) {
  std::string text;
  std::array<char, 4096> piece;
  while (true) {
    const int64_t left_ms = deadline_ms - SystemClock().MonotonicMs();
    pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
    const int ready =
        left_ms <= 0 ? 0
                     : ::poll(&waiting, 1, static_cast<int>(std::min<int64_t>(left_ms, 60'000)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0 || left_ms <= 0) return text;
    if (ready == 0) continue;
    const ssize_t got = ::read(fd, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    if (text.size() < kOutputBytesMax) text.append(piece.data(), static_cast<size_t>(got));
  }
}

// The number of the process. `trouble` is 0, or the error by which it did not begin.
pid_t Spawn(const std::string& path, std::vector<std::string> words, int output, int& trouble) {
  words.insert(words.begin(), path);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    ::posix_spawn_file_actions_adddup2(&actions, output, stream);
  }
  std::string directories = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
  std::string language = "LC_ALL=C";
  std::array<char*, 3> environment = {directories.data(), language.data(), nullptr};
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t child = 0;
  trouble = ::posix_spawn(&child, path.c_str(), &actions, &attributes, arguments.data(),
                          environment.data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  return child;
}

}  // namespace

Said RunProgram(const std::string& name, const std::vector<std::string>& words, int64_t wait_ms) {
  const std::string path = PathOf(name);
  if (path.empty()) return {.text = "there is no program " + name};
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return {.text = std::strerror(errno)};
  const Fd out(pipe[0]);
  Fd in(pipe[1]);
  int trouble = 0;
  const pid_t child = Spawn(path, words, in.get(), trouble);
  in.Reset(-1);
  if (trouble != 0) return {.text = std::strerror(trouble)};

  const int64_t deadline_ms = SystemClock().MonotonicMs() + wait_ms;
  Said said{.text = ReadUntil(out.get(), deadline_ms)};
  if (SystemClock().MonotonicMs() >= deadline_ms) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFEXITED(status)) said.status = WEXITSTATUS(status);
  return said;
}

}  // namespace comanda::ops
