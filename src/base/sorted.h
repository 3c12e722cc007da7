#pragma once

// Sorts a vector of rows. The algorithm runs over positions, so that the program has it once and
// not once for each type of row; each row is then moved once.

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace comanda {

// The numbers from 0 to count - 1, sorted by `before`; of two that are equal the smaller is first.
std::vector<size_t> SortedPositions(size_t count,
                                    const std::function<bool(size_t, size_t)>& before);

// Sorts by `before`; rows that are equal stay in their order.
template <typename Row, typename Before>
void SortRows(std::vector<Row>& rows, Before before) {
  std::vector<Row> sorted;
  sorted.reserve(rows.size());
  for (const size_t position :
       SortedPositions(rows.size(), [&](size_t a, size_t b) { return before(rows[a], rows[b]); })) {
    sorted.push_back(std::move(rows[position]));
  }
  rows = std::move(sorted);
}

}  // namespace comanda
