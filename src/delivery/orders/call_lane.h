#pragma once

// The calls to an app about its orders, of one kind: those that ask for details, or those that send
// commands. Which order is next, and which ones are late (outbox/lane.h). Calls about the same
// order are made one after another. Nothing is stored: after a start each order is tried at once.
// Used by one thread.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"
#include "delivery/orders/orders_store.h"
#include "outbox/lane.h"
#include "outbox/late.h"

namespace comanda::delivery {

// The waits behind the failures of one order: 2, 4, 8 … 60 s.
inline constexpr int64_t kFirstWaitMs = 2'000, kLastWaitMs = 60'000;
// What fails alone is tried for a day of such waits.
inline constexpr int64_t kTriesMax = 1'445;

inline const std::string& OrderOf(const EventRow& row) { return row.event.external_id; }
inline const std::string& OrderOf(const CommandRow& row) { return row.external_id; }

class CallLane {
 public:
  CallLane();
  // Another account, or other credentials: nothing has failed.
  void Reset();

  // Takes the rows of the order that is next out of `rows`. Empty: no call may be made now.
  template <typename Row>
  std::vector<Row> TakeNext(std::vector<Row>& rows, int64_t now_ms) const;

  // A call about that order is under way until End().
  void Begin(std::string_view order, int64_t now_ms) { lane_.Begin(order, now_ms); }
  void End(bool is_answered);
  // What another call says of the app.
  void NoteAnswered() { lane_.NoteAnswered(); }
  void NoteDown() { lane_.NoteDown(); }

  // The call about that order failed alone; `attempts` did before, as stored. How often it has.
  int64_t NoteLate(const std::string& order, const std::string& trouble, int64_t attempts,
                   const Clock& clock);
  void RemoveLate(const std::string& order) { late_.Remove(order); }
  int64_t CountLate() const { return std::ssize(late_.List()); }
  std::optional<outbox::Late> FindFirstLate() const;

 private:
  outbox::Lane lane_;
  outbox::LateMessages late_;  // by the order's id in the app
};

template <typename Row>
std::vector<Row> CallLane::TakeNext(std::vector<Row>& rows, int64_t now_ms) const {
  std::vector<outbox::Lane::Queued> queued;
  for (const Row& row : rows) {
    const auto late = late_.Find(OrderOf(row));
    queued.push_back({.key = OrderOf(row),
                      .due_ms = late ? late->failing.due_ms : 0,
                      .is_late = late || row.attempts > 0});
  }
  const auto next = lane_.Next(queued, now_ms);
  if (!next) return {};
  const std::string order = OrderOf(rows[*next]);
  std::vector<Row> of_order;
  std::ranges::copy_if(rows, std::back_inserter(of_order),
                       [&](const Row& row) { return OrderOf(row) == order; });
  std::erase_if(rows, [&](const Row& row) { return OrderOf(row) == order; });
  return of_order;
}

}  // namespace comanda::delivery
