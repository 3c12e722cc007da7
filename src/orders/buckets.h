#pragma once

// Deep pages without walking to them: for each sort of the list, orders are counted by stretches of
// the key that sorts, each facet for itself. The counts say in which stretch a page begins. Pure
// functions; the counts are in store.h, their use in page_store.cc. The migration that brought them
// computes the same numbers in SQL.

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "orders/order.h"

namespace comanda::orders {

// What the database keeps. Every order stands in five: with a date of delivery, or without one.
enum class Tally : uint8_t { kCreated, kUpdated, kScheduled, kUnscheduled, kTotal, kNumber };

// -- times: stretches of 2^29 ms, about 6 days
// ------------------------------------------------------

inline constexpr int kTimeBits = 29;
constexpr int64_t TimeBucket(UtcMs time) { return time >> kTimeBits; }
constexpr UtcMs TimeLow(int64_t bucket) { return bucket * (int64_t{1} << kTimeBits); }

// -- amounts and numbers: 128 stretches each time that they double
// ----------------------------------

inline constexpr int64_t kStretches = 128;

constexpr int64_t AmountBucket(int64_t amount) {
  if (amount <= 0) return 0;
  const auto width = static_cast<int>(std::bit_width(static_cast<uint64_t>(amount)));
  const int shift = width > 8 ? width - 8 : 0;
  return shift * kStretches + (amount >> shift);
}

// The least amount of the bucket; of the first one everything below, too.
constexpr int64_t AmountLow(int64_t bucket) {
  if (bucket <= 0) return std::numeric_limits<int64_t>::min();
  const int64_t shift = bucket < 2 * kStretches ? 0 : bucket / kStretches - 1;
  if (shift > 54) return std::numeric_limits<int64_t>::max();
  return (bucket - shift * kStretches) << shift;
}

// -- ids, of orders without a date of delivery: by their first five digits, about 3 days
// -------------

inline constexpr size_t kIdDigits = 5;

constexpr int64_t IdBucket(std::string_view id) {
  int64_t bucket = 0;
  for (const char digit : id.substr(0, kIdDigits)) {
    bucket = bucket * 16 + (digit <= '9' ? digit - '0' : digit - 'a' + 10);
  }
  return bucket;
}

// What no id of the bucket is below; behind the last bucket, a text behind every id.
inline std::string IdLow(int64_t bucket) {
  if (bucket >> (4 * kIdDigits) != 0) return "g";
  std::string digits;
  for (int shift = 4 * (static_cast<int>(kIdDigits) - 1); shift >= 0; shift -= 4) {
    digits += "0123456789abcdef"[(bucket >> shift) & 15];
  }
  return digits;
}

// -- an order
// ---------------------------------------------------------------------------------------

// What lists sort by.
struct SortKeys {
  std::string id;
  UtcMs created_at = 0, updated_at = 0;
  std::optional<UtcMs> scheduled_delivery_date;
  Minor total = 0;
  int64_t order_number = 0;
};

struct Mark {
  Tally tally = Tally::kCreated;
  int64_t bucket = 0;

  bool operator==(const Mark&) const = default;
};
using Marks = std::array<Mark, 5>;

inline Marks MarksOf(const SortKeys& keys) {
  const auto& date = keys.scheduled_delivery_date;
  return {{{Tally::kCreated, TimeBucket(keys.created_at)},
           {Tally::kUpdated, TimeBucket(keys.updated_at)},
           date ? Mark{Tally::kScheduled, TimeBucket(*date)}
                : Mark{Tally::kUnscheduled, IdBucket(keys.id)},
           {Tally::kTotal, AmountBucket(keys.total)},
           {Tally::kNumber, AmountBucket(keys.order_number)}}};
}

// -- a page
// -----------------------------------------------------------------------------------------

// Goes through the buckets in the order of the list, until a page of it is complete.
class PageFinder {
 public:
  PageFinder(int64_t offset, int64_t limit) : before_(offset), wanted_(limit) {}

  // `orders` are in the list, of `all` that the bucket has. False: the page is complete.
  bool Pass(int64_t bucket, int64_t orders, int64_t all) {
    if (found_) walked_ += all;
    if (orders <= 0) return true;
    if (!found_ && orders <= before_) {
      before_ -= orders;
      return true;
    }
    if (!found_) {
      first_ = bucket;
      walked_ = all;
    }
    found_ = true;
    last_ = bucket;
    met_ += orders;
    return met_ < before_ + wanted_;
  }

  bool found() const { return found_; }
  // Rows to leave out at the beginning of the first bucket.
  int64_t skip() const { return before_; }
  int64_t low_bucket() const { return first_ < last_ ? first_ : last_; }
  int64_t high_bucket() const { return first_ < last_ ? last_ : first_; }
  // All orders of the buckets, those of other lists included.
  int64_t walked() const { return walked_; }

 private:
  int64_t before_, wanted_;
  bool found_ = false;
  int64_t first_ = 0, last_ = 0;
  int64_t met_ = 0, walked_ = 0;
};

}  // namespace comanda::orders
