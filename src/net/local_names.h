#pragma once

// Names under .local (RFC 6762), which machines of a LAN give themselves: "till.local". c-ares asks
// DNS servers alone, which know none of them, so avahi is asked, the daemon that speaks multicast
// DNS on Linux. A name that /etc/hosts has is left to c-ares, which reads that file by itself.
// Internal to this room, except LocalNames.

#include <cstdint>
#include <string>
#include <string_view>

namespace comanda::net {

// What answers for such names.
struct LocalNames {
  std::string avahi_socket = "/run/avahi-daemon/socket";
  std::string hosts_file = "/etc/hosts";
};

// True for a name of two labels under .local, as avahi answers for. A longer one is asked of DNS:
// companies have domains of their own like "shop.local", and machines in them. Pure.
bool IsMulticastName(std::string_view host);

// Blocks for the time that it takes to read the file.
bool IsInHosts(const std::string& host, const std::string& hosts_file);

// Asks avahi for the IPv4 address of a name, without blocking: the owner polls socket() for input
// and calls Continue() when it has some, and at the deadline. One thread.
class AvahiQuery {
 public:
  // The longest wait for an answer. avahi itself gives a name up after 5 s.
  static constexpr int64_t kTimeoutMs = 2'000;

  AvahiQuery(const LocalNames& names, const std::string& host, int64_t timeout_ms = kTimeoutMs);
  AvahiQuery(const AvahiQuery&) = delete;
  AvahiQuery& operator=(const AvahiQuery&) = delete;
  ~AvahiQuery();

  // True once there is an address or an error. Never blocks.
  bool Continue();
  // -1 once it has ended.
  int socket() const { return socket_; }
  // How long it may still last.
  int64_t LeftMs() const;

  // Numeric; empty where none was found.
  const std::string& address() const { return address_; }
  // Why none was found, and what to do about it.
  const std::string& error() const { return error_; }

 private:
  void Ask(const std::string& socket_path);
  void Read(std::string_view line);
  void Fail(std::string_view why);
  void Close();

  const std::string host_;
  const int64_t deadline_ms_;  // monotonic
  int socket_ = -1;
  std::string received_;
  std::string address_;
  std::string error_;
};

// What a call reports for a name under .local that was not found.
inline constexpr std::string_view kLocalNameAdvice = "use its address or /etc/hosts";

}  // namespace comanda::net
