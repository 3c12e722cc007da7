#include "doctor/bounded.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>

#include "base/problem_text.h"
#include "base/time/clock.h"
#include "base/handle.h"
#include "base/problem.h"

namespace comanda::doctor {
namespace {

constexpr size_t kResultBytesMax = 4 << 20;
constexpr int kReturned = 0;
constexpr int kThrew = 1;

struct Running {
  pid_t process = -1;
  Fd pipe;
  std::string received;
  bool ended = false;
};

void WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

// In the process of the work. A reader of our output must not wait for it.
[[noreturn]] void Do(const Work& work, int pipe, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kThrew);
  const int null = ::open("/dev/null", O_RDWR);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (null < 0 || ::dup2(null, fd) < 0) ::close(fd);
  }
  int status = kReturned;
  std::string text;
  try {
    text = work();
  } catch (const Refusal& refusal) {
    text = InWords(refusal);
    status = kThrew;
  } catch (const Fault& fault) {
    text = fault.cause;
    status = kThrew;
  } catch (const std::exception& error) {
    text = error.what();
    status = kThrew;
  }
  WriteAll(pipe, text);
  ::_exit(status);
}

Running Start(const Work& work) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw Fault(Fault::Kind::kUnavailable, std::string("cannot make a pipe: ") + strerror(errno));
  }
  Fd reading(ends[0]);
  const Fd writing(ends[1]);
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process < 0) {
    throw Fault(Fault::Kind::kUnavailable,
                std::string("cannot start a process: ") + std::strerror(errno));
  }
  if (process == 0) Do(work, writing.get(), parent);
  return {.process = process, .pipe = std::move(reading)};
}

// Reads what is there; true at its end.
bool Receive(Running& running) {
  std::array<char, 16'384> bytes;
  const ssize_t count = ::read(running.pipe.get(), bytes.data(), bytes.size());
  if (count < 0 && errno == EINTR) return false;
  if (count <= 0) return true;
  running.received.append(bytes.data(), static_cast<size_t>(count));
  return running.received.size() > kResultBytesMax;
}

// Of a process that has closed its pipe, and so is about to end. One that hangs in the kernel is
// left behind at the deadline.
std::optional<int> StatusOf(pid_t process, int64_t deadline_ms) {
  while (true) {
    int status = 0;
    if (::waitpid(process, &status, WNOHANG) == process) return status;
    if (SystemClock().MonotonicMs() >= deadline_ms) return std::nullopt;
    ::usleep(5'000);
  }
}

Outcome OutcomeOf(Running& running, int64_t timeout_ms, int64_t deadline_ms) {
  if (!running.ended) {
    ::kill(running.process, SIGKILL);
    ::waitpid(running.process, nullptr, WNOHANG);
    return {.result = {},
            .failure = "no answer within " + std::to_string(timeout_ms / 1000) + " s"};
  }
  const std::optional<int> status = StatusOf(running.process, deadline_ms);
  if (status && WIFEXITED(*status) && WEXITSTATUS(*status) == kReturned) {
    return {.result = std::move(running.received), .failure = {}};
  }
  if (status && WIFSIGNALED(*status)) {
    return {.result = {}, .failure = "it ended with signal " + std::to_string(WTERMSIG(*status))};
  }
  return {.result = {}, .failure = std::move(running.received)};
}

}  // namespace

std::vector<Outcome> RunBounded(const std::vector<Work>& pieces, int64_t timeout_ms) {
  const int64_t deadline_ms = SystemClock().MonotonicMs() + timeout_ms;
  std::vector<Running> all;
  all.reserve(pieces.size());
  for (const Work& work : pieces) all.push_back(Start(work));
  while (true) {
    std::vector<pollfd> waits;
    std::vector<Running*> waiting;
    for (Running& one : all) {
      if (one.ended) continue;
      waits.push_back({.fd = one.pipe.get(), .events = POLLIN, .revents = 0});
      waiting.push_back(&one);
    }
    const int64_t left_ms = deadline_ms - SystemClock().MonotonicMs();
    if (waits.empty() || left_ms <= 0) break;
    if (::poll(waits.data(), waits.size(), static_cast<int>(left_ms)) <= 0) continue;
    for (size_t i = 0; i < waits.size(); ++i) {
      if (waits[i].revents != 0) waiting[i]->ended = Receive(*waiting[i]);
    }
  }
  // What was read at the last moment has a second to end.
  const int64_t ended_by_ms = std::max(deadline_ms, SystemClock().MonotonicMs() + 1'000);
  std::vector<Outcome> outcomes;
  outcomes.reserve(all.size());
  for (Running& one : all) outcomes.push_back(OutcomeOf(one, timeout_ms, ended_by_ms));
  return outcomes;
}

Outcome RunBounded(const Work& work, int64_t timeout_ms) {
  return std::move(RunBounded(std::vector<Work>{work}, timeout_ms).front());
}

}  // namespace comanda::doctor
