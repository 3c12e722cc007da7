#pragma once

// What a thread of CivetWeb works on: a thread-local, since CivetWeb's calls of accept, close, poll
// and of TLS, which third_party/civetweb/hooks.h redirects to our functions, carry nothing of ours.
// All other code gets these objects as arguments.

#include <memory>
#include <optional>
#include <string_view>

#include "wire/admission.h"
#include "wire/connection_exchange.h"

namespace comanda::wire {

class Tls;

struct Worker {
  Admission* admission = nullptr;    // of the server; null on threads that are not CivetWeb's
  Tls* tls = nullptr;                // of the server; null where it has none
  std::string_view errors_base;      // of the server: ServerSettings::errors_base
  bool accepting = false;            // this thread accepts connections
  Connection* connection = nullptr;  // the one that the worker serves now
  std::shared_ptr<const void> tls_identity;    // certificate and key of that connection
  std::optional<ConnectionExchange> exchange;  // the request that is under way on it
  // Outlives the exchange: CivetWeb reads what is left of a body after the answer.
  ChunkedBody chunks;
  bool answers_nothing = false;  // the request is refused, and its client is gone
};

// The worker of the calling thread.
inline Worker& ThisWorker() {
  thread_local Worker worker;
  return worker;
}

}  // namespace comanda::wire
