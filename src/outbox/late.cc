#include "outbox/late.h"

#include <algorithm>

namespace comanda::outbox {

LateMessages::Noted LateMessages::NoteFailure(std::string_view key, std::string_view trouble,
                                              const Moment& moment, int64_t failures_before) {
  const std::lock_guard lock(mutex_);
  const auto [entry, is_new] = messages_.try_emplace(std::string(key));
  Late& late = entry->second;
  if (is_new) {
    late.key = key;
    late.since = moment.now;
    late.failing.failures = failures_before;
  }
  late.trouble = trouble;
  const int64_t last_success_ms = moment.counted_ms;  // the destination has just answered
  const bool must_park =
      outbox::NoteFailure(late.failing, patience_, last_success_ms, std::nullopt, moment);
  return {late.failing.failures, must_park};
}

bool LateMessages::Remove(std::string_view key) {
  const std::lock_guard lock(mutex_);
  const auto found = messages_.find(key);
  if (found == messages_.end()) return false;
  messages_.erase(found);
  return true;
}

void LateMessages::Clear() {
  const std::lock_guard lock(mutex_);
  messages_.clear();
}

void LateMessages::MakeDue() {
  const std::lock_guard lock(mutex_);
  for (auto& [key, late] : messages_) late.failing.due_ms = 0;
}

std::optional<Late> LateMessages::Find(std::string_view key) const {
  const std::lock_guard lock(mutex_);
  const auto found = messages_.find(key);
  return found == messages_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<int64_t> LateMessages::DueInMs(int64_t now_ms) const {
  std::optional<int64_t> due_ms;
  for (const Late& late : List()) {
    const int64_t ms = std::max<int64_t>(0, late.failing.due_ms - now_ms);
    due_ms = std::min(due_ms.value_or(ms), ms);
  }
  return due_ms;
}

std::vector<Late> LateMessages::List() const {
  const std::lock_guard lock(mutex_);
  std::vector<Late> list;
  for (const auto& [key, late] : messages_) list.push_back(late);
  return list;
}

}  // namespace comanda::outbox
