#pragma once

// Which receivers the box calls (contract section 13, Receivers): never itself, never what only
// this machine can reach, and private addresses only where they are the box's own neighbours or the
// owner has named their network. What the owner names opens private addresses and loopback alone.
// Of an IPv6 address that stands for an IPv4 one (NAT64, 6to4, compatible) that one is judged. Pure
// except LookAtMachine(). Any thread.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/address.h"

namespace comanda::webhooks {

// What the rules compare with.
struct Networks {
  std::vector<Address> own;           // of this machine
  std::vector<AddressRange> subnets;  // of its interfaces
  std::vector<AddressRange> allowed;  // the setting webhook_networks
  bool is_connected = false;          // an interface beside loopback has an address
};
// Reads the interfaces. `allowed`: the setting; what is no range is left out.
Networks LookAtMachine(const std::vector<std::string>& allowed);

// Why a receiver at that address is not called: the predicate of a sentence, "is loopback"; nothing
// where it is allowed.
std::optional<std::string> WhyRefused(const Networks& networks, const Address& address,
                                      bool is_https);
// The same of a numeric address as inet_ntop(3) writes it.
std::optional<std::string> WhyRefused(const Networks& networks, std::string_view address,
                                      bool is_https);

// The parts of a webhook_url that decide.
struct Target {
  bool is_https = true;
  std::string host;                // as net/url.h gives it
  std::optional<Address> literal;  // of a host that is an address, in any spelling
};
// Either a target, or what is wrong with the URL: the predicate of a sentence.
struct ParsedUrl {
  std::optional<Target> target;
  std::string wrong;
};
ParsedUrl ParseUrl(const std::string& url);

// Of a webhook_url.
inline constexpr size_t kUrlBytesMax = 2048;

}  // namespace comanda::webhooks
