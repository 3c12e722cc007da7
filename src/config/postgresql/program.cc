#include "config/table.h"

namespace comanda::config {

const Program kProgram = Program::kHead;

}  // namespace comanda::config
