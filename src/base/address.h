#pragma once

// Numeric IP addresses and ranges of them: where a key may be used from (contract section 3). Any
// thread.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace comanda {

// IPv4 addresses are stored as IPv4-mapped IPv6 (RFC 4291 section 2.5.5.2), so that both families
// compare alike.
using Address = std::array<uint8_t, 16>;

// "192.168.1.20", "fe80::1%eth0" (the zone is ignored), "::ffff:192.168.1.20"; nothing if the text
// is not a numeric address.
std::optional<Address> ParseAddress(std::string_view text);
// The one text of an address, by which texts of it can be compared: "192.168.1.20", "fe80::1".
std::string NumericText(const Address& address);

// A CIDR block (RFC 4632).
class AddressRange {
 public:
  // "192.168.1.0/24", "2001:db8::/32", or a single address. Nothing if malformed, or if host bits
  // are set.
  static std::optional<AddressRange> Parse(std::string_view text);
  bool Contains(const Address& address) const;
  const Address& first() const { return base_; }
  Address last() const;
  bool is_ipv4() const;
  // Of one or two addresses, each of which may be a host's (RFC 3021, RFC 6164).
  bool is_point_to_point() const { return bits_ >= 127; }

 private:
  AddressRange(const Address& base, int bits) : base_(base), bits_(bits) {}
  Address base_;
  // Length of the prefix, of 128 bits.
  int bits_;
};

// The unit by which failed authentications are limited: an IPv4 address, or the /64 network of an
// IPv6 address ("2001:db8:1:2::/64"), since one client usually controls a whole /64. The text also
// goes to the log.
std::string ClientOf(std::string_view address);

}  // namespace comanda
