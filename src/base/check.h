#pragma once

// CHECK(condition, "why it must hold"): a broken invariant ends the process with one log line;
// systemd restarts it on a consistent database.

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
