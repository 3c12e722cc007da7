#include "delivery/orders/call_lane.h"

namespace comanda::delivery {
namespace {

int64_t WaitMs(int64_t failures, uint64_t) {
  const int64_t doubled = kFirstWaitMs << std::clamp<int64_t>(failures - 1, 0, 10);
  return std::min(doubled, kLastWaitMs);
}
int64_t WaitWhileDownMs(bool) { return 10'000; }

constexpr outbox::Patience kPatience = {.wait_ms = WaitMs};
constexpr outbox::LaneRules kLaneRules = {
    .down_after = 2, .late_last = true, .wait_down_ms = WaitWhileDownMs};

}  // namespace

CallLane::CallLane() : lane_(kLaneRules), late_(kPatience) {}

void CallLane::Reset() {
  lane_ = outbox::Lane(kLaneRules);
  late_.Clear();
}

void CallLane::End(bool is_answered) {
  if (is_answered) {
    lane_.Succeed(0);
  } else {
    lane_.Fail();
  }
}

int64_t CallLane::NoteLate(const std::string& order, const std::string& trouble, int64_t attempts,
                           const Clock& clock) {
  const int64_t now_ms = clock.MonotonicMs();
  const outbox::Moment moment = {.now = clock.Now(), .monotonic_ms = now_ms, .counted_ms = now_ms};
  return late_.NoteFailure(order, trouble, moment, attempts).failures;
}

std::optional<outbox::Late> CallLane::FindFirstLate() const {
  std::vector<outbox::Late> late = late_.List();
  if (late.empty()) return std::nullopt;
  return std::move(late.front());
}

}  // namespace comanda::delivery
