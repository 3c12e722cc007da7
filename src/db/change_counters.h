#pragma once

// How often each kind of record of a company has changed: its revision. In memory, so that an
// unchanged poll is answered without touching the database (contract section 6). The persistent
// numbers are in company_counter; events/ raises them in the transaction and publishes them here at
// commit.
//
// A tag must be made from the numbers read BEFORE the rows: the numbers are published after the
// commit, so the rows are never older than the tag.
//
// All methods may be called by any thread, and block only while another one changes a number.

#include <array>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "base/random.h"
#include "db/company_id.h"

namespace comanda::db {

class ChangeCounters {
 public:
  static constexpr size_t kKinds = 4;  // which is which: events/types.h
  struct Values {
    int64_t epoch = 0;   // random, raised by every restore
    int64_t events = 0;  // the number of the last event when the counters were as they are here
    std::array<int64_t, kKinds> changes{};
  };

  // The value of a counter at one moment. What is derived from rows that were read after taking a
  // Revision is valid while RevisionOf() returns an equal one.
  struct Revision {
    size_t kind = 0;
    int64_t epoch = 0;
    int64_t changes = 0;
    bool operator==(const Revision&) const = default;
  };

  // The epoch of a company that is new: random, or what a lost database told its clients would be
  // taken for current by the one in its place. The same for each run of a job.
  int64_t first_epoch() const { return first_epoch_; }

  // All zero for a company that has published nothing.
  Values Of(CompanyId company) const {
    std::shared_lock lock(mutex_);
    const auto it = values_.find(company);
    return it == values_.end() ? Values{} : it->second;
  }
  Revision RevisionOf(CompanyId company, size_t kind) const {
    const Values values = Of(company);
    return {kind, values.epoch, values.changes[kind]};
  }
  // For Tx::OnCommit: the values are on disk by then.
  void Publish(CompanyId company, const Values& values) {
    std::unique_lock lock(mutex_);
    values_[company] = values;
  }

  // How often stock counts have changed since the process started: not part of any tag, but of the
  // cache key of the rendered catalogue.
  int64_t StockMoves(CompanyId company) const {
    std::shared_lock lock(mutex_);
    const auto it = stock_moves_.find(company);
    return it == stock_moves_.end() ? 0 : it->second;
  }
  void NoteStockMove(CompanyId company) {
    std::unique_lock lock(mutex_);
    ++stock_moves_[company];
  }

 private:
  // From 2: tags of epoch 1, which older programs began with, are written without it.
  const int64_t first_epoch_ = 2 + static_cast<int64_t>(RandomBelow(1'000'000'000));
  mutable std::shared_mutex mutex_;
  std::unordered_map<CompanyId, Values> values_;        // guarded by mutex_
  std::unordered_map<CompanyId, int64_t> stock_moves_;  // guarded by mutex_
};

}  // namespace comanda::db
