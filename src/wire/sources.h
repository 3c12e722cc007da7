#pragma once

// Counts connections per source, so that one source cannot take every worker.
//
// A source is where connections come from: one IPv4 address, one IPv6 /64 network, or the Unix
// socket. A connection is unauthenticated until a request with a valid key came over it. A source
// is trusted once one of its connections has authenticated; the last kTrustedMax sources that did
// are remembered. Each trusted source has kReserved unauthenticated connections that do not count
// against the limit for all of them (wire/admission.h), so that a known till can always reconnect.
// Knows no sockets.

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

struct sockaddr;

namespace comanda::wire {

struct Source {
  std::string name;
  size_t open = 0;             // connections
  size_t unauthenticated = 0;  // of them
  // 0: not trusted. Otherwise a higher number means that it authenticated more recently.
  uint64_t trusted_since = 0;
  bool IsTrusted() const { return trusted_since != 0; }
  // Its unauthenticated connections that count against the limit for all sources.
  size_t Excess() const;
};

// The name of the source: the address for IPv4, its /64 network for IPv6, "local" for a Unix
// socket.
std::string SourceOf(const sockaddr& address);

// Not thread-safe: wire::Admission guards it with its mutex.
class Sources {
 public:
  static constexpr size_t kReserved = 8;
  static constexpr size_t kTrustedMax = 256;  // more than a restaurant has devices

  // Counts one more open connection. The reference is valid until Leave() was called for it.
  Source& Open(const std::string& name);
  // Whether one more unauthenticated connection of the source would add to its Excess().
  static bool HasNoReserve(const Source& source);

  // Counts an open connection as unauthenticated: it was accepted.
  void AddUnauthenticated(Source& source);
  // One of its unauthenticated connections has authenticated; the source is trusted from now on.
  void Trust(Source& source);
  // Counts one open connection less. Destroys a source that is not trusted with its last one.
  void Leave(Source& source, bool is_unauthenticated);

  // The sum of Excess() over all sources.
  size_t excess() const { return excess_; }
  // Unauthenticated connections of sources that are not trusted.
  size_t of_untrusted() const { return of_untrusted_; }

 private:
  template <typename Change>
  void Adjust(Source& source, Change change);
  void ForgetIfUnused(Source& source);
  void DistrustOldest();

  std::unordered_map<std::string, Source> sources_;
  size_t excess_ = 0;
  size_t of_untrusted_ = 0;
  size_t trusted_ = 0;            // how many sources are
  uint64_t authentications_ = 0;  // counted, to order trusted_since
};

}  // namespace comanda::wire
