#include "http/body_budget.h"

#include <utility>

#include "base/problem.h"

namespace comanda::http {

BodyBudget::Lease BodyBudget::Wait(size_t bytes) {
  if (bytes <= kUncountedMax) return {};
  std::unique_lock lock(mutex_);
  const bool has_room = released_.wait_for(
      lock, kWaitMax, [&] { return bytes_ == 0 || bytes_ + bytes <= kAtOnceMax; });
  if (!has_room) {
    Refusal refusal(
        Problem::kServiceUnavailable,
        "Many large bodies are being read; send this one again, best in several parts.");
    refusal.retry_after_s = 1;
    throw refusal;
  }
  bytes_ += bytes;
  return {*this, bytes};
}

BodyBudget::Lease::Lease(Lease&& other) noexcept
    : budget_(std::exchange(other.budget_, nullptr)), bytes_(other.bytes_) {}

BodyBudget::Lease& BodyBudget::Lease::operator=(Lease&& other) noexcept {
  if (this == &other) return *this;
  Release();
  budget_ = std::exchange(other.budget_, nullptr);
  bytes_ = other.bytes_;
  return *this;
}

void BodyBudget::Lease::Release() noexcept {
  if (!budget_) return;
  {
    const std::lock_guard lock(budget_->mutex_);
    budget_->bytes_ -= bytes_;
  }
  budget_->released_.notify_all();
  budget_ = nullptr;
}

}  // namespace comanda::http
