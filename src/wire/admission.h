#pragma once

// Which connections are open, where they come from and what each of them waits for. Connections
// never exceed the workers, since a connection keeps its worker. Whoever has not shown a valid key
// is a stranger, from accept through handshake, head and body: strangers have half of the workers
// at most, and the first to go is the oldest of the source that has most of them. Where workers run
// short, a connection gives way that is idle, or that keeps its worker waiting (design section 5).
//
// A source is trusted that showed a valid key lately. Behind one address there may be twenty tills
// (a router), so a trusted source never counts as the one that has most while strangers of other
// sources hold more than a quarter of the workers: those give way to it.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/heartbeat.h"
#include "base/metrics.h"
#include "wire/sources.h"

struct pollfd;
struct sockaddr;

namespace comanda::wire {

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
  kRequest,    // an answer is made
  kBody,       // the request's body is read
  kAnswer,     // the answer is sent
  kDiscard,    // what the client still sends of a refused request is thrown away
  kIdle,       // between two requests
  kClosing,    // told to end; its worker has not closed it yet
};

// One accepted socket. Its worker alone touches the members without atomic.
struct Connection {
  Connection(int socket, int64_t now_ms, Source& from)
      : fd(socket),
        accepted_ms(now_ms),
        is_from_unknown(from.known_since == 0),
        source(from),
        since_ms(now_ms) {}

  const int fd;
  const int64_t accepted_ms;
  const bool is_from_unknown;  // its source had not shown a valid key lately
  Source& source;              // guarded by the admission's mutex; gone once it is told to end
  bool is_stranger = true;     // changed by its worker, under the admission's mutex
  std::atomic<ConnectionState> state{ConnectionState::kHandshake};
  std::atomic<int64_t> since_ms;  // when the state began
  int64_t deadline_ms = 0;        // reading ends then; 0: none
  bool deadline_passed = false;
  bool drain_on_close = false;  // the client may still be sending: let the answer reach it
  // What was read of the socket together with what was wanted, from ahead_begin to ahead_end: a
  // record of TLS is asked for in two pieces.
  std::array<unsigned char, 1024> ahead;
  size_t ahead_begin = 0;
  size_t ahead_end = 0;
};

// Why a connection is closed or not let in.
enum class Cause : uint8_t {
  kStrangers,    // too many that have not shown a key
  kWorkers,      // no worker is free
  kDescriptors,  // the process may not open more files
  kStopping,
};

// Threads: Accept and Beat from the accepting thread, the rest from any.
class Admission {
 public:
  Admission(int workers, const Timeouts& timeouts, const Clock& clock, metrics::Registry& registry,
            const std::string& listener, Heartbeats* heartbeats);

  // As accept(2); -1 also where there is no room, with the new connection closed.
  int Accept(int listener, sockaddr* address, unsigned* size);
  // Its client showed a valid key: it is no stranger any more. False where it was told to end.
  bool ShowKey(Connection& connection);
  // Forgets and closes the socket; unknown ones are closed alone.
  void Close(int fd);

  void Beat();  // the accepting thread is alive

  // The worker's connection; null for a socket that was not accepted here.
  Connection* Find(int fd);
  // A connection enters a state, with the deadline that goes with it. False where it was told to
  // end.
  bool Enter(Connection& connection, ConnectionState state);
  void SetDeadline(Connection& connection, int64_t from_now_ms);
  // As poll(2) on the connection's socket and what was read ahead of it, and never beyond its
  // deadline: then -1 and ETIMEDOUT.
  int Poll(Connection& connection, pollfd& wanted, int timeout_ms);

  void Refuse() { refusing_ = true; }  // from now on nothing is accepted
  bool refusing() const { return refusing_; }
  void EndAll();  // every connection is told to end, and every wait returns

  const Timeouts& timeouts() const { return timeouts_; }
  void CountHandshakeFailure(bool timed_out);

 private:
  static constexpr size_t kCauses = 4;

  bool LetIn(int fd, const sockaddr& address);  // false where there is no room

  // Under mutex_, all of these.
  std::optional<Cause> MakeRoom(const Source& newcomer, int fd, int64_t now_ms);
  bool Evict(Connection* victim, Cause cause);  // false for none
  Connection* FindStranger(const Source& newcomer, int64_t now_ms);
  Connection* FindWaiting(const Source* newcomer, int64_t now_ms);  // null: none in particular
  bool SparesTrusted() const { return sources_.of_untrusted() > untrusted_tolerated_; }
  bool End(Connection& connection, ConnectionState from);
  void BelieveIn(Connection& connection);
  void Report(Cause cause, const std::string& source, int64_t now_ms);

  void GiveUpOne();
  void Drain(Connection& connection);
  double CountIn(ConnectionState state) const;

  const size_t workers_;
  const size_t strangers_max_;
  const size_t untrusted_tolerated_;  // strangers of untrusted sources, a quarter of the workers
  const Timeouts timeouts_;
  const Clock& clock_;
  const std::string listener_;
  const std::unique_ptr<Heartbeat> heartbeat_;  // null: nobody watches
  std::atomic<bool> refusing_{false};
  mutable std::mutex mutex_;
  Sources sources_;                                                   // guarded by mutex_
  std::unordered_map<int, std::unique_ptr<Connection>> connections_;  // guarded by mutex_
  size_t closing_ = 0;  // guarded by mutex_: how many of them are told to end
  std::array<int64_t, kCauses> reported_ms_{};  // guarded by mutex_

  metrics::Counter accepted_;
  std::array<std::unique_ptr<metrics::Counter>, kCauses> refused_;
  std::array<std::unique_ptr<metrics::Counter>, kCauses> evicted_;
  metrics::Counter handshakes_timed_out_;
  metrics::Counter handshakes_failed_;
  std::vector<std::unique_ptr<metrics::Gauge>> open_;  // by state
  metrics::Gauge strangers_;
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

}  // namespace comanda::wire
