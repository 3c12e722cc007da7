#include "webhooks/address_rules.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "net/url.h"

namespace comanda::webhooks {
namespace {

// A range that is never called, also where the owner has named it.
struct Refused {
  std::string_view range;
  std::string_view why;
};
constexpr std::array kRefused = {
    Refused{"0.0.0.0/8", "is the unspecified address"}, Refused{"169.254.0.0/16", "is link-local"},
    Refused{"192.0.0.0/24", "is reserved"}, Refused{"224.0.0.0/4", "is multicast"},
    Refused{"240.0.0.0/4", "is reserved or broadcast"},
    Refused{"::/128", "is the unspecified address"}, Refused{"fe80::/10", "is link-local"},
    Refused{"fec0::/10", "is site-local"}, Refused{"ff00::/8", "is multicast"},
    // RFC 8215: where the IPv4 address stands depends on a length (RFC 6052 section 2.2) that only
    // the translator knows.
    Refused{"64:ff9b:1::/48", "is in the prefix of a local translator"},
    Refused{"::ffff:0:0:0/96", "is in the prefix of a local translator"},  // RFC 2765
    Refused{"2001::/32", "is in the prefix of a tunnel"},                  // RFC 4380
};
constexpr std::array<std::string_view, 2> kLoopback = {"127.0.0.0/8", "::1/128"};
constexpr std::array<std::string_view, 5> kPrivate = {
    "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"};
constexpr std::string_view kPorts = "must have port 80, 443 or one from 1024 on";
constexpr std::string_view kNat64 = "64:ff9b::/96";
constexpr std::string_view k6To4 = "2002::/16";
constexpr std::string_view kCompatible = "::/96";  // RFC 4291 section 2.5.5.1

bool IsIn(const Address& address, std::string_view range) {
  return AddressRange::Parse(range)->Contains(address);
}

template <size_t size>
bool IsInAny(const Address& address, const std::array<std::string_view, size>& ranges) {
  return std::ranges::any_of(ranges, [&](std::string_view range) { return IsIn(address, range); });
}

bool IsInAny(const Address& address, const std::vector<AddressRange>& ranges) {
  return std::ranges::any_of(ranges, [&](const AddressRange& r) { return r.Contains(address); });
}

Address Ipv4(const uint8_t* bytes) {
  Address address{};
  address[10] = address[11] = 0xff;
  std::copy_n(bytes, 4, address.begin() + 12);
  return address;
}

// The IPv4 address that an IPv6 one leads to through a translator or tunnel.
std::optional<Address> Inner(const Address& address) {
  if (IsIn(address, kNat64)) return Ipv4(address.data() + 12);
  if (IsIn(address, k6To4)) return Ipv4(address.data() + 2);
  const bool is_other = IsIn(address, "::/127");  // unspecified and loopback of IPv6
  if (IsIn(address, kCompatible) && !is_other) return Ipv4(address.data() + 12);
  return std::nullopt;
}

std::optional<Address> AddressOf(const sockaddr* address) {
  if (address == nullptr) return std::nullopt;
  if (address->sa_family == AF_INET) {
    return Ipv4(
        reinterpret_cast<const uint8_t*>(&reinterpret_cast<const sockaddr_in*>(address)->sin_addr));
  }
  if (address->sa_family != AF_INET6) return std::nullopt;
  Address bytes{};
  std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr, 16);
  return bytes;
}

std::string Text(const Address& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET6, address.data(), text.data(), text.size());
  return text.data();
}

int PrefixLength(const sockaddr& mask) {
  int bits = 0;
  const auto count = [&](const uint8_t* bytes, size_t size) {
    for (size_t i = 0; i < size; ++i) bits += std::popcount(bytes[i]);
  };
  if (mask.sa_family == AF_INET) {
    bits = 96;
    count(reinterpret_cast<const uint8_t*>(&reinterpret_cast<const sockaddr_in&>(mask).sin_addr),
          4);
  } else {
    count(reinterpret_cast<const uint8_t*>(&reinterpret_cast<const sockaddr_in6&>(mask).sin6_addr),
          16);
  }
  return bits;
}

// The subnet of an interface.
std::optional<AddressRange> SubnetOf(Address address, const sockaddr* mask) {
  if (mask == nullptr) return std::nullopt;
  const int bits = PrefixLength(*mask);
  for (int bit = bits; bit < 128; ++bit) {
    address[static_cast<size_t>(bit) / 8] &= static_cast<uint8_t>(~(0x80 >> (bit % 8)));
  }
  return AddressRange::Parse(Text(address) + "/" + std::to_string(bits));
}

