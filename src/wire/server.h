#pragma once

// CivetWeb behind our own front: TLS, strict framing, limits, deadlines, one write per answer,
// draining (design section 5). The only file that includes CivetWeb is server.cc.

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/metrics.h"
#include "wire/admission.h"
#include "wire/request.h"
#include "wire/response.h"
#include "wire/tls.h"

namespace comanda::wire {

struct ServerSettings {
  std::string
      listen;  // ADDR:PORT, numeric; IPv6 in brackets; or a path for a Unix socket (control)
  int workers = 256;
  bool tls = true;
  bool local = false;  // control socket: requests have the principal `local`
  // Names and addresses that Host may carry (lower case, without port and brackets); empty: any
  // (control socket). Any thread.
  std::function<bool(std::string_view host)> host_allowed;
  std::string errors_base;
  Timeouts timeouts = {};
  Heartbeats* heartbeats = nullptr;  // of the process; null: nobody watches the accepting thread
  std::function<void()> key_shown = {};  // on each request with a valid key; must not throw
};

// Any thread; must not throw.
using Handler = std::function<Response(const Request&)>;

class Server {
 public:
  // Listens and serves at once. Fault where the address cannot be bound (says which and why).
  Server(ServerSettings settings, Handler handler, Tls* tls, const Clock& clock,
         metrics::Registry& metrics);
  ~Server();  // Stop(10'000)

  // Stops accepting, answers new requests on open connections with 503 and close, waits until those
  // under way are answered (at most that long), then closes. A committed order never looks failed.
  void Stop(int64_t drain_ms);

  int port() const;  // the bound port (listen may say 0)

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

// The version of CivetWeb that is linked in.
std::string LibraryVersion();

}  // namespace comanda::wire
