#include "base/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

namespace comanda {
namespace {

constexpr int kBitsOfIpv4 = 32;
constexpr int kBitsOfIpv6 = 128;
constexpr std::array<uint8_t, 12> kMappedPrefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

bool IsIpv4(const Address& address) {
  return std::equal(kMappedPrefix.begin(), kMappedPrefix.end(), address.begin());
}

// The address with its host bits cleared.
Address Network(Address address, int bits) {
  for (int i = 0; i < 16; ++i) {
    const int kept = std::clamp(bits - i * 8, 0, 8);
    uint8_t& byte = address[static_cast<size_t>(i)];
    byte = static_cast<uint8_t>(byte & (0xff00 >> kept));
  }
  return address;
}

}  // namespace

std::optional<Address> ParseAddress(std::string_view text) {
  const std::string plain(text.substr(0, text.find('%')));
  if (plain.find('\0') != std::string::npos) return std::nullopt;
  Address address{};
  if (inet_pton(AF_INET6, plain.c_str(), address.data()) == 1) return address;
  std::copy(kMappedPrefix.begin(), kMappedPrefix.end(), address.begin());
  if (inet_pton(AF_INET, plain.c_str(), address.data() + kMappedPrefix.size()) == 1) return address;
  return std::nullopt;
}

std::string NumericText(const Address& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (IsIpv4(address)) {
    inet_ntop(AF_INET, address.data() + kMappedPrefix.size(), text.data(), text.size());
  } else {
    inet_ntop(AF_INET6, address.data(), text.data(), text.size());
  }
  return text.data();
}

std::optional<AddressRange> AddressRange::Parse(std::string_view text) {
  const size_t slash = text.find('/');
  const std::string_view host = text.substr(0, slash);
  if (host.find('%') != std::string_view::npos) return std::nullopt;
  const std::optional<Address> base = ParseAddress(host);
  if (!base) return std::nullopt;
  const bool is_ipv4 = host.find(':') == std::string_view::npos;
  const int bits_max = is_ipv4 ? kBitsOfIpv4 : kBitsOfIpv6;
  int bits = bits_max;
  if (slash != std::string_view::npos) {
    const std::string_view number = text.substr(slash + 1);
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), bits);
    if (error != std::errc() || end != number.data() + number.size()) return std::nullopt;
    if (bits < 0 || bits > bits_max) return std::nullopt;
  }
  bits += kBitsOfIpv6 - bits_max;
  if (Network(*base, bits) != *base) return std::nullopt;
  return AddressRange(*base, bits);
}

bool AddressRange::Contains(const Address& address) const {
  return Network(address, bits_) == base_;
}

Address AddressRange::last() const {
  Address address = base_;
  for (int bit = bits_; bit < kBitsOfIpv6; ++bit) {
    uint8_t& byte = address[static_cast<size_t>(bit) / 8];
    byte = static_cast<uint8_t>(byte | (0x80 >> (bit % 8)));
  }
  return address;
}

bool AddressRange::is_ipv4() const { return IsIpv4(base_) && bits_ >= kBitsOfIpv6 - kBitsOfIpv4; }

std::string ClientOf(std::string_view address) {
  const std::optional<Address> parsed = ParseAddress(address);
  if (!parsed) return std::string(address);
  constexpr int kBitsOfNetwork = 64;
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (IsIpv4(*parsed)) {
    inet_ntop(AF_INET, parsed->data() + kMappedPrefix.size(), text.data(), text.size());
    return text.data();
  }
  const Address network = Network(*parsed, kBitsOfNetwork);
  inet_ntop(AF_INET6, network.data(), text.data(), text.size());
  return std::string(text.data()) + "/" + std::to_string(kBitsOfNetwork);
}

}  // namespace comanda
