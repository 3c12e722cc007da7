#include "delivery/lane.h"

#include <algorithm>

namespace comanda::delivery {
namespace {

constexpr int64_t kFirstWaitMs = 2'000, kLastWaitMs = 60'000;
constexpr int64_t kNeverFailed = -1;

}  // namespace

int64_t Lane::WaitAfter(int64_t failures) {
  const int64_t doubled = kFirstWaitMs << std::clamp<int64_t>(failures, 0, 10);
  return std::min(doubled, kLastWaitMs);
}

std::optional<size_t> Lane::Next(std::span<const Message> waiting, int64_t now_ms) const {
  std::map<std::string_view, int64_t> first_places;
  for (const Message& message : waiting) {
    const auto [first, is_added] = first_places.try_emplace(message.key, message.place);
    if (!is_added) first->second = std::min(first->second, message.place);
  }
  std::optional<size_t> next;
  for (size_t i = 0; i < waiting.size(); ++i) {
    if (waiting[i].place != first_places[waiting[i].key] || !IsDue(waiting[i], now_ms)) continue;
    if (!next || DueMs(waiting[i]) < DueMs(waiting[*next])) next = i;
  }
  return next;
}

void Lane::Finish(std::string_view key) {
  if (const auto late = due_ms_.find(key); late != due_ms_.end()) due_ms_.erase(late);
}

Lane::Verdict Lane::Fail(const Message& message, Failure failure, int64_t now_ms) {
  const std::string key(message.key);
  if (failure == Failure::kAnswered && !is_down_) {
    unanswered_ = 0;
  } else {
    Pause(key, now_ms);
  }
  if (failure == Failure::kOfEverything) {
    unanswered_ = std::max(unanswered_, 2);
    return Verdict::kWait;
  }
  due_ms_[key] = now_ms + WaitAfter(message.failures);
  if (is_down_) return Verdict::kWait;
  if (message.failures + 1 < kAttemptsMax) return Verdict::kCount;
  due_ms_.erase(key);
  return Verdict::kGiveUp;
}

void Lane::NoteAnswer() {
  is_down_ = false;
  unanswered_ = 0;
}

// A failure that an earlier process has counted is due at once.
int64_t Lane::DueMs(const Message& message) const {
  const auto late = due_ms_.find(message.key);
  if (late != due_ms_.end()) return late->second;
  return message.failures > 0 ? 0 : kNeverFailed;
}

bool Lane::IsDue(const Message& message, int64_t now_ms) const {
  const int64_t due_ms = DueMs(message);
  const bool shows_more = due_ms == kNeverFailed && unanswered_ == 1 && !is_down_;
  const bool is_paused = unanswered_ > 0 && !shows_more && now_ms < paused_until_ms_;
  return !is_paused && due_ms <= now_ms;
}

void Lane::Pause(std::string_view key, int64_t now_ms) {
  if (unanswered_ == 0 || unanswered_key_ != key) ++unanswered_;
  unanswered_key_ = key;
  paused_until_ms_ = now_ms + WaitAfter(unanswered_ - 1);
}

}  // namespace comanda::delivery
