#pragma once

#include <cstdint>

namespace comanda::db {

// The rows of a table that were created up to some point, and the point of the last one of them: a
// created_seq, or a time. For comparing a backup with the data that it was taken from.
struct RowCount {
  int64_t rows = 0;
  int64_t last = 0;
};

}  // namespace comanda::db
