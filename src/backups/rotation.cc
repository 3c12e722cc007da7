#include "backups/rotation.h"

#include <algorithm>
#include <set>

namespace comanda::backups {
namespace {

constexpr int64_t kDayMs = 86'400'000;

int64_t DayOf(const Backup& backup) { return backup.made_at / kDayMs; }
// 1970-01-01 was a Thursday.
int64_t WeekOf(const Backup& backup) { return (DayOf(backup) + 3) / 7; }

}  // namespace

std::vector<Backup> Superfluous(std::vector<Backup> backups, const RotationRule& rule) {
  std::ranges::sort(backups, [](const Backup& a, const Backup& b) { return a.number > b.number; });
  std::set<int64_t> days;
  std::set<int64_t> weeks;
  std::vector<Backup> superfluous;
  for (size_t i = 0; i < backups.size(); ++i) {
    // The first one of a day or week in this order is its newest.
    const bool is_daily = days.size() < rule.daily && days.insert(DayOf(backups[i])).second;
    const bool is_weekly = weeks.size() < rule.weekly && weeks.insert(WeekOf(backups[i])).second;
    if (i >= kAlwaysKept && !is_daily && !is_weekly) superfluous.push_back(backups[i]);
  }
  std::ranges::reverse(superfluous);
  return superfluous;
}

}  // namespace comanda::backups
