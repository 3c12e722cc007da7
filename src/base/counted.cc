#include "base/counted.h"

#include "base/concat.h"

namespace comanda {

std::string Counted(int64_t number, std::string_view one, std::string_view several) {
  return Concat({number, " ", number == 1 ? one : several});
}

}  // namespace comanda
