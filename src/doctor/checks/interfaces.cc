#include "doctor/checks/interfaces.h"

#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "base/handle.h"

namespace comanda::doctor {
namespace {

struct Request {
  nlmsghdr head;
  ifaddrmsg body;
};

// An attribute's value, copied: the kernel's buffers are not aligned for every type.
template <typename T>
std::optional<T> ValueOf(const rtattr* attribute) {
  if (RTA_PAYLOAD(attribute) < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, RTA_DATA(attribute), sizeof value);
  return value;
}

std::optional<InterfaceAddress> ReadAddress(const nlmsghdr* head) {
  const auto* body = static_cast<const ifaddrmsg*>(NLMSG_DATA(head));
  std::array<char, INET6_ADDRSTRLEN> text = {};
  std::array<char, IF_NAMESIZE> name = {};
  bool is_permanent = (body->ifa_flags & IFA_F_PERMANENT) != 0;
  int left = static_cast<int>(IFA_PAYLOAD(head));
  for (const rtattr* one = IFA_RTA(body); RTA_OK(one, left); one = RTA_NEXT(one, left)) {
    const size_t size = RTA_PAYLOAD(one);
    // Of a point-to-point interface IFA_ADDRESS is the other end; IPv6 has no IFA_LOCAL.
    const bool is_own =
        one->rta_type == IFA_LOCAL || (one->rta_type == IFA_ADDRESS && text[0] == '\0');
    if (is_own && size == (body->ifa_family == AF_INET ? 4u : 16u)) {
      ::inet_ntop(body->ifa_family, RTA_DATA(one), text.data(), text.size());
    }
    if (one->rta_type == IFA_FLAGS) {
      if (const auto flags = ValueOf<uint32_t>(one)) is_permanent = (*flags & IFA_F_PERMANENT) != 0;
    }
  }
  if (text[0] == '\0' || ::if_indextoname(body->ifa_index, name.data()) == nullptr) {
    return std::nullopt;
  }
  return InterfaceAddress{
      .interface = name.data(), .address = text.data(), .is_leased = !is_permanent};
}

bool IsOfMachineAlone(const InterfaceAddress& one) {
  return one.address.starts_with("127.") || one.address == "::1" ||
         one.address.starts_with("fe80:");
}

}  // namespace

std::vector<InterfaceAddress> ReadInterfaces() {
  std::vector<InterfaceAddress> all;
  const Fd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  const timeval patience{.tv_sec = 1, .tv_usec = 0};
  if (!socket ||
      ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0) {
    return all;
  }
  Request request{};
  request.head.nlmsg_len = NLMSG_LENGTH(sizeof(ifaddrmsg));
  request.head.nlmsg_type = RTM_GETADDR;
  request.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request.body.ifa_family = AF_UNSPEC;
  if (::send(socket.get(), &request, request.head.nlmsg_len, 0) < 0) return all;
  alignas(nlmsghdr) std::array<char, 32'768> buffer;
  while (true) {
    const ssize_t got = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
    if (got <= 0) return all;
    auto left = static_cast<unsigned>(got);
    for (auto* head = reinterpret_cast<nlmsghdr*>(buffer.data()); NLMSG_OK(head, left);
         head = NLMSG_NEXT(head, left)) {
      if (head->nlmsg_type == NLMSG_DONE || head->nlmsg_type == NLMSG_ERROR) return all;
      if (head->nlmsg_type != RTM_NEWADDR) continue;
      auto found = ReadAddress(head);
      if (found && !IsOfMachineAlone(*found)) all.push_back(*std::move(found));
    }
  }
}

}  // namespace comanda::doctor
