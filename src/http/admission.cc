#define COMANDA_HOOKS_IMPLEMENTATION
#include "http/admission.h"

#include <civetweb_hooks.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <thread>

namespace comanda::http {
namespace {

// A connection that has not sent its request yet is left alone for so long, however short workers
// are: else a rush of good clients would push each other out.
constexpr int64_t kPendingGraceMs = 1'000;
// What a client may still send after the last answer.
constexpr size_t kDrainBytesMax = 16 * 1024 * 1024;
constexpr int64_t kDrainMs = 2'000;
// The end of a wait is always announced by shutdown(2); this is for the moment between a look and
// the wait.
constexpr int64_t kSliceMs = 1'000;
// The machine has no descriptor or memory for a connection: looking again at once would not help.
constexpr std::chrono::milliseconds kAcceptPause{50};

std::string Labels(const std::string& listener, std::string_view more = {}) {
  std::string out = "listener=\"" + listener + '"';
  if (!more.empty()) out.append(",").append(more);
  return out;
}

void SetSocketOptions(int fd, int family) {
  if (family != AF_INET && family != AF_INET6) return;
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

}  // namespace

Worker& ThisWorker() {
  thread_local Worker worker;
  return worker;
}

Admission::Admission(int workers, const Timeouts& timeouts, const Clock& clock,
                     metrics::Registry& registry, const std::string& listener)
    : workers_(static_cast<size_t>(workers)),
      timeouts_(timeouts),
      clock_(clock),
      accepted_(registry, "comanda_http_connections_accepted_total", "Connections accepted.",
                Labels(listener)),
      refused_(registry, "comanda_http_connections_refused_total",
               "Connections closed at once since all workers were busy.", Labels(listener)),
      evicted_(registry, "comanda_http_connections_evicted_total",
               "Idle or slow connections closed to make room for new ones.", Labels(listener)),
      handshakes_timed_out_(registry, "comanda_http_handshakes_failed_total",
                            "TLS handshakes that failed.", Labels(listener, "reason=\"timeout\"")),
      handshakes_failed_(registry, "comanda_http_handshakes_failed_total",
                         "TLS handshakes that failed.", Labels(listener, "reason=\"error\"")),
      in_handshake_(
          registry, "comanda_http_connections", "Open connections by state.",
          [this] { return CountIn(ConnectionState::kHandshake); },
          Labels(listener, "state=\"handshake\"")),
      in_head_(
          registry, "comanda_http_connections", "Open connections by state.",
          [this] { return CountIn(ConnectionState::kHead); }, Labels(listener, "state=\"head\"")),
      in_request_(
          registry, "comanda_http_connections", "Open connections by state.",
          [this] { return CountIn(ConnectionState::kRequest); },
          Labels(listener, "state=\"request\"")),
      in_idle_(
          registry, "comanda_http_connections", "Open connections by state.",
          [this] { return CountIn(ConnectionState::kIdle); }, Labels(listener, "state=\"idle\"")) {}

double Admission::CountIn(ConnectionState state) const {
  const std::lock_guard lock(mutex_);
  return static_cast<double>(std::ranges::count_if(
      connections_, [&](const auto& entry) { return entry.second->state.load() == state; }));
}

int Admission::Accept(int listener, sockaddr* address, unsigned* size) {
  const int fd = accept4(listener, address, size, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) {
    const bool will_pass = errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
    if (!will_pass) std::this_thread::sleep_for(kAcceptPause);
    return -1;
  }
  const int64_t now_ms = clock_.MonotonicMs();
  const std::lock_guard lock(mutex_);
  if (refusing_ || !MakeRoom(now_ms)) {
    refused_.Add();
    ::close(fd);
    errno = ECONNABORTED;
    return -1;
  }
  SetSocketOptions(fd, address->sa_family);
  connections_.emplace(fd, std::make_unique<Connection>(fd, now_ms));
  accepted_.Add();
  return fd;
}

bool Admission::MakeRoom(int64_t now_ms) {
  while (connections_.size() - closing_ >= workers_) {
    Connection* victim = OldestIn(true, now_ms);
    if (victim == nullptr) victim = OldestIn(false, now_ms - kPendingGraceMs);
    if (victim == nullptr) return false;
    const ConnectionState state = victim->state.load();
    if (state == ConnectionState::kRequest) continue;  // it went on meanwhile
    if (End(*victim, state)) evicted_.Add();
  }
  return true;
}

Connection* Admission::OldestIn(bool idle, int64_t since_max_ms) {
  Connection* oldest = nullptr;
  int64_t since_ms = since_max_ms;
  for (const auto& [fd, connection] : connections_) {
    const ConnectionState state = connection->state.load();
    const bool fits = idle
                          ? state == ConnectionState::kIdle
                          : state == ConnectionState::kHandshake || state == ConnectionState::kHead;
    if (!fits || connection->since_ms.load() > since_ms) continue;
    oldest = connection.get();
    since_ms = connection->since_ms.load();
  }
  return oldest;
}

bool Admission::End(Connection& connection, ConnectionState from) {
  if (from == ConnectionState::kClosing) return false;
  if (!connection.state.compare_exchange_strong(from, ConnectionState::kClosing)) return false;
  ++closing_;
  // The worker sees the end of the stream and closes in good order. A client in the middle of a
  // handshake or a head could go on sending, so its connection is cut both ways.
  shutdown(connection.fd, from == ConnectionState::kIdle ? SHUT_RD : SHUT_RDWR);
  return true;
}

void Admission::EndAll() {
  const std::lock_guard lock(mutex_);
  for (const auto& [fd, connection] : connections_) {
    while (connection->state.load() != ConnectionState::kClosing) {
      End(*connection, connection->state.load());
    }
  }
}

Connection* Admission::Find(int fd) {
  const std::lock_guard lock(mutex_);
  const auto it = connections_.find(fd);
  return it == connections_.end() ? nullptr : it->second.get();
}

bool Admission::Enter(Connection& connection, ConnectionState state) {
  ConnectionState old = connection.state.load();
  connection.since_ms = clock_.MonotonicMs();
  do {
    if (old == ConnectionState::kClosing) return false;
  } while (!connection.state.compare_exchange_weak(old, state));
  switch (state) {
    case ConnectionState::kHandshake:
      SetDeadline(connection, timeouts_.handshake_ms);
      break;
    case ConnectionState::kHead:
      SetDeadline(connection, timeouts_.head_ms);
      break;
    case ConnectionState::kIdle:
      SetDeadline(connection, timeouts_.idle_ms);
      break;
    case ConnectionState::kRequest:
    case ConnectionState::kClosing:
      connection.deadline_ms = 0;
      break;
  }
  return true;
}

void Admission::SetDeadline(Connection& connection, int64_t from_now_ms) {
  connection.deadline_ms = clock_.MonotonicMs() + from_now_ms;
  connection.deadline_passed = false;
}

int Admission::Poll(Connection& connection, pollfd& wanted, int timeout_ms) {
  const bool reading = (wanted.events & POLLIN) != 0;
  // A handshake writes too, and its deadline counts for both.
  const bool bounded =
      connection.deadline_ms != 0 && (reading || connection.state == ConnectionState::kHandshake);
  if (!bounded) return ::poll(&wanted, 1, timeout_ms);
  for (;;) {
    if (connection.state == ConnectionState::kClosing) {
      errno = ECONNRESET;
      return -1;
    }
    const int64_t left_ms = connection.deadline_ms - clock_.MonotonicMs();
    if (left_ms <= 0) {
      connection.deadline_passed = true;
      errno = ETIMEDOUT;
      return -1;
    }
    const int ready = ::poll(&wanted, 1, static_cast<int>(std::min(left_ms, kSliceMs)));
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    if (ready > 0 && connection.state == ConnectionState::kIdle) {
      Enter(connection, ConnectionState::kHead);
    }
    return ready;
  }
}

void Admission::Close(int fd) {
  Connection* connection = Find(fd);
  if (connection == nullptr) {
    ::close(fd);
    return;
  }
  if (connection->drain_on_close) Drain(*connection);
  {
    // Forgotten before it is closed: nobody may shut down a number that is in use again.
    const std::lock_guard lock(mutex_);
    if (connection->state == ConnectionState::kClosing) --closing_;
    connections_.erase(fd);
  }
  Worker& worker = ThisWorker();
  if (worker.connection == connection) worker.connection = nullptr;
  ::close(fd);
}

// A close with unread input resets the connection, which can destroy an answer on its way. Our side
// is shut already; what the client still sends is thrown away for a moment. It counts as idle
// meanwhile.
void Admission::Drain(Connection& connection) {
  if (!Enter(connection, ConnectionState::kIdle)) return;
  SetDeadline(connection, kDrainMs);
  std::array<char, 16 * 1024> waste;
  size_t total = 0;
  pollfd wanted{connection.fd, POLLIN, 0};
  while (total < kDrainBytesMax) {
    const int64_t left_ms = connection.deadline_ms - clock_.MonotonicMs();
    if (left_ms <= 0 || ::poll(&wanted, 1, static_cast<int>(left_ms)) <= 0) return;
    const ssize_t got = recv(connection.fd, waste.data(), waste.size(), MSG_DONTWAIT);
    if (got <= 0) return;
    total += static_cast<size_t>(got);
  }
}

void Admission::CountHandshakeFailure(bool timed_out) {
  (timed_out ? handshakes_timed_out_ : handshakes_failed_).Add();
}

}  // namespace comanda::http

using comanda::http::Connection;
using comanda::http::ConnectionState;
using comanda::http::ThisWorker;
using comanda::http::Worker;

extern "C" int comanda_accept(int listener, sockaddr* address, socklen_t* size) {
  return ThisWorker().admission->Accept(listener, address, size);
}

extern "C" int comanda_close(int descriptor) {
  if (Worker& worker = ThisWorker(); worker.admission != nullptr) {
    worker.admission->Close(descriptor);
    return 0;
  }
  return ::close(descriptor);
}

extern "C" int comanda_poll(pollfd* descriptors, unsigned long count, int timeout_ms) {
  Worker& worker = ThisWorker();
  if (worker.admission == nullptr || worker.accepting || count != 1) {
    return ::poll(descriptors, count, timeout_ms);
  }
  if (worker.connection == nullptr) {  // the first wait of a connection without TLS
    worker.connection = worker.admission->Find(descriptors->fd);
    if (worker.connection == nullptr) return ::poll(descriptors, count, timeout_ms);
    worker.admission->Enter(*worker.connection, ConnectionState::kHead);
  }
  return worker.admission->Poll(*worker.connection, *descriptors, timeout_ms);
}
