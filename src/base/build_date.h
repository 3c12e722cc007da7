#pragma once

// When this program was built: no right clock shows an earlier time.

#include "base/clock.h"

namespace comanda {

// The date of the last commit, so that the same source gives the same program; SOURCE_DATE_EPOCH
// takes its place, and the day of the build where there is neither (CMakeLists.txt).
UtcMs BuildDate();

}  // namespace comanda
