#include "base/time/ends.h"

#include <algorithm>

#include "base/log.h"
#include "base/problem.h"

namespace comanda {

std::optional<int64_t> Ends::DueInMs() const {
  std::optional<int64_t> due;
  for (const EndingKind& kind : kinds_) {
    const std::optional<int64_t> in_ms = kind.due_in_ms();
    if (in_ms) due = std::min(due.value_or(*in_ms), *in_ms);
  }
  return due;
}

void Ends::WriteDown() {
  bool fails = false;
  for (const EndingKind& kind : kinds_) {
    try {
      kind.write_down();
    } catch (const Fault& fault) {  // e.g. a full disk
      fails = true;
      if (has_failed_ || fault.kind == Fault::Kind::kDiskReadOnly) continue;  // it is said already
      log::Error("could not record yet what has expired",
                 {{"what", kind.name}, {"why", fault.cause}});
    }
  }
  has_failed_ = fails;
}

}  // namespace comanda
