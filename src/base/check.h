#pragma once

// CHECK(condition, "why it must hold") states an invariant of the program. If it is false, CHECK
// writes one line to the log and aborts the process; systemd restarts it on a consistent database.
//
// Use it for programming errors alone. Data from a disk, a socket or a file is never an invariant:
// a bad value there is a Refusal or a Fault (base/problem.h).

#include <string_view>

namespace comanda {

[[noreturn]] void CheckFailed(const char* condition, const char* file, int line,
                              std::string_view why);

}  // namespace comanda

#define CHECK(condition, why)                                        \
  do {                                                               \
    if (!(condition)) [[unlikely]] {                                 \
      ::comanda::CheckFailed(#condition, __FILE__, __LINE__, (why)); \
    }                                                                \
  } while (false)
