#pragma once

// The TCP sockets on which the server listens. Each is
//   - passed by a socket unit of systemd: the ports below 1024, which the server may not open;
//   - stored by systemd for an earlier process of the service, which had opened it;
//   - or opened here, and stored.
// The first two stay open while the service restarts: the kernel queues the connections of tills
// meanwhile, and none is refused.
//
// Each passed listener has one role. comanda-setup.socket has kSetup; one on the address of a
// setting has that setting's; any other serves the restaurant, as further addresses of `listen`.
// A stored one whose setting has changed is closed.

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/handle.h"
#include "config/options.h"
#include "ops/systemd.h"

namespace comanda::app {

enum class Role : uint8_t {
  kRestaurant,  // HTTPS; the setting `listen`
  kSandbox,     // HTTPS; `sandbox_listen`
  kSetup,       // plain HTTP; `setup_listen`
};
inline constexpr size_t kRoles = 3;

struct Listener {
  Fd fd;
  std::string address;  // ADDR:PORT, IPv6 in brackets
};

// One thread.
class Listeners {
 public:
  // Logs where each passed listener comes from and what it is used for, or why it is not.
  Listeners(std::vector<ops::PassedDescriptor> passed, const config::Options& options);

  // The listeners of the role, the setting's own first; it is opened and stored unless one of those
  // that were passed serves its address. Empty where there is neither. The role has none after
  // this. Throws Fault where it cannot be opened.
  std::vector<Listener> Take(Role role);
  // For one that used them for a while.
  void GiveBack(Role role, std::vector<Listener> taken) {
    found_[static_cast<size_t>(role)] = std::move(taken);
  }

 private:
  void Assign(ops::PassedDescriptor passed);

  std::array<std::string, kRoles> wanted_;  // the settings' addresses; empty: none
  std::array<std::vector<Listener>, kRoles> found_;
};

}  // namespace comanda::app
