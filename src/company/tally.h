#pragma once

// What an import did to the rows of one kind.

#include <cstdint>

namespace comanda::company {

enum class Outcome : uint8_t { kInserted, kUpdated, kUnchanged };

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
  bool changed() const { return inserted + updated > 0; }
  bool operator==(const Tally&) const = default;
};

// Of an upsert that leaves equal rows alone: whether the row was there, and how many rows were
// written.
constexpr Outcome OutcomeOf(bool existed, int64_t written) {
  if (written == 0) return Outcome::kUnchanged;
  return existed ? Outcome::kUpdated : Outcome::kInserted;
}

}  // namespace comanda::company
