#pragma once

// One order of the demo restaurant: what its guests and its till do, and when.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "json/reader.h"
#include "play/client.h"
#include "play/restaurant.h"

namespace comanda::play {

// What is done to an order, each a request.
enum class Act : uint8_t {
  kPlace,
  kDishes,
  kDishesAgain,
  kCancelDish,
  kCancelOrder,
  kDiscount,
  kReady,
  kRider,
  kOnTheWay,
  kHandOver,
  kServe,
  kPayPart,
  kPay,
  kClose,
};
inline constexpr size_t kActs = static_cast<size_t>(Act::kClose) + 1;

// How often each was done.
using Counts = std::array<int64_t, kActs>;
// "412 orders, 405 with dishes…"
std::string Describe(const Counts& counts);

class Sale {
 public:
  struct Settings {
    std::string reference;  // Idempotency-Keys begin with it
    // Of the past the kitchen's moves are made too; in the evening displays make them, or nobody.
    bool is_past = false;
    int64_t speed = 1;  // due times are of a restaurant that is so much faster than the clock
  };
  Sale(const Restaurant& restaurant, Dice dice, Settings settings);
  // An order that a former evening has left open: it is served, paid and closed.
  Sale(const Restaurant& restaurant, Dice dice, Settings settings, const json::Value& order);

  Sale(Sale&&) noexcept;
  ~Sale();

  // When the next act is due, ms of the restaurant since the sale began; nothing: it has ended.
  std::optional<int64_t> DueMs() const;
  // Does it, at `now`, which is sent where the sale is of the past. A refusal ends the sale:
  // somebody else has changed the order.
  void DoNext(Client& client, UtcMs now, Counts& counts);

 private:
  struct Due {
    int64_t at_ms;
    Act act;
  };
  // All acts, later ones `delay_ms` later; or those that end an order.
  void Plan(int64_t delay_ms, bool is_end);
  std::string BodyOf(Act act, UtcMs now);
  std::string Placing(UtcMs now);
  std::string Dishes(bool is_again);
  std::string Paying(bool is_part);
  void Read(const json::Value& order);

  const Restaurant& restaurant_;
  Dice dice_;
  const Settings settings_;
  char service_ = 's';  // a letter of kServices
  int64_t scheduled_in_ms_ = 0;
  std::vector<Due> due_;  // in the order of their times
  size_t next_ = 0;       // of due_
  int number_ = 0;        // of the act, in its Idempotency-Key
  // The order, as the server has answered last.
  std::string id_;
  int64_t pending_ = 0;
  std::vector<std::string> lines_;  // ids of those that are not cancelled
};

}  // namespace comanda::play
