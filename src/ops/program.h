#pragma once

// Runs a program of the system to its end: systemctl, mount, blkid. Blocks. Not on threads that
// serve requests.

#include <cstdint>
#include <string>
#include <vector>

namespace comanda::ops {

struct Said {
  int status = -1;   // the exit code; -1: a signal ended it, or it did not begin
  std::string text;  // what it wrote to either stream, 64 KiB at most; or why it did not begin
};

// `name` is looked up in the system's directories for programs. The environment has these in PATH,
// and LC_ALL=C. The program is in a process group of its own: Ctrl-C is for this process, which
// then puts things in order. It is killed after wait_ms. Throws nothing but std::bad_alloc.
Said RunProgram(const std::string& name, const std::vector<std::string>& words, int64_t wait_ms);

}  // namespace comanda::ops
