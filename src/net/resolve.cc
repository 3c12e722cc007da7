#include "net/resolve.h"

#include <ares.h>
#include <arpa/inet.h>
#include <poll.h>

#include <array>
#include <memory>

namespace comanda::net {
namespace {

struct ChannelDeleter {
  void operator()(ares_channel_t* channel) const { ares_destroy(channel); }
};

std::string Numeric(const sockaddr& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes = &reinterpret_cast<const sockaddr_in&>(address).sin_addr;
  if (address.sa_family == AF_INET6) {
    bytes = &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  }
  return ::inet_ntop(address.sa_family, bytes, text.data(), text.size()) == nullptr ? ""
                                                                                    : text.data();
}

void Take(void* found, int, int, ares_addrinfo* info) {
  if (info == nullptr) return;
  for (const ares_addrinfo_node* node = info->nodes; node != nullptr; node = node->ai_next) {
    static_cast<std::vector<std::string>*>(found)->push_back(Numeric(*node->ai_addr));
  }
  ares_freeaddrinfo(info);
}

std::vector<std::string> AskAvahi(const std::string& host, int64_t timeout_ms,
                                  const LocalNames& names) {
  AvahiQuery query(names, host, timeout_ms);
  while (!query.Continue()) {
    pollfd one{.fd = query.socket(), .events = POLLIN, .revents = 0};
    ::poll(&one, 1, static_cast<int>(query.LeftMs()));
  }
  if (query.address().empty()) return {};
  return {query.address()};
}

}  // namespace

std::vector<std::string> FindAddresses(const std::string& host, int64_t timeout_ms,
                                       const LocalNames& names) {
  if (IsMulticastName(host) && !IsInHosts(host, names.hosts_file)) {
    return AskAvahi(host, timeout_ms, names);
  }
  std::vector<std::string> found;
  ares_options options{};
  options.evsys = ARES_EVSYS_DEFAULT;
  ares_channel_t* opened = nullptr;
  if (ares_init_options(&opened, &options, ARES_OPT_EVENT_THREAD) != ARES_SUCCESS) return found;
  // Destroying the channel ends a query that is under way, and waits for its callback.
  const std::unique_ptr<ares_channel_t, ChannelDeleter> channel(opened);
  ares_addrinfo_hints hints{};
  hints.ai_family = AF_UNSPEC;
  ares_getaddrinfo(channel.get(), host.c_str(), nullptr, &hints, Take, &found);
  if (ares_queue_wait_empty(channel.get(), static_cast<int>(timeout_ms)) != ARES_SUCCESS) {
    ares_cancel(channel.get());
  }
  return found;
}

}  // namespace comanda::net
