#include "base/check.h"

#include <cstdlib>

#include "base/log.h"

namespace comanda {

void CheckFailed(const char* condition, const char* file, int line, std::string_view why) {
  log::Error("broken invariant",
             {{"why", why}, {"condition", condition}, {"file", file}, {"line", line}});
  std::abort();
}

}  // namespace comanda
