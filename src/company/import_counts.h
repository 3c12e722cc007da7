#pragma once

// Counts what an import did to the rows of one kind.

#include <cstdint>

namespace comanda::company {

// The effect of an upsert, which does not write rows that are equal.
enum class UpsertResult : uint8_t { kInserted, kUpdated, kUnchanged };

// How many rows were inserted, updated, and found equal.
struct ImportCounts {
  int inserted = 0;
  int updated = 0;
  int unchanged = 0;

  void Count(UpsertResult result) {
    switch (result) {
      case UpsertResult::kInserted:
        ++inserted;
        return;
      case UpsertResult::kUpdated:
        ++updated;
        return;
      case UpsertResult::kUnchanged:
        ++unchanged;
        return;
    }
  }
  // True if any row was written.
  bool changed() const { return inserted + updated > 0; }
  bool operator==(const ImportCounts&) const = default;
};

// From whether the row existed, and how many rows the upsert wrote.
constexpr UpsertResult ResultOf(bool existed, int64_t written) {
  if (written == 0) return UpsertResult::kUnchanged;
  return existed ? UpsertResult::kUpdated : UpsertResult::kInserted;
}

}  // namespace comanda::company
