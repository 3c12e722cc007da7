#pragma once

// How much memory the bodies of requests may take once they are read. The tree of a JSON text takes
// up to 28 times its bytes, for as long as its request is answered.
//
// Bodies up to 16 KiB are not counted: there are no more of them than connections. Of larger ones
// those that have 1 MiB together are under way at once, or a single one above that; the others wait
// for their turn.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace comanda::http {

// Any thread. Outlives its leases.
class BodyBudget {
 public:
  // Above what most orders have, so that they wait for nobody.
  static constexpr size_t kUncountedMax = 16 * 1024;
  static constexpr size_t kAtOnceMax = 1024 * 1024;
  static constexpr std::chrono::milliseconds kWaitMax{5'000};

  // What one body holds of it; gives it back at the end.
  class Lease {
   public:
    Lease() = default;
    Lease(Lease&& other) noexcept;
    Lease& operator=(Lease&& other) noexcept;
    ~Lease() { Release(); }

   private:
    friend class BodyBudget;
    Lease(BodyBudget& budget, size_t bytes) : budget_(&budget), bytes_(bytes) {}
    void Release() noexcept;

    BodyBudget* budget_ = nullptr;
    size_t bytes_ = 0;
  };

  // Before a body of so many bytes is parsed. Blocks until there is room for it, at most kWaitMax:
  // then Refusal service_unavailable, which a client may repeat. Turns come in no order. A body
  // that is larger than kAtOnceMax waits until it is alone.
  Lease Wait(size_t bytes);

 private:
  std::mutex mutex_;
  std::condition_variable released_;
  size_t bytes_ = 0;  // guarded by mutex_
};

}  // namespace comanda::http
