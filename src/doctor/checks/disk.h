#pragma once

// The disk that a path lies on, as the kernel's files tell.

#include <string>

#include "doctor/machine.h"

namespace comanda::doctor {

struct Disk {
  std::string name;           // "sda" for a file on its partition sda1; empty: not known
  bool is_removable = false;  // a stick or a disk on USB, or a card in a reader
};

// Of a path that need not exist: the nearest directory above that does. Follows `path` on the real
// machine and reads about its device through `machine`.
Disk DiskOf(const Machine& machine, const std::string& path);

}  // namespace comanda::doctor
