#pragma once

// The build date: a lower bound for the wall clock. A clock that shows an earlier time is certainly
// wrong.

#include "base/time/clock.h"

namespace comanda {

// The date of the last commit, so that builds of the same source are identical (reproducible).
// SOURCE_DATE_EPOCH overrides it; a tree without either uses the day of the build (CMakeLists.txt).
UtcMs BuildDate();

}  // namespace comanda
