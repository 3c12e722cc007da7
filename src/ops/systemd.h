#pragma once

// Messages to systemd (sd_notify(3)) without libsystemd: each is one datagram to $NOTIFY_SOCKET.
// Without that variable the functions do nothing. They throw nothing and do not block. Any thread.

#include <string>
#include <string_view>

namespace comanda::ops {

// `state`: "READY=1", "STOPPING=1", "RELOADING=1\nMONOTONIC_USEC=…", "WATCHDOG=1", "STATUS=…".
void Notify(std::string_view state);
// Extends systemd's timeout for the start to ten minutes from now, and shows the step of the
// upgrade as the status.
void NotifyUpgrading(const std::string& step);
// A reload begins; "READY=1" ends it. The message contains the time, which systemd 253 needs.
void NotifyReloading();
// True if the process has a $NOTIFY_SOCKET.
bool UnderSystemd();

}  // namespace comanda::ops
