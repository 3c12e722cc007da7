#pragma once

// A reader of the event log, written as rooms of the product should write theirs: it stores its
// positions in its own table, in the transaction that records what it has handled.

#include <algorithm>
#include <string>
#include <vector>

#include "events/feed.h"
#include "support/restaurant_database.h"

namespace comanda::testing {

class LogReader {
 public:
  struct State {
    int64_t position = 0;
    int64_t lost = 0;
    bool operator==(const State&) const = default;
  };

  LogReader(db::Database& database, std::string name)
      : database_(database), name_(std::move(name)) {
    database_.Write([&](db::Tx& tx, const db::Stamp&) {
      tx.Run(
          "CREATE TABLE IF NOT EXISTS reader (name TEXT PRIMARY KEY, position INTEGER NOT NULL, "
          "lost INTEGER NOT NULL) STRICT");
      tx.Run("INSERT INTO reader (name, position, lost) VALUES ($1, 0, 0) ON CONFLICT DO NOTHING",
             name_);
    });
  }

  State state() const {
    return database_.Read([&](db::Snapshot& snapshot) { return StateIn(snapshot); });
  }

  // Handles one page. True if there is no further event.
  bool HandlePage(int limit) {
    const events::Page page = database_.Read([&](db::Snapshot& snapshot) {
      return events::ReadPage(snapshot, kCompany, StateIn(snapshot).position, limit);
    });
    if (page.position == state().position) return page.at_end;
    for (const events::StoredEvent& event : page.events) handled.push_back(event.seq);
    database_.Write([&](db::Tx& tx, const db::Stamp&) {
      tx.Run("UPDATE reader SET position = $2 WHERE name = $1", name_, page.position);
    });
    return page.at_end;
  }

  // ReaderCalls::purged.
  void Purged(db::Tx& tx, db::CompanyId company, int64_t last) const {
    if (company != kCompany) return;
    const int64_t position = StateIn(tx).position;
    if (position >= last) return;
    tx.Run("UPDATE reader SET position = $2, lost = lost + $3 WHERE name = $1", name_, last,
           last - position);
  }

  // Used by the handling thread only.
  std::vector<int64_t> handled;

 private:
  State StateIn(db::Session& session) const {
    static constexpr db::Sql kSelect = "SELECT position, lost FROM reader WHERE name = $1";
    const auto row = session.One<kSelect>(name_);
    return {row->Int("position"), row->Int("lost")};
  }

  db::Database& database_;
  const std::string name_;
};

}  // namespace comanda::testing
