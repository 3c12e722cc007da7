#pragma once

// Numeric addresses and ranges of them: where a key may be used from (contract section 3).

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace comanda {

// IPv4 as IPv4-mapped IPv6, so that both compare alike.
using Address = std::array<uint8_t, 16>;

// "192.168.1.20", "fe80::1%eth0", "::ffff:192.168.1.20"; nothing where it is no numeric address.
std::optional<Address> ParseAddress(std::string_view text);

class AddressRange {
 public:
  // "192.168.1.0/24", "2001:db8::/32", or one address alone. Nothing where malformed or where bits
  // behind the prefix are set.
  static std::optional<AddressRange> Parse(std::string_view text);
  bool Contains(const Address& address) const;

 private:
  AddressRange(const Address& base, int bits) : base_(base), bits_(bits) {}
  Address base_;
  int bits_;  // of 128
};

// The address for IPv4, the /64 network for IPv6 ("2001:db8:1:2::/64"): what counts as one client
// that tries out keys. Text, which logs show.
std::string ClientOf(std::string_view address);

}  // namespace comanda
