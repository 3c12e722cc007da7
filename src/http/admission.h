#pragma once

// Which connections are open and what each of them waits for. Connections never exceed the workers,
// since a connection keeps its worker: where they run short, the connection that has been idle
// longest is closed, then the slowest of those that have not sent their request yet (design section
// 5).

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "base/clock.h"
#include "base/metrics.h"

struct pollfd;
struct sockaddr;

namespace comanda::http {

class Tls;

struct Timeouts {  // contract section 19
  int64_t handshake_ms = 5'000;
  int64_t head_ms = 10'000;
  int64_t body_ms = 30'000;
  int64_t idle_ms = 15'000;
  int64_t write_ms = 10'000;  // how long a client may refuse to read
};

enum class ConnectionState : uint8_t {
  kHandshake,  // accepted; waits for a worker or its TLS handshake
  kHead,       // a request's head is awaited or half read
  kRequest,    // a request is answered
  kIdle,       // between two requests
  kClosing,    // told to end; its worker has not closed it yet
};

// One accepted socket. Its worker alone touches the members without atomic.
struct Connection {
  Connection(int socket, int64_t now_ms) : fd(socket), since_ms(now_ms) {}

  const int fd;
  std::atomic<ConnectionState> state{ConnectionState::kHandshake};
  std::atomic<int64_t> since_ms;  // when the state began
  int64_t deadline_ms = 0;        // reading ends then; 0: none
  bool deadline_passed = false;
  bool drain_on_close = false;  // the client may still be sending: let the answer reach it
};

// Threads: Accept from the accepting thread, the rest from any.
class Admission {
 public:
  Admission(int workers, const Timeouts& timeouts, const Clock& clock, metrics::Registry& registry,
            const std::string& listener);

  // As accept(2); -1 also where there is no room, with the new connection closed.
  int Accept(int listener, sockaddr* address, unsigned* size);
  // Forgets and closes the socket; unknown ones are closed alone.
  void Close(int fd);

  // The worker's connection; null for a socket that was not accepted here.
  Connection* Find(int fd);
  // A connection enters a state, with the deadline that goes with it. False where it was told to
  // end.
  bool Enter(Connection& connection, ConnectionState state);
  void SetDeadline(Connection& connection, int64_t from_now_ms);
  // As poll(2) on the connection's socket, and never beyond its deadline: then -1 and ETIMEDOUT.
  int Poll(Connection& connection, pollfd& wanted, int timeout_ms);

  void Refuse() { refusing_ = true; }  // from now on nothing is accepted
  bool refusing() const { return refusing_; }
  void EndAll();  // every connection is told to end, and every wait returns

  const Timeouts& timeouts() const { return timeouts_; }
  void CountHandshakeFailure(bool timed_out);

 private:
  bool MakeRoom(int64_t now_ms);                           // under mutex_
  bool End(Connection& connection, ConnectionState from);  // under mutex_
  Connection* OldestIn(bool idle, int64_t since_max_ms);   // under mutex_
  void Drain(Connection& connection);
  double CountIn(ConnectionState state) const;

  const size_t workers_;
  const Timeouts timeouts_;
  const Clock& clock_;
  std::atomic<bool> refusing_{false};
  mutable std::mutex mutex_;
  std::unordered_map<int, std::unique_ptr<Connection>> connections_;  // guarded by mutex_
  size_t closing_ = 0;  // guarded by mutex_: how many of them are told to end

  metrics::Counter accepted_;
  metrics::Counter refused_;
  metrics::Counter evicted_;
  metrics::Counter handshakes_timed_out_;
  metrics::Counter handshakes_failed_;
  metrics::Gauge in_handshake_;
  metrics::Gauge in_head_;
  metrics::Gauge in_request_;
  metrics::Gauge in_idle_;
};

// What this thread of CivetWeb serves: set once when it starts, the connection for as long as it
// lives.
struct Worker {
  Admission* admission = nullptr;
  Tls* tls = nullptr;
  bool accepting = false;
  Connection* connection = nullptr;
};
Worker& ThisWorker();

}  // namespace comanda::http
