#pragma once

// The orders whose step the cloud does not answer usably while it answers other requests (contract
// section 15.1): each is tried again after a wait that grows, and the others go on. Kept in memory:
// after a start each is tried at once. Any thread.

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace comanda::cloud {

struct LateOrder {
  std::string order_id;  // empty: a change of the menu
  UtcMs since = 0;       // the first failure
  int failures = 0;
  std::string trouble;      // of the last one
  int64_t first_at_ms = 0;  // monotonic: the first failure, whatever becomes of the clock
  int64_t due_at_ms = 0;    // monotonic: when it is tried again

  bool operator==(const LateOrder&) const = default;
};

inline constexpr int64_t kLateMsMax = 24LL * 3'600'000;
// Whether the order has been late for so long that a person has to decide.
constexpr bool IsForAPerson(const LateOrder& late, int64_t now_ms) {
  return now_ms - late.first_at_ms >= kLateMsMax;
}

class LateOrders {
 public:
  // The order's step has failed once more.
  LateOrder NoteFailure(std::string_view order_id, std::string_view trouble, UtcMs now,
                        int64_t now_ms);
  // False where it is not late.
  bool Remove(std::string_view order_id);
  void Clear();
  // All are tried again at once.
  void MakeDue();

  bool Contains(std::string_view order_id) const;
  // Those that are not to be tried yet.
  std::set<std::string, std::less<>> Resting(int64_t now_ms) const;
  // The ms until the first is tried again; nothing where none is late.
  std::optional<int64_t> DueInMs(int64_t now_ms) const;
  std::vector<LateOrder> List() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, LateOrder, std::less<>> orders_;  // guarded by mutex_
};

}  // namespace comanda::cloud
