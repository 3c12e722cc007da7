#pragma once

// Bounds the memory that answers use (contract section 1, Budgets in bytes).
//
// An answer is *under way* from the moment when its body is read from the database until its last
// byte was sent or its connection ended, which a slow client can delay at will. The answers under
// way may have 64 MiB together, and those of one key 16 MiB. A GET whose answer would exceed that
// gets 503 with Retry-After: 1. The answer to a write is never refused, since the write is
// committed.
//
// Each request has a Lease, which counts its body and releases the bytes when it is destroyed. A
// body that several answers share (http/answer_cache.h) is counted once in the total, and once for
// each key that it is sent to. Bodies up to 16 KiB are not counted: their number is bounded by that
// of the connections. An answer that is the only one of its key is sent whatever its size, so that
// a record above the limits, made by an older program, can be read.
//
// Large answers, of more than 1 MiB, are made one at a time in the process: two of them that are
// made at once would otherwise both fail for want of room. A request that makes one has the *turn*.

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/problem.h"

namespace comanda::http {

// Thread-safe. Outlives its leases.
class AnswerBudget {
 public:
  struct Limits {
    size_t all = 64 * 1024 * 1024;
    size_t of_one_key = 16 * 1024 * 1024;
  };
  static constexpr size_t kUncountedMax = 16 * 1024;

  AnswerBudget() : AnswerBudget(Limits{}) {}
  explicit AnswerBudget(Limits limits) : limits_(limits) {}

  // The bytes of one request. Used by one thread at a time.
  class Lease {
   public:
    Lease() = default;
    // `key` names the key of the request; empty: the bytes count in the total alone.
    Lease(AnswerBudget& budget, std::string key) : budget_(&budget), key_(std::move(key)) {}
    Lease(Lease&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)),
          key_(std::move(other.key_)),
          reserved_(std::exchange(other.reserved_, 0)),
          body_(std::exchange(other.body_, nullptr)) {}
    Lease& operator=(Lease&& other) noexcept;
    ~Lease() { Release(); }

    // Counts that many bytes for a body that is being made, instead of those counted before. False,
    // and nothing is changed, where there is no room.
    [[nodiscard]] bool TryReserve(size_t bytes);
    // Counts the body instead of what was reserved. The body must stay at its address until the
    // lease ends. False, and nothing is counted, where there is no room.
    [[nodiscard]] bool TryHold(std::string_view body);
    // The same, whether there is room or not.
    void Hold(std::string_view body) {
      if (body.size() > kUncountedMax || HasBytes()) Count(body);
    }
    void Release() noexcept {
      if (HasBytes()) Uncount();
    }

   private:
    friend class AnswerBudget;
    bool HasBytes() const { return reserved_ > 0 || body_ != nullptr; }
    void Count(std::string_view body);
    void Uncount() noexcept;

    AnswerBudget* budget_ = nullptr;
    std::string key_;
    size_t reserved_ = 0;
    const char* body_ = nullptr;  // the address of the counted body
  };

  // The turn to make a large answer, until it is destroyed. Blocks for 2 s at most, and throws
  // Refusal service_unavailable then.
  using Turn = std::unique_lock<std::timed_mutex>;
  Turn WaitForTurn();

  // The refusal of a GET for whose answer there is no room: service_unavailable.
  static Refusal NoRoom();

  // The counted bytes, for the metrics.
  size_t bytes() const;

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
