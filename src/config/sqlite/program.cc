#include "config/table.h"

namespace comanda::config {

const Program kProgram = Program::kComanda;

}  // namespace comanda::config
