#pragma once

// Decides which connections stay open.
//
// CivetWeb holds one worker thread per connection, also while the connection is idle, so there are
// never more connections than workers. A connection is unauthenticated until a request with a valid
// key came over it, through accept, handshake, head and body (wire/sources.h). Two rules keep
// workers free for clients with a key:
//   - Unauthenticated connections have at most their share of the workers (Places). Where one more
//     comes, the oldest one of the source with the most of them is evicted.
//   - Where no worker is free, a connection is evicted that is idle, or that makes its worker wait.
// A trusted source may be a router with twenty tills behind it. It is therefore not taken for the
// source with the most connections while untrusted sources hold more than a quarter of the workers
// with unauthenticated ones: theirs are evicted first.
//
// To evict a connection is to shut down its socket; its worker sees the end of the stream and
// closes it in good order.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/time/clock.h"
#include "base/heartbeat.h"
#include "base/metrics.h"
#include "wire/lobby.h"
#include "wire/sources.h"

struct pollfd;
struct sockaddr;

namespace comanda::wire {

// How many connections may be open at once, and how many of them that no key was shown on.
struct Places {
  int all = 0;
  int unauthenticated = 0;
};

struct Timeouts {  // contract section 19
  int64_t handshake_ms = 5'000;
  int64_t head_ms = 10'000;
  int64_t body_ms = 30'000;
  int64_t idle_ms = 15'000;
  int64_t write_ms = 10'000;  // how long a client may refuse to read
};

enum class ConnectionState : uint8_t {
  kHandshake,  // accepted; waits for a worker or for its TLS handshake
  kHead,       // waits for a request's head, or has read a part of it
  kRequest,    // the handler runs
  kBody,       // reads the request's body
  kAnswer,     // sends the answer
  kDiscard,    // reads and discards the rest of a refused request
  kIdle,       // between two requests
  kClosing,    // evicted; its worker has not closed it yet
};

// One accepted socket. Its worker alone uses the members that are neither atomic nor guarded.
struct Connection {
  Connection(int socket, int64_t now_ms, Source& from)
      : fd(socket),
        accepted_ms(now_ms),
        is_from_untrusted(!from.IsTrusted()),
        source(&from),
        since_ms(now_ms) {}

  const int fd;
  const int64_t accepted_ms;
  const bool is_from_untrusted;    // its source was not trusted when it was accepted
  Source* source;                  // guarded by Admission::mutex_; dangles in kClosing
  bool is_unauthenticated = true;  // written by its worker, under Admission::mutex_
  std::atomic<ConnectionState> state{ConnectionState::kHandshake};
  std::atomic<int64_t> since_ms;  // when the state began
  int64_t deadline_ms = 0;        // for reading; 0: none
  bool deadline_passed = false;
  bool drain_on_close = false;  // the client may still be sending (Admission::Drain)
  // Bytes that were read from the socket beyond what was asked for: those from ahead_begin to
  // ahead_end. TLS asks for a record in two pieces, and both are read with one system call.
  std::array<unsigned char, 2048> ahead;
  size_t ahead_begin = 0;
  size_t ahead_end = 0;
};

// Why a connection was evicted or not accepted.
enum class Cause : uint8_t {
  kUnauthenticated,  // too many unauthenticated connections
  kWorkers,          // no worker is free
  kDescriptors,      // the process has no more file descriptors
  kStopping,
};

// Thread-safe, but Accept() and Beat() are for the accepting thread alone, and Enter(), Poll(),
// SetDeadline(), Authenticate(), Attribute() and Close() for the connection's own worker.
class Admission {
 public:
  // `lobby`: where connections wait for a worker until their first byte; null: nowhere.
  Admission(const Places& places, const Timeouts& timeouts, const Clock& clock,
            metrics::Registry& registry, const std::string& listener, Heartbeats* heartbeats,
            bool leaves_connections_waiting = false, std::unique_ptr<Lobby> lobby = nullptr);

