#pragma once

// Connections that have not sent a byte yet, of a listener without TLS that faces any guest of the
// Wi-Fi (port 80). CivetWeb gives every accepted connection a worker, so a few silent clients would
// keep all of them from browsers. Here they wait without one: Accept() returns a connection once
// its first byte has come. One that stays silent for wait_ms is closed.
//
// Used by the accepting thread alone.

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/time/clock.h"

struct pollfd;

namespace comanda::wire {

class Lobby {
 public:
  // More silent connections than this: the oldest one of the source that has the most is closed.
  static constexpr size_t kWaitingMax = 256;

  Lobby(int64_t wait_ms, const Clock& clock);
  ~Lobby();  // closes those that wait
  Lobby(const Lobby&) = delete;
  Lobby& operator=(const Lobby&) = delete;

  // As poll(2) on the listening sockets. A waiting connection whose first byte has come makes the
  // first listener readable.
  int Poll(pollfd* listeners, size_t count, int timeout_ms);
  // As accept4(2), of a connection that has sent something. -1 with EAGAIN if there is none: what
  // was accepted waits here then. May throw std::bad_alloc.
  int Accept(int listener, sockaddr* address, unsigned* size);

 private:
  struct Waiting {
    int fd = -1;
    sockaddr_storage address;
    unsigned address_size = 0;
    std::string source;  // wire/sources.h
    int64_t until_ms = 0;
    bool has_sent = false;
  };

  int Take(size_t index, sockaddr* address, unsigned* size);
  void CloseAt(size_t index);
  void CloseExpired();
  void MakeRoom();

  const int64_t wait_ms_;
  const Clock& clock_;
  std::vector<Waiting> waiting_;  // the oldest first
  std::vector<pollfd> polled_;
};

}  // namespace comanda::wire
