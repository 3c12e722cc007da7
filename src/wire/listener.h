#pragma once

// Listening TCP sockets, and their addresses as the settings spell them: ADDR:PORT with a numeric
// address, IPv6 in brackets.
//
// A server takes listening sockets that are open already (ServerSettings::listeners), so that one
// can outlive the process: systemd holds another descriptor of it and passes it to the next process
// (ops/systemd.h). The kernel queues connections meanwhile.

#include <optional>
#include <string>

#include "base/handle.h"

struct sockaddr;

namespace comanda::wire {

// The most connections that the kernel queues until they are accepted.
inline constexpr int kBacklog = 512;

// Opens a socket that listens on `address`; [::] listens on the IPv4 addresses too. Throws Fault
// where the address is malformed, or the system refuses it: it says which and why.
Fd OpenListener(const std::string& address);

// An address of IPv4 or IPv6 as text.
std::string AddressText(const sockaddr& address);
// The address on which `fd` listens; empty where it is no listening TCP socket.
std::optional<std::string> ListeningAddress(int fd);

// Whether a socket that listens on `held` can take the place of one on `wanted`: the same address
// and port, or [::] for 0.0.0.0. All addresses do not serve a single one: that would open more than
// is wanted.
bool Serves(const std::string& held, const std::string& wanted);

}  // namespace comanda::wire
