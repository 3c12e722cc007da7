#pragma once

// Which process works in a data directory.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "doctor/machine.h"

namespace comanda::commands {

// The words with which a process was started; empty if they cannot be read.
std::vector<std::string> CommandOf(const doctor::Machine& machine, int64_t process);

// The process that holds the lock of the data directory (db/lock.h), as the kernel lists it;
// 0 for one outside of this container. The lock itself is not tried: a server that starts at that
// moment would find it taken.
std::optional<int64_t> FindLockHolder(const doctor::Machine& machine, const std::string& data);

}  // namespace comanda::commands