  // As poll(2) on the listening sockets, for the accepting thread.
  int PollListeners(pollfd* listeners, size_t count, int timeout_ms);
  // As accept(2). Returns -1 also where there is no room; the new connection is closed then.
  // Blocks for 50 ms at most. Throws nothing.
  int Accept(int listener, sockaddr* address, unsigned* size);
  // Counts the connection as authenticated and its source as trusted. False where it was evicted
  // already.
  bool Authenticate(Connection& connection);
  // From now on the connection is of that source, for a request of another client that a proxy
  // sends over it: as one that has not authenticated.
  void Attribute(Connection& connection, const std::string& source);
  // Forgets and closes the socket; closes a socket that was not accepted here. Blocks for 2 s at
  // most where the connection is to be drained.
  void Close(int fd);

  // Says that the accepting thread is alive.
  void Beat();

  // The connection of a socket; null for a socket that was not accepted here.
  Connection* Find(int fd);
  // Moves the connection into a state and sets the deadline that goes with it. False where it was
  // evicted already.
  bool Enter(Connection& connection, ConnectionState state);
  void SetDeadline(Connection& connection, int64_t from_now_ms);
  // As poll(2), on the connection's socket and the bytes that were read ahead. Blocks no longer
  // than to the connection's deadline; returns -1 with ETIMEDOUT then, and with ECONNRESET where
  // the connection was evicted.
  int Poll(Connection& connection, pollfd& wanted, int timeout_ms);

  // From now on no connection is accepted: new ones are closed, or left waiting in the kernel's
  // queue (ServerSettings::leaves_connections_waiting).
  void Refuse() { refusing_ = true; }
  bool refusing() const { return refusing_; }
  // The accepting thread must not accept, nor poll the listening sockets.
  bool LeavesWaiting() const { return refusing_ && leaves_connections_waiting_; }
  // Evicts all connections; every Poll() returns.
  void EndAll();

  const Timeouts& timeouts() const { return timeouts_; }
  void CountHandshakeFailure(bool timed_out);

 private:
  static constexpr size_t kCauses = 4;

  bool Admit(int fd, const sockaddr& address);  // false where there is no room

  // The caller of each of these holds mutex_.
  std::optional<Cause> MakeRoom(const Source& newcomer, int fd, int64_t now_ms);
  bool Evict(Connection* victim, Cause cause);  // false for null
  Connection* FindUnauthenticated(const Source& newcomer, int64_t now_ms);
  Connection* FindWaiting(const Source* newcomer, int64_t now_ms);  // null: for no newcomer
  bool SparesTrusted() const { return sources_.of_untrusted() > untrusted_tolerated_; }
  bool End(Connection& connection, ConnectionState from);
  void Trust(Connection& connection);
  void Report(Cause cause, const std::string& source, int64_t now_ms);

  void GiveUpOne();
  void Drain(Connection& connection);
  double CountIn(ConnectionState state) const;

  const size_t workers_;
  const size_t unauthenticated_max_;
  const size_t untrusted_tolerated_;  // unauthenticated connections of untrusted sources
  const Timeouts timeouts_;
  const Clock& clock_;
  const std::string listener_;
  const std::unique_ptr<Heartbeat> heartbeat_;  // null: nobody watches the accepting thread
  const bool leaves_connections_waiting_;
  const std::unique_ptr<Lobby> lobby_;
  std::atomic<bool> refusing_{false};
  mutable std::mutex mutex_;
  Sources sources_;                                                   // guarded by mutex_
  std::unordered_map<int, std::unique_ptr<Connection>> connections_;  // guarded by mutex_
  size_t closing_ = 0;                          // guarded by mutex_: those in kClosing
  std::array<int64_t, kCauses> reported_ms_{};  // guarded by mutex_

  metrics::Counter accepted_;
  std::array<std::unique_ptr<metrics::Counter>, kCauses> refused_;
  std::array<std::unique_ptr<metrics::Counter>, kCauses> evicted_;
  metrics::Counter handshakes_timed_out_;
  metrics::Counter handshakes_failed_;
  std::vector<std::unique_ptr<metrics::Gauge>> open_;  // by state
  metrics::Gauge unauthenticated_;
};

}  // namespace comanda::wire
