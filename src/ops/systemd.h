#pragma once

// sd_notify without libsystemd: one datagram to $NOTIFY_SOCKET. Does nothing where there is none.

#include <cstdint>
#include <string_view>

namespace comanda::ops {

// "READY=1", "STOPPING=1", "RELOADING=1\nMONOTONIC_USEC=…", "WATCHDOG=1", "STATUS=…".
void Notify(std::string_view state);
// As Type=notify-reload wants it.
void NotifyReloading();

// How often the watchdog wants a sign of life, in milliseconds; 0: no watchdog.
int64_t WatchdogIntervalMs();

}  // namespace comanda::ops
