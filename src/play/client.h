#pragma once

// A till's connection to the server: requests over its control socket, each sent again with its
// Idempotency-Key until it is answered. One thread.

#include <functional>
#include <optional>
#include <string>

#include "base/heartbeat.h"
#include "base/metrics.h"
#include "base/time/clock.h"
#include "net/network.h"

namespace comanda::play {

struct Request {
  std::string method;
  std::string path;
  std::string body = {};
  std::string key = {};                   // Idempotency-Key; empty: none
  std::optional<UtcMs> occurred_at = {};  // Comanda-Occurred-At
};

struct Answer {
  int status = 0;  // below 500
  std::string body;
};

// Thrown where the person ends the program while a request waits for the server.
struct Interrupted {};

class Client {
 public:
  using Say = std::function<void(const std::string& line)>;

  // `say` gets a line when the server stops answering, and one when it answers again.
  Client(std::string socket, std::function<bool()> interrupted, Say say);

  // Blocks until the server answers with less than 500, also through its restart. Refusal for an
  // answer that no other order would change: 401, 400, as where another restaurant was imported.
  Answer Send(const Request& request);

  bool IsInterrupted() const { return interrupted_(); }
  // Waits `ms`, or until the person ends the program.
  void Wait(int64_t ms) const;

 private:
  net::Call CallOf(const Request& request) const;

  const std::string socket_;
  const std::function<bool()> interrupted_;
  const Say say_;
  metrics::Registry metrics_;
  Heartbeats heartbeats_;
  net::Network network_;
};

}  // namespace comanda::play
