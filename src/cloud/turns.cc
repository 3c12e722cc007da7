#include "cloud/turns.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "cloud/orders/journal_store.h"
#include "net/backoff.h"

namespace comanda::cloud {
namespace {

// Of three requests for other things at most, the next one is for the backlog.
constexpr int64_t kOthersBeforeBacklog = 3;

int64_t LateWaitMs(int64_t failures, uint64_t random) {
  constexpr net::Growth kGrowth = {.first_ms = 2'000, .max_ms = 1'800'000};
  return net::WaitWithFullJitter(kGrowth, static_cast<int>(failures), random);
}

}  // namespace

const outbox::Patience kLatePatience = {.wait_ms = LateWaitMs, .tried_for_ms = 24LL * 3'600'000};

std::optional<std::string> Turns::NextPresent(db::CompanyId company) const {
  if (others_since_backlog_ >= kOthersBeforeBacklog) return NextAmong(company, Among::kAll);
  const auto open = NextAmong(company, Among::kOpen);
  return open ? open : NextAmong(company, Among::kRecent);
}

void Turns::CountOrder(bool is_present) {
  if (is_present) ++others_since_backlog_;
  if (others_since_backlog_ > kOthersBeforeBacklog) others_since_backlog_ = 0;
}

// Those that are late take no place from the others.
std::optional<std::string> Turns::NextAmong(db::CompanyId company, Among among) const {
  const std::vector<outbox::Late> late = late_.List();
  const std::vector<std::string> ids = database_.Read([&](db::Snapshot& snapshot) {
    return store::NextOrders(snapshot, company, among, clock_.Now(), std::ssize(late) + 1);
  });
  std::vector<outbox::Lane::Queued> queued;
  for (const std::string& id : ids) {
    const auto found = std::ranges::find(late, id, &outbox::Late::key);
    const bool is_late = found != late.end();
    queued.push_back(
        {.key = id, .due_ms = is_late ? found->failing.due_ms : 0, .is_late = is_late});
  }
  const auto next = lane_.Next(queued, clock_.MonotonicMs());
  return next ? std::optional(ids[*next]) : std::nullopt;
}

}  // namespace comanda::cloud
