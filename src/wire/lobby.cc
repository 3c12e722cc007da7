#include "wire/lobby.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>

#include "wire/sources.h"

namespace comanda::wire {
namespace {

enum class Sent : uint8_t { kNothing, kSomething, kEnd };

Sent Peek(int fd) {
  char byte = 0;
  const ssize_t got = ::recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (got > 0) return Sent::kSomething;
  const bool is_silent = got < 0 && (errno == EAGAIN || errno == EINTR);
  return is_silent ? Sent::kNothing : Sent::kEnd;
}

bool IsReadable(int fd) {
  pollfd wanted{fd, POLLIN, 0};
  return ::poll(&wanted, 1, 0) == 1;
}

}  // namespace

Lobby::Lobby(int64_t wait_ms, const Clock& clock) : wait_ms_(wait_ms), clock_(clock) {
  waiting_.reserve(kWaitingMax);
}

Lobby::~Lobby() {
  for (const Waiting& one : waiting_) ::close(one.fd);
}

int Lobby::Poll(pollfd* listeners, size_t count, int timeout_ms) {
  CloseExpired();
  polled_.assign(listeners, listeners + count);
  for (const Waiting& one : waiting_) polled_.push_back({one.fd, POLLIN, 0});
  if (!waiting_.empty()) {
    const int64_t left_ms = waiting_.front().until_ms - clock_.MonotonicMs();
    timeout_ms = static_cast<int>(std::clamp<int64_t>(left_ms, 0, timeout_ms));
  }
  if (const int ready = ::poll(polled_.data(), polled_.size(), timeout_ms); ready <= 0) {
    return ready;
  }
  int readable = 0;
  for (size_t i = 0; i < count; ++i) {
    listeners[i].revents = polled_[i].revents;
    readable += listeners[i].revents != 0 ? 1 : 0;
  }
  bool any_has_sent = false;
  for (size_t i = waiting_.size(); i-- > 0;) {
    if (polled_[count + i].revents == 0) continue;
    const Sent sent = Peek(waiting_[i].fd);
    waiting_[i].has_sent = sent == Sent::kSomething;
    any_has_sent = any_has_sent || waiting_[i].has_sent;
    if (sent == Sent::kEnd) CloseAt(i);
  }
  if (readable == 0 && any_has_sent) {
    listeners[0].revents = POLLIN;
    readable = 1;
  }
  return readable;
}

int Lobby::Accept(int listener, sockaddr* address, unsigned* size) {
  for (size_t i = 0; i < waiting_.size(); ++i) {
    if (waiting_[i].has_sent) return Take(i, address, size);
  }
  // Poll() may have called it readable for a connection that has been taken since.
  if (!IsReadable(listener)) {
    errno = EAGAIN;
    return -1;
  }
  const int fd = ::accept4(listener, address, size, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) {
    const int why = errno;
    if ((why == EMFILE || why == ENFILE) && !waiting_.empty()) CloseAt(0);
    errno = why;
    return -1;
  }
  if (Peek(fd) == Sent::kSomething) return fd;
  try {
    MakeRoom();
    Waiting one{.fd = fd, .address = {}, .source = SourceOf(*address)};
    one.address_size = std::min<unsigned>(*size, sizeof one.address);
    std::memcpy(&one.address, address, one.address_size);
    one.until_ms = clock_.MonotonicMs() + wait_ms_;
    waiting_.push_back(std::move(one));
  } catch (...) {
    ::close(fd);
    throw;
  }
  errno = EAGAIN;
  return -1;
}

int Lobby::Take(size_t index, sockaddr* address, unsigned* size) {
  const Waiting one = std::move(waiting_[index]);
  waiting_.erase(waiting_.begin() + static_cast<ptrdiff_t>(index));
  *size = std::min(*size, one.address_size);
  std::memcpy(address, &one.address, *size);
  return one.fd;
}

void Lobby::CloseAt(size_t index) {
  ::close(waiting_[index].fd);
  waiting_.erase(waiting_.begin() + static_cast<ptrdiff_t>(index));
}

void Lobby::CloseExpired() {
  const int64_t now_ms = clock_.MonotonicMs();
  while (!waiting_.empty() && waiting_.front().until_ms <= now_ms) CloseAt(0);
}

void Lobby::MakeRoom() {
  if (waiting_.size() < kWaitingMax) return;
  std::map<std::string_view, size_t> counts;
  for (const Waiting& one : waiting_) ++counts[one.source];
  const auto most =
      std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
  const auto oldest = std::ranges::find(waiting_, most->first, &Waiting::source);
  CloseAt(static_cast<size_t>(oldest - waiting_.begin()));
}

}  // namespace comanda::wire
