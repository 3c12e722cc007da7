#pragma once

// How much memory answers may take (contract section 1, Budgets in bytes).
//
// An answer is *under way* from the moment its body is read from the database until its last byte
// went out or its connection ended: as long as a slow client likes. All answers under way may have
// 64 MiB, those of one key 16 MiB. What would pass that is refused, a GET with 503 and Retry-After:
// 1; the answer to a write is never refused, since its change is made.
//
// Each request has a Lease, which counts its body and gives the bytes back when it is destroyed. A
// body that several answers share (http/answer_cache.h) is counted once in all, and once for each
// key that it is sent to. Bodies up to 16 KiB are not counted: there are no more of them than
// connections. An answer that is the only one of its key is sent whatever its size, so that a
// record of an older program above the limits can be read.
//
// Large answers, of more than 1 MiB, are made in turn, one at a time in the process: so two of them
// that are made together cannot both fail for want of room, and what is not yet counted is small.

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/problem.h"

namespace comanda::http {

// Any thread. Outlives its leases.
class AnswerBudget {
 public:
  struct Limits {
    size_t all = 64 * 1024 * 1024;
    size_t of_one_key = 16 * 1024 * 1024;
  };
  static constexpr size_t kUncountedMax = 16 * 1024;

  AnswerBudget() : AnswerBudget(Limits{}) {}
  explicit AnswerBudget(Limits limits) : limits_(limits) {}

  // What one request holds. Used by one thread at a time; its budget outlives it.
  class Lease {
   public:
    Lease() = default;
    // `key` is the one that asks; empty: none, counted among all alone.
    Lease(AnswerBudget& budget, std::string key) : budget_(&budget), key_(std::move(key)) {}
    Lease(Lease&& other) noexcept;
    Lease& operator=(Lease&& other) noexcept;
    ~Lease() { Release(); }

    // While a body is made: counts that many bytes for it. False, and nothing changed, where there
    // is no room.
    [[nodiscard]] bool TryReserve(size_t bytes);
    // Counts the body instead of what was reserved. It stays where it is until the lease ends.
    // False, and nothing counted, where there is no room.
    [[nodiscard]] bool TryHold(std::string_view body);
    // The same, whatever room there is.
    void Hold(std::string_view body);
    void Release() noexcept;

   private:
    friend class AnswerBudget;
    AnswerBudget* budget_ = nullptr;
    std::string key_;
    size_t reserved_ = 0;
    const char* body_ = nullptr;  // where the counted one is
  };

  // The right to make a large answer. Refusal where it does not come within 2 s.
  using Turn = std::unique_lock<std::timed_mutex>;
  Turn WaitForTurn();

  // What a GET gets that has no room.
  static Refusal NoRoom();

  size_t bytes() const;  // under way, for the metrics

 private:
  struct Body {
    size_t bytes = 0;
    int leases = 0;
  };
  using Bodies = std::unordered_map<const char*, Body>;
  struct Key {
    size_t bytes = 0;
    Bodies bodies;
  };

  bool Count(Lease& lease, size_t reserved, std::string_view body, bool always);
  void Uncount(Lease& lease) noexcept;
  static size_t Join(Bodies& bodies, std::string_view body);
  static size_t Leave(Bodies& bodies, const char* body) noexcept;

  const Limits limits_;
  mutable std::mutex mutex_;
  size_t all_ = 0;                             // guarded by mutex_
  Bodies bodies_;                              // guarded by mutex_
  std::unordered_map<std::string, Key> keys_;  // guarded by mutex_
  std::timed_mutex turn_;
};

}  // namespace comanda::http