bool Contains(const std::vector<Address>& addresses, const Address& address) {
  return std::ranges::find(addresses, address) != addresses.end();
}

// Addresses of an own subnet that lead to no single neighbour.
std::optional<std::string> WhyNoNeighbour(const AddressRange& subnet, const Address& address) {
  if (subnet.is_point_to_point()) return std::nullopt;
  if (subnet.is_ipv4() && address == subnet.last()) return "is broadcast";
  // RFC 4291 section 2.6.1: the box itself answers on it where it forwards.
  if (!subnet.is_ipv4() && address == subnet.first()) return "is the anycast address of routers";
  return std::nullopt;
}

// `is_translated`: a translator or tunnel leads to the address, whose network is not the box's own:
// what is private or loopback there is none of its neighbours, nor itself.
std::optional<std::string> WhyRefused(const Networks& networks, const Address& address,
                                      bool is_https, bool is_translated) {
  const bool is_named = IsInAny(address, networks.allowed);
  if (IsInAny(address, kLoopback)) {
    if (is_named && !is_translated) return std::nullopt;
    return "is loopback";
  }
  if (Contains(networks.own, address)) return "is this box's own address";
  for (const Refused& row : kRefused) {
    if (IsIn(address, row.range)) return std::string(row.why);
  }
  for (const AddressRange& subnet : networks.subnets) {
    if (auto why = WhyNoNeighbour(subnet, address)) return why;
  }
  if (!IsInAny(address, kPrivate)) {
    if (!is_https) return "is public, which needs https";
    return std::nullopt;
  }
  if (is_named) return std::nullopt;
  if (is_translated) return "is a private address behind a translator";
  if (IsInAny(address, networks.subnets)) return std::nullopt;
  return "is a private address outside the box's own subnets";
}

}  // namespace

Networks LookAtMachine(const std::vector<std::string>& allowed) {
  Networks networks;
  for (const std::string& range : allowed) {
    if (const auto parsed = AddressRange::Parse(range)) networks.allowed.push_back(*parsed);
  }
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return networks;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    const std::optional<Address> address = AddressOf(one->ifa_addr);
    if (!address) continue;
    networks.own.push_back(*address);
    if ((one->ifa_flags & IFF_LOOPBACK) != 0 || (one->ifa_flags & IFF_UP) == 0) continue;
    networks.is_connected = networks.is_connected || !IsIn(*address, "fe80::/10");
    if (const auto subnet = SubnetOf(*address, one->ifa_netmask)) {
      networks.subnets.push_back(*subnet);
    }
  }
  ::freeifaddrs(list);
  return networks;
}

std::optional<std::string> WhyRefused(const Networks& networks, const Address& address,
                                      bool is_https) {
  if (const std::optional<Address> inner = Inner(address)) {
    // A range that contains the outer address says nothing about the network behind it.
    if (Contains(networks.own, address)) return "is this box's own address";
    return WhyRefused(networks, *inner, is_https, /*is_translated=*/true);
  }
  return WhyRefused(networks, address, is_https, /*is_translated=*/false);
}

std::optional<std::string> WhyRefused(const Networks& networks, std::string_view address,
                                      bool is_https) {
  const std::optional<Address> parsed = ParseAddress(address);
  return parsed ? WhyRefused(networks, *parsed, is_https) : "is no address";
}

ParsedUrl ParseUrl(const std::string& url) {
  if (url.size() > kUrlBytesMax) {
    return {{}, "must have at most " + std::to_string(kUrlBytesMax) + " bytes"};
  }
  const net::ParsedUrl read = net::ParseUrl(url);
  switch (read.wrong) {
    case net::UrlMistake::kNone:
      break;
    case net::UrlMistake::kNoUrl:
      return {{}, "must be a whole URL, as https://example.com/comanda"};
    case net::UrlMistake::kUser:
      return {{}, "must not contain a user or password: use webhook_headers"};
    case net::UrlMistake::kFragment:
      return {{}, "must not have a fragment (#…)"};
    case net::UrlMistake::kPort:
      return {{}, std::string(kPorts)};
    case net::UrlMistake::kHost:
      return {{}, "must have a host name, or an IPv4 or IPv6 address, as its host"};
  }
  if (read.url.scheme != "https" && read.url.scheme != "http")
    return {{}, "must begin with https://"};
  constexpr int kFirstFreePort = 1024;
  const int port = read.url.port;
  if (port < kFirstFreePort && port != 80 && port != 443) return {{}, std::string(kPorts)};
  return {Target{.is_https = read.url.scheme == "https",
                 .host = read.url.host,
                 .literal = ParseAddress(read.url.host)},
          ""};
}

}  // namespace comanda::webhooks
