#include "base/build_date.h"

namespace comanda {

UtcMs BuildDate() { return UtcMs{COMANDA_BUILD_EPOCH_S} * 1000; }

}  // namespace comanda
