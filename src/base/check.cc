#include "base/check.h"

#include <cxxabi.h>

#include <cstdlib>
#include <exception>
#include <typeinfo>

#include "base/log.h"

namespace comanda {

void CheckFailed(const char* condition, const char* file, int line, std::string_view why) {
  log::Error("broken invariant",
             {{"why", why}, {"condition", condition}, {"file", file}, {"line", line}});
  std::abort();
}

}  // namespace comanda

namespace __gnu_cxx {

// Replaces the handler of libstdc++ for uncaught exceptions, which would link its demangler into a
// static program.
void __verbose_terminate_handler() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  std::string_view why;
  try {
    if (type != nullptr) throw;
  } catch (const std::exception& error) {
    why = error.what();
  } catch (...) {
    why = "";
  }
  comanda::log::Error("uncaught exception",
                      {{"type", type != nullptr ? type->name() : "none"}, {"why", why}});
  std::abort();
}

}  // namespace __gnu_cxx
