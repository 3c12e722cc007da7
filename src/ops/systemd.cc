#include "ops/systemd.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "base/handle.h"

namespace comanda::ops {

namespace {

// Sends the message, and a duplicate of `fd` with it unless that is -1.
void Send(std::string_view state, int fd) {
  const char* path = std::getenv("NOTIFY_SOCKET");
  if (path == nullptr || (path[0] != '/' && path[0] != '@')) return;

  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const size_t length = std::strlen(path);
  if (length >= sizeof address.sun_path) return;
  std::memcpy(address.sun_path, path, length);
  if (path[0] == '@') address.sun_path[0] = '\0';  // an abstract socket

  const Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return;
  iovec text{.iov_base = const_cast<char*>(state.data()), .iov_len = state.size()};
  msghdr message{};
  message.msg_name = &address;
  message.msg_namelen = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof fd)> control{};
  if (fd >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  }
  // A failure is ignored: systemd may be restarting.
  (void)::sendmsg(socket.get(), &message, MSG_NOSIGNAL);
}

// The value of a variable that is a number; -1 where it is not.
int64_t NumberIn(const char* variable) {
  const char* text = std::getenv(variable);
  int64_t value = -1;
  if (text == nullptr) return value;
  const char* end = text + std::strlen(text);
  const auto read = std::from_chars(text, end, value);
  return read.ec == std::errc() && read.ptr == end ? value : -1;
}

}  // namespace

void Notify(std::string_view state) { Send(state, -1); }

void NotifyUpgrading(const std::string& step) {
  Notify("EXTEND_TIMEOUT_USEC=600000000\nSTATUS=upgrading the database: " + step);
}

void NotifyReloading() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const int64_t microseconds = now.tv_sec * 1'000'000 + now.tv_nsec / 1000;
  Notify("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(microseconds));
}

bool UnderSystemd() { return std::getenv("NOTIFY_SOCKET") != nullptr; }

std::vector<PassedDescriptor> TakePassedDescriptors() {
  constexpr int kFirst = 3;  // SD_LISTEN_FDS_START
  constexpr int64_t kMax = 64;
  std::vector<PassedDescriptor> passed;
  const int64_t count = NumberIn("LISTEN_FDS");
  if (NumberIn("LISTEN_PID") == ::getpid() && count > 0 && count <= kMax) {
    const char* text = std::getenv("LISTEN_FDNAMES");
    std::string_view names = text == nullptr ? "" : text;
    for (int fd = kFirst; fd < kFirst + count; ++fd) {
      const size_t colon = std::min(names.find(':'), names.size());
      ::fcntl(fd, F_SETFD, FD_CLOEXEC);
      passed.push_back({Fd(fd), std::string(names.substr(0, colon))});
      names.remove_prefix(std::min(colon + 1, names.size()));
    }
  }
  for (const char* variable : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) ::unsetenv(variable);
  return passed;
}

void StoreDescriptor(int fd, std::string_view name) {
  Send("FDSTORE=1\nFDNAME=" + std::string(name), fd);
}

void DiscardDescriptors(std::string_view name) {
  Notify("FDSTOREREMOVE=1\nFDNAME=" + std::string(name));
  if (!UnderSystemd()) return;
  // systemd closes the descriptor of a barrier when it has handled all messages before it.
  constexpr int kWaitMs = 5'000;
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
  const Fd waits(ends[0]);
  {
    const Fd sent(ends[1]);
    Send("BARRIER=1", sent.get());
  }
  pollfd wanted{.fd = waits.get(), .events = POLLIN, .revents = 0};
  ::poll(&wanted, 1, kWaitMs);
}

}  // namespace comanda::ops
