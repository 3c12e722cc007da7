#include "outbox/lane.h"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

namespace comanda::outbox {
namespace {

// The first message of each key. A key of which one is under way has none.
std::vector<size_t> Heads(std::span<const Lane::Queued> queued) {
  std::vector<size_t> heads;
  std::unordered_set<std::string_view> seen;
  for (size_t i = 0; i < queued.size(); ++i) {
    if (seen.insert(queued[i].key).second && !queued[i].is_under_way) heads.push_back(i);
  }
  return heads;
}

int64_t CountLate(std::span<const Lane::Queued> queued) {
  return std::ranges::count_if(queued, &Lane::Queued::is_late);
}

}  // namespace

bool NoteFailure(Failing& failing, const Patience& patience, int64_t last_success_ms,
                 std::optional<int64_t> retry_after_ms, const Moment& moment) {
  ++failing.failures;
  if (!failing.WasOvertaken(last_success_ms)) failing.since_ms = moment.counted_ms;
  const int64_t wait_ms =
      retry_after_ms.value_or(patience.wait_ms(failing.failures, moment.random));
  failing.due_ms = moment.monotonic_ms + wait_ms;
  return moment.counted_ms - failing.since_ms >= patience.tried_for_ms ||
         failing.failures >= patience.failures_max;
}

bool IsDown(const LaneRules& rules, int64_t failures_in_a_row, int64_t late) {
  return failures_in_a_row >= rules.down_after ||
         (failures_in_a_row > 0 && late >= rules.down_late);
}

std::optional<size_t> Lane::Next(std::span<const Queued> queued, int64_t now_ms) const {
  const bool is_down = IsDown(CountLate(queued));
  if (IsHeld(now_ms) || under_way_ >= AtOnce(is_down)) return std::nullopt;
  if (is_down && now_ms < NextWhileDownMs()) return std::nullopt;
  const std::vector<size_t> heads = Heads(queued);
  if (heads.empty()) return std::nullopt;
  if (!is_down) {
    std::optional<size_t> late;
    for (const size_t i : heads) {
      if (queued[i].due_ms > now_ms) continue;
      if (!rules_.late_last || !queued[i].is_late) return i;
      if (!late || queued[i].due_ms < queued[*late].due_ms) late = i;
    }
    return late;
  }
  // Another key each time: the one behind the last in turn.
  const auto last =
      std::ranges::find_if(heads, [&](size_t i) { return queued[i].key == last_.key; });
  if (last == heads.end() || last + 1 == heads.end()) return heads.front();
  return *(last + 1);
}

std::optional<int64_t> Lane::DueMs(std::span<const Queued> queued, int64_t now_ms) const {
  const bool is_down = IsDown(CountLate(queued));
  if (under_way_ >= AtOnce(is_down)) return std::nullopt;
  std::optional<int64_t> due;
  for (const size_t i : Heads(queued)) due = std::min(due.value_or(INT64_MAX), queued[i].due_ms);
  if (!due) return due;
  if (is_down) due = NextWhileDownMs();
  return std::max({*due, hold_until_ms_, now_ms});
}

void Lane::Begin(std::string_view key, int64_t now_ms) {
  ++under_way_;
  before_last_ =
      std::exchange(last_, {.begun_ms = now_ms, .has_newer = false, .key = std::string(key)});
}

void Lane::Succeed(int64_t late) {
  --under_way_;
  successes_since_down_ = IsDown(late) ? 1 : successes_since_down_ + 1;
  failures_in_a_row_ = 0;
}

void Lane::Fail() {
  --under_way_;
  ++failures_in_a_row_;
}

void Lane::Undo() {
  --under_way_;
  before_last_.has_newer |= last_.has_newer;
  last_ = before_last_;
}

size_t Lane::AtOnce(bool is_down) const {
  if (is_down || successes_since_down_ < 1) return 1;
  const size_t allowed = successes_since_down_ < 3 ? 2 : rules_.at_once_max;
  return std::min(allowed, rules_.at_once_max);
}

int64_t Lane::NextWhileDownMs() const {
  if (rules_.wait_down_ms == nullptr || last_.begun_ms == 0) return 0;
  return last_.begun_ms + rules_.wait_down_ms(last_.has_newer);
}

void Lane::NoteDown() { failures_in_a_row_ = std::max(failures_in_a_row_, rules_.down_after); }

void Lane::Hold(int64_t until_ms) { hold_until_ms_ = std::max(hold_until_ms_, until_ms); }

void Lane::Release() {
  hold_until_ms_ = 0;
  failures_in_a_row_ = 0;
}

}  // namespace comanda::outbox
