#include "wire/listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>

#include "base/problem.h"

namespace comanda::wire {
namespace {

// Ports below this one are reserved for processes with a capability (ip(7)).
constexpr int kUnprivilegedPort = 1024;

struct Address {
  sockaddr_storage bytes{};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&bytes); }
  bool is_v6() const { return bytes.ss_family == AF_INET6; }
  const sockaddr_in& v4() const { return reinterpret_cast<const sockaddr_in&>(bytes); }
  const sockaddr_in6& v6() const { return reinterpret_cast<const sockaddr_in6&>(bytes); }
  int port() const { return ntohs(is_v6() ? v6().sin6_port : v4().sin_port); }
  bool IsAny() const {
    return is_v6() ? IN6_IS_ADDR_UNSPECIFIED(&v6().sin6_addr) : v4().sin_addr.s_addr == INADDR_ANY;
  }
  bool SameHost(const Address& other) const {
    if (bytes.ss_family != other.bytes.ss_family) return false;
    return is_v6() ? std::memcmp(&v6().sin6_addr, &other.v6().sin6_addr, sizeof(in6_addr)) == 0
                   : v4().sin_addr.s_addr == other.v4().sin_addr.s_addr;
  }
};

std::optional<Address> Parse(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  uint16_t port = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data() + colon + 1, end, port);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;

  std::string host = text.substr(0, colon);
  Address address;
  if (host.starts_with('[') && host.ends_with(']')) {
    auto& v6 = reinterpret_cast<sockaddr_in6&>(address.bytes);
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    address.size = sizeof v6;
    host = host.substr(1, host.size() - 2);
    if (inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) != 1) return std::nullopt;
  } else {
    auto& v4 = reinterpret_cast<sockaddr_in&>(address.bytes);
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    address.size = sizeof v4;
    if (inet_pton(AF_INET, host.c_str(), &v4.sin_addr) != 1) return std::nullopt;
  }
  return address;
}

[[noreturn]] void ThrowCannotListen(const std::string& address, int error, int port) {
  std::string text = "cannot listen on " + address + ": " +
                     std::error_code(error, std::generic_category()).message();
  if (error == EACCES && port < kUnprivilegedPort) {
    text += "; a port below 1024 has to come from systemd: `systemctl enable comanda-https.socket`";
  } else {
    text += "; `listen`, `sandbox_listen` and `setup_listen` name a free address of this machine";
  }
  throw Fault(Fault::Kind::kInternal, text);
}

}  // namespace

Fd OpenListener(const std::string& text) {
  const std::optional<Address> address = Parse(text);
  if (!address) ThrowCannotListen(text, EINVAL, 0);
  Fd fd(::socket(address->bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  const int v6_only = address->is_v6() && !address->IsAny();
  const bool is_ready =
      fd && ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
      (!address->is_v6() ||
       ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &v6_only, sizeof v6_only) == 0) &&
      ::bind(fd.get(), address->get(), address->size) == 0 && ::listen(fd.get(), kBacklog) == 0;
  if (!is_ready) ThrowCannotListen(text, errno, address->port());
  return fd;
}

std::string AddressText(const sockaddr& address) {
  std::array<char, INET6_ADDRSTRLEN> host{};
  if (address.sa_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    ::inet_ntop(AF_INET6, &v6.sin6_addr, host.data(), host.size());
    return "[" + std::string(host.data()) + "]:" + std::to_string(ntohs(v6.sin6_port));
  }
  const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
  ::inet_ntop(AF_INET, &v4.sin_addr, host.data(), host.size());
  return std::string(host.data()) + ":" + std::to_string(ntohs(v4.sin_port));
}

std::optional<std::string> ListeningAddress(int fd) {
  int type = 0;
  int accepts = 0;
  socklen_t size = sizeof type;
  if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_STREAM)
    return std::nullopt;
  size = sizeof accepts;
  if (::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &size) != 0 || accepts == 0)
    return std::nullopt;

  Address address;
  address.size = sizeof address.bytes;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address.bytes), &address.size) != 0)
    return std::nullopt;
  const bool is_tcp = address.is_v6() || address.bytes.ss_family == AF_INET;
  return is_tcp ? std::optional(AddressText(*address.get())) : std::nullopt;
}

bool Serves(const std::string& held, const std::string& wanted) {
  const std::optional<Address> has = Parse(held);
  const std::optional<Address> wants = Parse(wanted);
  if (!has || !wants || has->port() != wants->port()) return false;
  return has->SameHost(*wants) || (has->IsAny() && has->is_v6() && wants->IsAny());
}

}  // namespace comanda::wire
