#pragma once

// A listening server: CivetWeb behind our own TLS (wire/tls.h), admission of connections
// (wire/admission.h), strict framing (wire/head.h), deadlines and draining.
//
// CivetWeb accepts connections on one thread and serves each of them on a worker thread of its own.
// For each request the worker makes an Exchange, calls the handler with it and sends the response.

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/address.h"
#include "base/time/clock.h"
#include "base/heartbeat.h"
#include "base/metrics.h"
#include "wire/admission.h"
#include "wire/exchange.h"
#include "wire/tls.h"

namespace comanda::wire {

struct ServerSettings {
  // ADDR:PORT with a numeric address, IPv6 in brackets; or the path of a Unix socket. Empty: the
  // server has `listeners` alone.
  std::string listen;
  // Further TCP sockets that listen already (wire/listener.h). The server duplicates them; the
  // caller may close its own after the constructor.
  std::vector<int> listeners = {};
  // Another process holds the listening sockets too, and serves next: from Stop() on, connections
  // are left to it in the kernel's queue, where they would be closed otherwise.
  bool leaves_connections_waiting = false;
  int workers = 256;
  // Half of the workers are kept for connections on which a valid key was shown. False: nobody
  // shows one here, and none is kept.
  bool takes_keys = true;
  // Without TLS alone: a connection gets a worker with its first byte (wire/lobby.h).
  bool waits_for_first_byte = false;
  bool tls = true;
  // In metrics; no two listeners of a process may share one. Empty: "https", "http", or the name of
  // the socket's file.
  std::string name = {};
  bool local = false;  // its requests come from the command line (wire::Request::local)
  // Whether Host may carry this name or address (lower case, without port and brackets). Called by
  // every worker; empty: Host may carry any.
  std::function<bool(std::string_view host)> host_allowed;
  // The operator's proxies, which tell the addresses of their clients (wire/forwarded.h).
  std::vector<AddressRange> proxies = {};
  std::string errors_base;  // the URL that the `type` of problem documents begins with
  Timeouts timeouts = {};
  Heartbeats* heartbeats = nullptr;  // null: nobody watches the accepting thread
};

// Thrown by a handler whose answer is not to be sent: it may be wrong by now, and a refusal would
// be wrong too.
struct NoAnswer : std::exception {
  const char* what() const noexcept override { return "the answer may be wrong by now"; }
};

// Answers a request: fills in exchange.response. Called on worker threads, several at a time. May
// block. Must throw nothing but NoAnswer and std::bad_alloc: the connection is then closed without
// an answer.
using Handler = std::function<void(Exchange& exchange)>;

class Server {
 public:
  // Listens and serves at once. `tls` may be null where settings.tls is false. Throws Fault where
  // the address cannot be bound; it says which and why. Ends the process where the system does not
  // grant the threads.
  Server(ServerSettings settings, Handler handler, Tls* tls, const Clock& clock,
         metrics::Registry& metrics);
  ~Server();  // Stop(10'000)

  // Stops accepting, answers further requests on open connections with 503, and waits at most
  // drain_ms until the requests under way are answered; then closes all connections. So the client
  // of an order that is committed gets its answer. Thread-safe; blocks.
  void Stop(int64_t drain_ms);

  // The bound port: `listen` may say 0. 0 for a Unix socket.
  int port() const;

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

// The version of CivetWeb that is linked in.
std::string LibraryVersion();

}  // namespace comanda::wire
