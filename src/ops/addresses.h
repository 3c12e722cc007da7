#pragma once

// The IPv4 addresses that the machine had when the server last looked, in the file DIR/addresses.
// Devices that were given a number instead of a name lose the box when the number changes, and the
// log is then the place where the new one is found. IPv6 addresses are not followed: privacy
// extensions (RFC 8981) change them every day.

#include <optional>
#include <set>
#include <string>

#include "base/time/clock.h"

namespace comanda::ops {

struct AddressRecord {
  std::set<std::string> addresses;
  std::set<std::string> former;  // before the last change; empty: there was none
  UtcMs changed_at = 0;
  bool operator==(const AddressRecord&) const = default;
};

// Nothing if there is no record, or the file is not one. Throws nothing.
std::optional<AddressRecord> ReadAddressRecord(const std::string& data_directory);

// Of all addresses of a machine, those that are recorded: IPv4, neither loopback nor link-local.
// Pure.
std::set<std::string> RecordedAddresses(const std::set<std::string>& all);

// The record after a look at the machine; nothing if it stays as it is. A machine without an
// address, such as one whose cable is unplugged, changes nothing. Pure.
std::optional<AddressRecord> NextRecord(const std::optional<AddressRecord>& record,
                                        const std::set<std::string>& all, UtcMs now);

// Looks, and where the addresses are others than before, logs both and writes the file. `all`: the
// addresses of the machine. Fault if the file cannot be written.
void FollowAddresses(const std::string& data_directory, const std::set<std::string>& all,
                     UtcMs now);

}  // namespace comanda::ops
