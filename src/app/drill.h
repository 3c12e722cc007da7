#pragma once

// Compares a restored backup with the data that it was taken from, as far as they can be compared:
// rows that existed when the backup was taken. Orders are never deleted, and one whose version has
// not changed has the same amounts. For `comanda drill`.

#include <cstdint>
#include <map>
#include <string>

#include "db/session.h"

namespace comanda::app {

// Orders of one month, by the UTC time of their creation. Amounts in minor units, of the backup.
struct MonthCompared {
  int64_t orders = 0;
  int64_t total = 0;
  int64_t total_paid = 0;
  int64_t changed = 0;  // since the backup: their amounts are not compared
  int64_t differing = 0;
  int64_t not_in_backup = 0;  // though they are older than the last order in it
  int64_t not_in_data = 0;    // of this machine
};

// Rows of another kind.
struct KindCompared {
  int64_t in_backup = 0;
  int64_t in_data = 0;  // of those that were there when the backup was taken
};

struct Comparison {
  std::map<std::string, MonthCompared> months;  // "2026-11"
  std::map<std::string, KindCompared> kinds;    // "products", "clients", "keys"
  int64_t orders_since = 0;                     // placed after the backup

  // No order is missing on either side or differs, and no row of another kind is missing in the
  // backup. Rows that were removed since are no fault of the backup.
  bool IsGood() const;
};

// Adds all companies of the backup. Reads every order of both. Each session is one read
// transaction.
void Compare(db::Session& backup, db::Session& data, Comparison& result);

// The table for the terminal.
std::string Describe(const Comparison& comparison);

}  // namespace comanda::app
