#pragma once

// The name of this machine on the LAN. avahi, which answers for it by multicast DNS (RFC 6762),
// makes it of the host name; devices see what it makes of it, and not what the host name may be.

#include <set>
#include <string>
#include <string_view>

namespace comanda::ops {

// What avahi makes of a host name: its first label, without the characters that a name cannot have,
// at most 63 of them, in lower case. "comanda" if nothing is left. Pure.
std::string LocalLabel(std::string_view host);
// Whether the text is a DNS name: labels of 1 to 63 letters, digits and inner hyphens, at most 253
// characters in all. Pure.
bool IsDnsName(std::string_view text);

// The host name of this machine as it is set; may be no DNS name.
std::string HostName();
// NAME.local, by which devices find this machine.
std::string LocalName();

// What is wrong with that name: nobody answers for it, or another machine does. Empty: nothing.
// Asks avahi, and blocks for up to 2 s. `own`: the addresses of this machine.
std::string LocalNameTrouble(const std::set<std::string>& own);

}  // namespace comanda::ops
