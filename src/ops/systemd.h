#pragma once

// systemd without libsystemd: messages to it (sd_notify(3)), each of which is one datagram to
// $NOTIFY_SOCKET, and the listening sockets that it passes (sd_listen_fds(3)). Without that
// variable the functions that send do nothing. They throw nothing and do not block, unless said.
// Any thread.

#include <string>
#include <string_view>
#include <vector>

#include "base/handle.h"

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

// A descriptor that systemd has passed: of a socket unit, whose FileDescriptorName= is the name (by
// default the unit's own), or one that an earlier process of this service has stored with that
// name.
struct PassedDescriptor {
  Fd fd;
  std::string name;
};
// All that were passed to this process, closed in programs that it starts. The variables of the
// environment are removed: a second call returns nothing. Before the first thread starts.
std::vector<PassedDescriptor> TakePassedDescriptors();

// Asks systemd to keep a duplicate of the descriptor and to pass it under the name to the next
// process of the service, after a restart or a crash; `systemctl stop` closes it. Needs
// FileDescriptorStoreMax= in the unit.
void StoreDescriptor(int fd, std::string_view name);
// Asks systemd to close all that are stored under the name, and waits until it has, at most for 5
// s: an address may be used again then.
void DiscardDescriptors(std::string_view name);

}  // namespace comanda::ops
