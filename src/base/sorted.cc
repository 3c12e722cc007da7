#include "base/sorted.h"

#include <algorithm>
#include <numeric>

namespace comanda {

std::vector<size_t> SortedPositions(size_t count,
                                    const std::function<bool(size_t, size_t)>& before) {
  std::vector<size_t> positions(count);
  std::iota(positions.begin(), positions.end(), size_t{0});
  std::sort(positions.begin(), positions.end(), [&](size_t a, size_t b) {
    if (before(a, b)) return true;
    return !before(b, a) && a < b;
  });
  return positions;
}

}  // namespace comanda
