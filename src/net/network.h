#pragma once

// All outgoing HTTP calls of the process: one thread that drives libcurl's multi interface. No
// other room includes curl.
//
// A call waits in the queue of its purpose until a slot is free (kPurposes in net/call.h); with a
// slot it is a transfer, and its timeouts start. libcurl's own connection limits are not used,
// because they would count the waiting time against the timeouts. Connections are kept open and
// reused. Redirects are not followed, proxies are not used, and no credentials are added.
//
// A name under .local is looked up by asking avahi (net/local_names.h), beside the transfers: the
// network thread does not wait for it.
//
// Declare a Network before the members that make calls through it, so that it outlives them.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "base/heartbeat.h"
#include "base/metrics.h"
#include "net/call.h"
#include "net/internet.h"
#include "net/local_names.h"

namespace comanda::net {

// The most calls of one purpose that wait for a slot.
inline constexpr size_t kWaitingMax = 256;
// The longest wait for a slot, ms; then the call ends with kNotStarted.
inline constexpr int64_t kWaitingMsMax = 60'000;
// The most idle connections kept open; the oldest is closed first.
inline constexpr long kIdleConnectionsMax = 64;

class Network {
 public:
  // Identifies one call for Cancel(); unique for the life of the Network.
  using Ticket = uint64_t;
  using OnDone = std::function<void(Answer)>;

  // Starts the thread. Throws Fault(kUnavailable) if libcurl cannot be initialised.
  Network(Heartbeats& heartbeats, metrics::Registry& registry, LocalNames names = {});
  // Ends all calls, active and waiting, with kCancelled, then joins the thread.
  ~Network();

  // Queues the call without blocking. `on_done` then runs exactly once, on the network thread: it
  // must not block; an exception from it is logged. Returns nothing, and never runs `on_done`, if
  // kWaitingMax calls of that purpose are waiting or the Network is stopping. Any thread.
  std::optional<Ticket> Start(Call call, OnDone on_done);

  // Ends the call with kCancelled, unless it has ended. Returns without waiting for that. Any
  // thread.
  void Cancel(Ticket ticket);

  // Makes the call and blocks until it ends: at most kWaitingMsMax plus the call's timeout, or
  // until `stop` is requested. Reports failures of the network and the server in the Answer and
  // never throws for them. Any thread except the network thread.
  Answer Send(Call call, const std::stop_token& stop = {});

  // Whether the internet can be reached, by what became of the calls so far. Any thread.
  Internet::Now internet() const;

 private:
  // Defined in network.cc.
  class Loop;
  std::unique_ptr<Loop> loop_;
};

// The path of the operating system's bundle of certificate authorities; nothing if none of the
// usual files exists.
std::optional<std::string> FindSystemAuthorities();

// The versions of libcurl and c-ares linked in.
std::string LibraryVersion();
std::string ResolverVersion();

}  // namespace comanda::net
