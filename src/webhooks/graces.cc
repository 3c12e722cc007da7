#include "webhooks/graces.h"

#include <algorithm>

#include "base/problem.h"
#include "webhooks/store.h"
#include "webhooks/webhooks.h"

namespace comanda::webhooks {
namespace {

constexpr int64_t kKnownAfterEndMs = 60LL * 60 * 1000;

}  // namespace

void Graces::Put(Grace grace) {
  const std::lock_guard lock(mutex_);
  const int64_t long_ago_ms = clock_.MonotonicMs() - kKnownAfterEndMs;
  std::erase_if(graces_, [&](const auto& entry) {
    return entry.second.end_is_written && entry.second.ends_at_ms < long_ago_ms;
  });
  graces_.insert_or_assign({grace.company.value, grace.webhook_id}, std::move(grace));
}

void Graces::NoteWritten(const Grace& grace) {
  const std::lock_guard lock(mutex_);
  const auto found = graces_.find({grace.company.value, grace.webhook_id});
  if (found == graces_.end() || found->second.until != grace.until) return;
  found->second.end_is_written = true;
}

// A grace that is not known here was committed a moment ago and is about to be taken up, or its row
// could not be read at start: the settled clock decides.
bool Graces::Lasts(db::CompanyId company, const Subscription& subscription) const {
  if (!subscription.secret_rotates_until) return false;
  const UtcMs until = *subscription.secret_rotates_until;
  const std::lock_guard lock(mutex_);
  const auto found = graces_.find({company.value, subscription.id});
  const bool is_known = found != graces_.end() && found->second.until == until;
  return is_known ? found->second.ends_at_ms > clock_.MonotonicMs() : until > clock_.SettledNow();
}

std::vector<Grace> Graces::Ended() const {
  std::vector<Grace> ended;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, grace] : graces_) {
    if (!grace.end_is_written && grace.ends_at_ms <= clock_.MonotonicMs()) ended.push_back(grace);
  }
  return ended;
}

std::optional<int64_t> Graces::DueInMs() const {
  std::optional<int64_t> due;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, grace] : graces_) {
    const int64_t in_ms = grace.ends_at_ms - clock_.MonotonicMs();
    if (in_ms > 0) due = std::min(due.value_or(in_ms), in_ms);
  }
  return due;
}

void LoadGraces(db::Session& session, Graces& graces) {
  const Clock& clock = graces.clock();
  std::vector<std::string> damage;
  for (const db::CompanyId company : store::Companies(session)) {
    for (const Subscription& one : store::All(session, company, damage)) {
      if (!one.secret_rotates_until) continue;
      const UtcMs until = *one.secret_rotates_until;
      const int64_t left_ms = std::clamp<int64_t>(until - clock.SettledNow(), 0, kGraceMaxMs);
      graces.Put({.company = company,
                  .webhook_id = one.id,
                  .until = until,
                  .ends_at_ms = clock.MonotonicMs() + left_ms});
    }
  }
}

bool WriteDownEndedGraces(db::Database& database, Graces& graces) {
  const std::vector<Grace> ended = graces.Ended();
  if (ended.empty()) return false;
  database.Write([&](db::Tx& tx, const db::Stamp&) {
    for (const Grace& grace : ended) EndGrace(tx, grace.company, grace.webhook_id, grace.until);
  });
  for (const Grace& grace : ended) graces.NoteWritten(grace);
  return true;
}

}  // namespace comanda::webhooks
