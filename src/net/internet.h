#pragma once

// Whether the internet can be reached, as far as the outgoing calls of this process show it:
// nothing is asked for this alone. The state is
// - ok: the last call that shows anything made a connection to a public address, whatever came
// then;
// - down: since the last such connection several calls have failed without one, and it is not one
//   silent host alone, which may be off while the internet is well;
// - unknown: nothing was called outside the local networks lately, or it shows neither.

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace comanda::net {

// False for loopback, private, link-local, shared (RFC 6598), multicast and reserved addresses.
// `numeric`: as inet_ntop(3) writes it.
bool IsPublicAddress(std::string_view numeric);
// False for names that only a local network knows: of one label, or below .local, .lan and the
// like.
bool IsPublicName(std::string_view host);

// What one call shows of the internet.
enum class Evidence : uint8_t {
  kNone,  // the call was local, was not made, or met a certificate that may be of a captive portal
  kConnected,  // to a public address, also where that refused or did not answer what was asked
  kNoRoute,    // the name was not found, or the network or the host is unreachable
  kSilence,    // a public address was dialled, and no connection was made
};

class Internet {
 public:
  enum class State : uint8_t { kUnknown, kOk, kDown };
  struct Now {
    State state = State::kUnknown;
    // kOk: the age of the last connection. kDown: of the first failure after it.
    int64_t since_ms = 0;
  };

  // `now_ms`: monotonic. Any thread.
  void Note(Evidence evidence, std::string_view host, int64_t now_ms);
  Now Get(int64_t now_ms) const;

 private:
  struct Failures {
    int64_t first_ms = 0, last_ms = 0;
    int count = 0;
    std::string host;         // of the first
    bool is_certain = false;  // of several hosts, or one without a route
  };
  mutable std::mutex mutex_;
  std::optional<int64_t> connected_ms_;  // guarded by mutex_
  Failures failures_;                    // since the last connection; guarded by mutex_
};

std::string_view Name(Internet::State state);  // "ok", "down", "unknown"

}  // namespace comanda::net
