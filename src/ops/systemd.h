#pragma once

// sd_notify without libsystemd: one datagram to $NOTIFY_SOCKET. Does nothing where there is none.

#include <string>
#include <string_view>

namespace comanda::ops {

// "READY=1", "STOPPING=1", "RELOADING=1\nMONOTONIC_USEC=…", "WATCHDOG=1", "STATUS=…".
void Notify(std::string_view state);
// The start takes longer than systemd grants: ten more minutes from now, for this step.
void NotifyUpgrading(const std::string& step);
// READY=1 ends it; the time is for systemd 253 and later, which may wait for both.
void NotifyReloading();
// False where there is nobody to be told.
bool UnderSystemd();

}  // namespace comanda::ops
