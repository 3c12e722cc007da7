#pragma once

// Counts what an import did to the rows of one kind.

#include <cstdint>

namespace comanda::company {

// The effect of an upsert, which does not write rows that are equal.
enum class Outcome : uint8_t { kInserted, kUpdated, kUnchanged };

// How many rows were inserted, updated, and found equal.
struct Tally {
  int inserted = 0;
  int updated = 0;
  int unchanged = 0;

  void Count(Outcome outcome) {
    switch (outcome) {
      case Outcome::kInserted:
        ++inserted;
        return;
      case Outcome::kUpdated:
        ++updated;
        return;
      case Outcome::kUnchanged:
        ++unchanged;
        return;
    }
  }
  // True if any row was written.
  bool changed() const { return inserted + updated > 0; }
  bool operator==(const Tally&) const = default;
};

// From whether the row existed, and how many rows the upsert wrote.
constexpr Outcome OutcomeOf(bool existed, int64_t written) {
  if (written == 0) return Outcome::kUnchanged;
  return existed ? Outcome::kUpdated : Outcome::kInserted;
}

}  // namespace comanda::company
