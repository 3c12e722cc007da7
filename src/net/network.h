#pragma once

// All outgoing HTTP calls of the process, on one thread, through libcurl's multi interface. The
// only room that includes curl.
//
// A call waits in the queue of its purpose until one of the purpose's slots is free (kPurposes in
// net/call.h), then it is a transfer. Its timeouts begin with its slot: libcurl's own limits of
// connections would count the wait against them. Connections stay open for later calls to the same
// server. No redirect is followed, no proxy is used, no credentials are added.
//
// A Network is a member of its owner before everything that makes calls: it outlives them.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "base/heartbeat.h"
#include "base/metrics.h"
#include "net/call.h"

namespace comanda::net {

inline constexpr size_t kWaitingMax = 256;        // calls of one purpose that wait for a slot
inline constexpr int64_t kWaitingMsMax = 60'000;  // for a slot; then kNotStarted
inline constexpr long kIdleConnectionsMax = 64;   // kept open, the oldest closed first

class Network {
 public:
  // Of one call; never given twice.
  using Ticket = uint64_t;
  using OnDone = std::function<void(Answer)>;

  // Starts the thread. Fault (kUnavailable) where libcurl cannot be initialised.
  Network(Heartbeats& heartbeats, metrics::Registry& registry);
  // Ends the calls under way and those that wait with kCancelled, then the thread.
  ~Network();

  // Any thread. Queues the call; `on_done` then runs exactly once on the network thread: it must
  // not block, and what it throws is logged. Nothing where kWaitingMax calls of that purpose wait
  // already, or the Network stops: on_done does not run.
  std::optional<Ticket> Start(Call call, OnDone on_done);

  // Any thread. The call ends with kCancelled, unless it has ended. Does not wait for that.
  void Cancel(Ticket ticket);

  // Any thread but the network's. Waits for the answer, at most kWaitingMsMax and the call's
  // timeout; `stop` cancels it. Never throws for what the network or the server does.
  Answer Send(Call call, const std::stop_token& stop = {});

 private:
  class Loop;  // network.cc
  std::unique_ptr<Loop> loop_;
};

// The file of the machine's own authorities, where it has one at a usual place.
std::optional<std::string> FindSystemAuthorities();

// The versions of libcurl and c-ares that are linked in.
std::string LibraryVersion();
std::string ResolverVersion();

}  // namespace comanda::net
