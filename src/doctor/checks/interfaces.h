#pragma once

// The addresses of the machine's interfaces, asked of the kernel (rtnetlink(7)), which also knows
// whether an address ends by itself: then a DHCP server or a router has lent it.

#include <vector>

#include "doctor/box.h"

namespace comanda::doctor {

// Without those of loopback and link-local IPv6 ones. Empty where the kernel does not answer.
std::vector<InterfaceAddress> ReadInterfaces();

}  // namespace comanda::doctor
