#include "support/source_dir.h"

namespace comanda::testing {

std::string SourceDirectory() { return COMANDA_SOURCE_DIR; }

}  // namespace comanda::testing
