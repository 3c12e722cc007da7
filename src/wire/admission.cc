#include "wire/admission.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <new>
#include <string_view>
#include <thread>
#include <utility>

#include "base/log.h"

namespace comanda::wire {
namespace {

// A connection that makes its worker wait is not evicted before this time, however few workers are
// free: in a rush, good clients would otherwise evict each other.
constexpr int64_t kGraceMs = 1'000;
// File descriptors that connections may not take: the database and other files need them.
constexpr uint64_t kDescriptorsKept = 8;
// How many unsent bytes the kernel buffers per socket. Its default is megabytes, which would be
// encrypted and kept for a client that does not read.
constexpr int kUnsentBytesMax = 64 * 1024;
constexpr int64_t kReportEveryMs = 60'000;
constexpr int64_t kHeartbeatMaxMs = 60'000;
// How many bytes a client may still send after the last answer, and for how long.
constexpr size_t kDrainBytesMax = 16 * 1024 * 1024;
constexpr int64_t kDrainMs = 2'000;
constexpr int64_t kDiscardMs = 5'000;
// The longest single poll(2). An eviction wakes it by shutdown(2); the bound covers an eviction
// between the check of the state and the call.
constexpr int64_t kSliceMs = 1'000;
// The pause after accept(2) failed for want of a descriptor or of memory.
constexpr std::chrono::milliseconds kAcceptPause{50};

constexpr std::array<std::string_view, 4> kCauseNames = {"unauthenticated", "workers",
                                                         "descriptors", "stopping"};

size_t Index(Cause cause) { return static_cast<size_t>(cause); }

std::string Labels(const std::string& listener, std::string_view more = {}) {
  std::string out = "listener=\"" + listener + '"';
  if (!more.empty()) out.append(",").append(more);
  return out;
}

uint64_t DescriptorsMax() {
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

int PollOnce(const Connection& connection, pollfd& wanted, int timeout_ms) {
  if ((wanted.events & POLLIN) != 0 && connection.ahead_begin < connection.ahead_end) {
    wanted.revents = POLLIN;
    return 1;
  }
  return ::poll(&wanted, 1, timeout_ms);
}

void SetSocketOptions(int fd, int family) {
  if (family != AF_INET && family != AF_INET6) return;
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kUnsentBytesMax, sizeof kUnsentBytesMax);
}

}  // namespace

Admission::Admission(const Places& places, const Timeouts& timeouts, const Clock& clock,
                     metrics::Registry& registry, const std::string& listener,
                     Heartbeats* heartbeats, bool leaves_connections_waiting,
                     std::unique_ptr<Lobby> lobby)
    : workers_(static_cast<size_t>(places.all)),
      unauthenticated_max_(static_cast<size_t>(std::max(1, places.unauthenticated))),
      untrusted_tolerated_(workers_ / 4),
      timeouts_(timeouts),
      clock_(clock),
      listener_(listener),
      heartbeat_(heartbeats == nullptr ? nullptr
                                       : std::make_unique<Heartbeat>(
                                             *heartbeats, "listener " + listener, kHeartbeatMaxMs)),
      leaves_connections_waiting_(leaves_connections_waiting),
      lobby_(std::move(lobby)),
      accepted_(registry, "comanda_http_connections_accepted_total", "Connections accepted.",
                Labels(listener)),
      handshakes_timed_out_(registry, "comanda_http_handshakes_failed_total",
                            "TLS handshakes that failed.", Labels(listener, "reason=\"timeout\"")),
      handshakes_failed_(registry, "comanda_http_handshakes_failed_total",
                         "TLS handshakes that failed.", Labels(listener, "reason=\"error\"")),
      unauthenticated_(
          registry, "comanda_http_connections_unauthenticated",
          "Open connections that have not shown a valid key, without the places kept for sources "
          "that did.",
          [this] {
            const std::lock_guard lock(mutex_);
            return static_cast<double>(sources_.excess());
          },
          Labels(listener)) {
  for (size_t i = 0; i < kCauses; ++i) {
    const std::string labels = Labels(listener, "reason=\"" + std::string(kCauseNames[i]) + "\"");
    refused_[i] =
        std::make_unique<metrics::Counter>(registry, "comanda_http_connections_refused_total",
                                           "Connections closed at accept.", labels);
    evicted_[i] = std::make_unique<metrics::Counter>(
        registry, "comanda_http_connections_evicted_total",
        "Idle, slow or unauthenticated connections closed to make room for others.", labels);
  }
  using enum ConnectionState;
  for (const auto& [state, name] :
       {std::pair{kHandshake, "handshake"}, std::pair{kHead, "head"},
        std::pair{kRequest, "request"}, std::pair{kBody, "body"}, std::pair{kAnswer, "answer"},
        std::pair{kDiscard, "discard"}, std::pair{kIdle, "idle"}}) {
    open_.push_back(std::make_unique<metrics::Gauge>(
        registry, "comanda_http_connections", "Open connections by state.",
        [this, counted = state] { return CountIn(counted); },
        Labels(listener, "state=\"" + std::string(name) + "\"")));
  }
}

double Admission::CountIn(ConnectionState state) const {
  const std::lock_guard lock(mutex_);
  return static_cast<double>(std::ranges::count_if(
      connections_, [&](const auto& entry) { return entry.second->state.load() == state; }));
}

int Admission::PollListeners(pollfd* listeners, size_t count, int timeout_ms) {
  try {
    if (lobby_) return lobby_->Poll(listeners, count, timeout_ms);
  } catch (const std::bad_alloc&) {
  }
  return ::poll(listeners, count, timeout_ms);
}

int Admission::Accept(int listener, sockaddr* address, unsigned* size) {
  if (LeavesWaiting()) return -1;
  int fd = -1;
  try {
    fd = lobby_ ? lobby_->Accept(listener, address, size)
                : accept4(listener, address, size, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
      const bool will_pass = errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
      if (!will_pass) GiveUpOne();
      return -1;
    }
    if (Admit(fd, *address)) return fd;
  } catch (const std::bad_alloc&) {
    log::Error("no memory for a connection", {{"listener", listener_}});
  }
  if (fd >= 0) ::close(fd);
  errno = ECONNABORTED;
  return -1;
}

bool Admission::Admit(int fd, const sockaddr& address) {
  const int64_t now_ms = clock_.MonotonicMs();
  const std::lock_guard lock(mutex_);
  Source& source = sources_.Open(SourceOf(address));
  try {
    if (const std::optional<Cause> refusal = MakeRoom(source, fd, now_ms)) {
      refused_[Index(*refusal)]->Add();
      Report(*refusal, source.name, now_ms);
      sources_.Leave(source, false);
      return false;
    }
    connections_.emplace(fd, std::make_unique<Connection>(fd, now_ms, source));
  } catch (const std::bad_alloc&) {
    sources_.Leave(source, false);
    throw;
  }
  SetSocketOptions(fd, address.sa_family);
  sources_.AddUnauthenticated(source);
  // The file's mode has authenticated the client of a Unix socket.
  if (address.sa_family == AF_UNIX) Trust(*connections_.at(fd));
  accepted_.Add();
  return true;
}

// accept(2) failed for want of a descriptor or of memory; the client stays in the listen queue.
void Admission::GiveUpOne() {
  {
    const int64_t now_ms = clock_.MonotonicMs();
    const std::lock_guard lock(mutex_);
    Report(Cause::kDescriptors, "", now_ms);
    if (closing_ == 0) Evict(FindWaiting(nullptr, now_ms), Cause::kDescriptors);
  }
  std::this_thread::sleep_for(kAcceptPause);
}

// Evicts where that is needed to accept one more connection. Empty where there is room for it then;
// otherwise why it must be refused.
std::optional<Cause> Admission::MakeRoom(const Source& newcomer, int fd, int64_t now_ms) {
  // One that was accepted in the moment of the stop gets an answer, where others wait.
  if (refusing_ && !leaves_connections_waiting_) return Cause::kStopping;
  if (Sources::HasNoReserve(newcomer) && sources_.excess() >= unauthenticated_max_ &&
      !Evict(FindUnauthenticated(newcomer, now_ms), Cause::kUnauthenticated)) {
    return Cause::kUnauthenticated;
  }
  const bool is_last_descriptor = static_cast<uint64_t>(fd) + kDescriptorsKept >= DescriptorsMax();
  if (!is_last_descriptor && connections_.size() - closing_ < workers_) return std::nullopt;

  const Cause cause = is_last_descriptor ? Cause::kDescriptors : Cause::kWorkers;
  if (SparesTrusted() && Evict(FindUnauthenticated(newcomer, now_ms), cause)) return std::nullopt;
  if (Evict(FindWaiting(&newcomer, now_ms), cause)) return std::nullopt;
  if (Evict(FindUnauthenticated(newcomer, now_ms), cause)) return std::nullopt;
  return cause;
}

bool Admission::Evict(Connection* victim, Cause cause) {
  if (victim == nullptr) return false;
  const std::string source = victim->source->name;
  const ConnectionState state = victim->state.load();
  // Its worker may move it to another state meanwhile. An unauthenticated connection is evicted in
  // that state as well; another one is busy now and stays.
  if (!End(*victim, state) && !(victim->is_unauthenticated && End(*victim, victim->state.load()))) {
    return false;
  }
  evicted_[Index(cause)]->Add();
  Report(cause, source, clock_.MonotonicMs());
  return true;
}

// The oldest unauthenticated connection of the source with the largest excess; null where none may
// be evicted. Where the newcomer's own source has as large an excess, only a connection older than
// kGraceMs: clients of one kind do not evict each other. While trusted sources are spared, a
// connection of theirs evicts unauthenticated ones of any age.
Connection* Admission::FindUnauthenticated(const Source& newcomer, int64_t now_ms) {
  Connection* found = nullptr;
  const auto rank = [](const Connection& connection) {
    return std::pair(connection.source->Excess(), -connection.accepted_ms);
  };
  const bool spares_trusted = SparesTrusted();
  for (const auto& [fd, connection] : connections_) {
    if (connection->state.load() == ConnectionState::kClosing || !connection->is_unauthenticated)
      continue;
    if (spares_trusted && connection->source->IsTrusted()) continue;
    if (found == nullptr || rank(*connection) > rank(*found)) found = connection.get();
  }
  if (found == nullptr || found->source->Excess() == 0) return nullptr;
  const bool is_fairer =
      found->source->Excess() > newcomer.Excess() || (spares_trusted && newcomer.IsTrusted());
  return is_fairer || found->accepted_ms <= now_ms - kGraceMs ? found : nullptr;
}

// Of the source with the most connections: the one that has been idle for longest, else the one
// that has made its worker wait for longest; null where none may be evicted. One younger than
// kGraceMs only where its source has many more connections than the newcomer's.
Connection* Admission::FindWaiting(const Source* newcomer, int64_t now_ms) {
  struct Rank {
    size_t open = 0;
    bool is_idle = false;
    int64_t age_ms = 0;
    auto operator<=>(const Rank&) const = default;
  };
  Connection* found = nullptr;
  Rank best;
  const size_t newcomer_open = newcomer == nullptr ? 0 : newcomer->open;
  const bool spares_trusted = SparesTrusted() && (newcomer == nullptr || !newcomer->IsTrusted());
  for (const auto& [fd, connection] : connections_) {
    const ConnectionState state = connection->state.load();
    if (state == ConnectionState::kClosing) continue;
    if (state == ConnectionState::kRequest && !connection->is_unauthenticated) continue;
    if (spares_trusted && connection->source->IsTrusted()) continue;
    const bool is_idle = state == ConnectionState::kIdle || state == ConnectionState::kDiscard;
    const int64_t since_ms = connection->is_unauthenticated && !is_idle
                                 ? connection->accepted_ms
                                 : connection->since_ms.load();
    const Rank rank{connection->source->open, is_idle, now_ms - since_ms};
    const bool has_many = rank.open > newcomer_open + Sources::kReserved;
    if (!is_idle && !has_many && rank.age_ms < kGraceMs) continue;
    if (found != nullptr && rank <= best) continue;
    found = connection.get();
    best = rank;
  }
  return found;
}

// Logs at most one line a minute for each cause: an attack must not fill the log.
void Admission::Report(Cause cause, const std::string& source, int64_t now_ms) {
  int64_t& reported_ms = reported_ms_[Index(cause)];
  if (cause == Cause::kStopping || (reported_ms != 0 && now_ms - reported_ms < kReportEveryMs)) {
    return;
  }
  reported_ms = now_ms;
  log::Warning(
      "connections have to be closed or refused",
      {{"listener", listener_}, {"short_of", kCauseNames[Index(cause)]}, {"one_of", source}});
}

void Admission::Trust(Connection& connection) {
  connection.is_unauthenticated = false;
  sources_.Trust(*connection.source);
}

bool Admission::Authenticate(Connection& connection) {
  if (!connection.is_unauthenticated) return true;
  const std::lock_guard lock(mutex_);
  if (connection.state == ConnectionState::kClosing) return false;
  Trust(connection);
  return true;
}

void Admission::Attribute(Connection& connection, const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (connection.state == ConnectionState::kClosing || connection.source->name == name) return;
  Source& before = *connection.source;
  Source& source = sources_.Open(name);
  sources_.AddUnauthenticated(source);
  connection.source = &source;
  sources_.Leave(before, std::exchange(connection.is_unauthenticated, true));
}

bool Admission::End(Connection& connection, ConnectionState from) {
  if (from == ConnectionState::kClosing) return false;
  if (!connection.state.compare_exchange_strong(from, ConnectionState::kClosing)) return false;
  ++closing_;
  sources_.Leave(*connection.source, connection.is_unauthenticated);
  // An idle connection sends no more, and its worker reads the end of the stream. In all other
  // states both directions are shut down: the client could go on sending.
  shutdown(connection.fd, from == ConnectionState::kIdle ? SHUT_RD : SHUT_RDWR);
  return true;
}

void Admission::Beat() {
  if (heartbeat_) heartbeat_->Beat();
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
    case ConnectionState::kBody:
      SetDeadline(connection, timeouts_.body_ms);
      break;
    case ConnectionState::kDiscard:
      SetDeadline(connection, kDiscardMs);
      break;
    case ConnectionState::kIdle:
      SetDeadline(connection, timeouts_.idle_ms);
      break;
    case ConnectionState::kRequest:
    case ConnectionState::kAnswer:
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
  // CivetWeb measures itself for how long a client does not read, and would poll five times a
  // second.
  if (!bounded)
    return PollOnce(connection, wanted, std::max(timeout_ms, static_cast<int>(kSliceMs)));
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
    const int ready = PollOnce(connection, wanted, static_cast<int>(std::min(left_ms, kSliceMs)));
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
    // Forgotten before it is closed: End() must not shut down a descriptor that is in use again.
    const std::lock_guard lock(mutex_);
    if (connection->state == ConnectionState::kClosing) {
      --closing_;
    } else {
      sources_.Leave(*connection->source, connection->is_unauthenticated);
    }
    connections_.erase(fd);
  }
  ::close(fd);
}

// Reads and discards what the client still sends, for a moment: close(2) with unread input resets
// the connection, which can destroy an answer on its way. Our direction is shut down already.
void Admission::Drain(Connection& connection) {
  if (!Enter(connection, ConnectionState::kDiscard)) return;
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

}  // namespace comanda::wire
