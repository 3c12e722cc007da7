#include "http/answer_budget.h"

#include <utility>

namespace comanda::http {
namespace {

constexpr std::chrono::seconds kTurnWaitMax{2};

}  // namespace

AnswerBudget::Lease& AnswerBudget::Lease::operator=(Lease&& other) noexcept {
  Release();
  budget_ = std::exchange(other.budget_, nullptr);
  key_ = std::move(other.key_);
  reserved_ = std::exchange(other.reserved_, 0);
  body_ = std::exchange(other.body_, nullptr);
  return *this;
}

bool AnswerBudget::Lease::TryReserve(size_t bytes) {
  return budget_ == nullptr || budget_->Count(*this, bytes, {}, false);
}

bool AnswerBudget::Lease::TryHold(std::string_view body) {
  return budget_ == nullptr || budget_->Count(*this, 0, body, false);
}

void AnswerBudget::Lease::Count(std::string_view body) {
  if (budget_ != nullptr) budget_->Count(*this, 0, body, true);
}

void AnswerBudget::Lease::Uncount() noexcept {
  const std::lock_guard lock(budget_->mutex_);
  budget_->Uncount(*this);
}

size_t AnswerBudget::Join(Bodies& bodies, std::string_view body) {
  const auto [entry, is_new] = bodies.try_emplace(body.data(), Body{body.size(), 0});
  ++entry->second.leases;
  return is_new ? body.size() : 0;
}

size_t AnswerBudget::Leave(Bodies& bodies, const char* body) noexcept {
  const auto entry = bodies.find(body);
  if (--entry->second.leases > 0) return 0;
  const size_t bytes = entry->second.bytes;
  bodies.erase(entry);
  return bytes;
}

bool AnswerBudget::Count(Lease& lease, size_t reserved, std::string_view body, bool always) {
  if (body.size() <= kUncountedMax) body = {};
  if (reserved <= kUncountedMax) reserved = 0;
  if (body.empty() && reserved == 0) {
    lease.Release();
    return true;
  }
  const std::lock_guard lock(mutex_);
  const size_t reserved_before = lease.reserved_;
  Uncount(lease);

  Key& key = keys_[lease.key_];
  const size_t for_all = bodies_.contains(body.data()) ? 0 : body.size() + reserved;
  const size_t for_key = key.bodies.contains(body.data()) ? 0 : body.size() + reserved;
  const bool is_only_one = key.bytes == 0;
  const bool fits_key =
      lease.key_.empty() || is_only_one || key.bytes + for_key <= limits_.of_one_key;
  const bool fits_all = all_ == 0 || all_ + for_all <= limits_.all;
  const bool counts = always || (fits_key && fits_all);
  // A reservation that is refused keeps the bytes that it had before.
  lease.reserved_ = counts ? reserved : reserved_before;
  all_ += lease.reserved_;
  key.bytes += lease.reserved_;
  if (counts && !body.empty()) {
    const size_t of_key = Join(key.bodies, body);
    try {
      all_ += Join(bodies_, body);
    } catch (...) {
      Leave(key.bodies, body.data());
      throw;
    }
    key.bytes += of_key;
    lease.body_ = body.data();
  }
  if (key.bytes == 0) keys_.erase(lease.key_);
  return counts;
}

// The caller holds mutex_.
void AnswerBudget::Uncount(Lease& lease) noexcept {
  const auto key = keys_.find(lease.key_);
  if (key == keys_.end()) return;
  const size_t reserved = std::exchange(lease.reserved_, 0);
  all_ -= reserved;
  key->second.bytes -= reserved;
  if (const char* body = std::exchange(lease.body_, nullptr)) {
    all_ -= Leave(bodies_, body);
    key->second.bytes -= Leave(key->second.bodies, body);
  }
  if (key->second.bytes == 0) keys_.erase(key);
}

AnswerBudget::Turn AnswerBudget::WaitForTurn() {
  Turn turn(turn_, kTurnWaitMax);
  if (!turn) throw NoRoom();
  return turn;
}

Refusal AnswerBudget::NoRoom() {
  Refusal refusal(Problem::kServiceUnavailable,
                  "Large answers are under way and not yet read by their clients: read those, then "
                  "ask again, best for fewer rows a page.");
  refusal.retry_after_s = 1;
  return refusal;
}

size_t AnswerBudget::bytes() const {
  const std::lock_guard lock(mutex_);
  return all_;
}

}  // namespace comanda::http
