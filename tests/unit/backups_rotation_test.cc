#include "backups/rotation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace comanda::backups {
namespace {

constexpr UtcMs kDay = 86'400'000;
constexpr UtcMs kMonday = 4 * kDay;  // 1970-01-05

Backup Of(int64_t number, UtcMs made_at) { return {.number = number, .made_at = made_at}; }

// One a day from Monday on, numbered from 1.
std::vector<Backup> Daily(int64_t count) {
  std::vector<Backup> backups;
  for (int64_t n = 0; n < count; ++n) backups.push_back(Of(n + 1, kMonday + n * kDay));
  return backups;
}

std::vector<int64_t> Kept(std::vector<Backup> backups, const RotationRule& rule) {
  for (const Backup& gone : Superfluous(backups, rule)) {
    std::erase_if(backups, [&](const Backup& one) { return one.number == gone.number; });
  }
  std::vector<int64_t> numbers;
  for (const Backup& one : backups) numbers.push_back(one.number);
  std::ranges::sort(numbers);
  return numbers;
}

using Numbers = std::vector<int64_t>;

TEST(BackupsRotation, KeepsTheLastDaysAndTheLastDayOfEachWeek) {
  // Sunday of the fifth week: 35 days. Sundays are 7, 14, 21, 28, 35.
  EXPECT_EQ(Kept(Daily(35), {.daily = 7, .weekly = 4}),
            (Numbers{14, 21, 28, 29, 30, 31, 32, 33, 34, 35}));
  // A day later the new week has its first.
  EXPECT_EQ(Kept(Daily(36), {.daily = 7, .weekly = 4}),
            (Numbers{21, 28, 30, 31, 32, 33, 34, 35, 36}));
  EXPECT_EQ(Kept(Daily(5), {.daily = 7, .weekly = 4}), (Numbers{1, 2, 3, 4, 5}));
  EXPECT_EQ(Kept({}, {.daily = 7, .weekly = 4}), Numbers{});
}

TEST(BackupsRotation, KeepsTheNewestOfADay) {
  const std::vector<Backup> backups = {Of(1, kMonday), Of(2, kMonday + 1), Of(3, kMonday + kDay),
                                       Of(4, kMonday + kDay + 1), Of(5, kMonday + kDay + 2)};
  EXPECT_EQ(Kept(backups, {.daily = 7, .weekly = 0}), (Numbers{2, 4, 5}));
}

TEST(BackupsRotation, AlwaysKeepsTheLastTwo) {
  EXPECT_EQ(Kept(Daily(30), {.daily = 0, .weekly = 0}), (Numbers{29, 30}));
  EXPECT_EQ(Kept({Of(1, 0), Of(2, 0), Of(3, 0)}, {.daily = 1, .weekly = 1}), (Numbers{2, 3}));
}

TEST(BackupsRotation, TakesAClockOf1970ForOneDayMore) {
  std::vector<Backup> backups;
  for (int64_t n = 1; n <= 7; ++n) backups.push_back(Of(n, 20'000 * kDay + n * kDay));
  // The clock is lost, and starts in 1970 at each of 20 boots.
  for (int64_t n = 8; n < 28; ++n) backups.push_back(Of(n, 1000 * n));
  EXPECT_EQ(Kept(backups, {.daily = 7, .weekly = 0}), (Numbers{2, 3, 4, 5, 6, 7, 26, 27}));
  // It is right again: the days of before are still there.
  backups.push_back(Of(28, 20'010 * kDay));
  EXPECT_EQ(Kept(backups, {.daily = 7, .weekly = 0}), (Numbers{3, 4, 5, 6, 7, 27, 28}));
}

TEST(BackupsRotation, TakesAClockOf2038ForOneDayMore) {
  std::vector<Backup> backups = Daily(7);
  backups.push_back(Of(8, 24'855 * kDay));
  backups.push_back(Of(9, kMonday + 7 * kDay));
  EXPECT_EQ(Kept(backups, {.daily = 7, .weekly = 0}), (Numbers{3, 4, 5, 6, 7, 8, 9}));
}

// The rule once more, said otherwise: a backup stays if fewer than `most` periods have their newest
// backup after it, and it is the newest of its own.
bool IsNewestOfAKeptPeriod(const std::vector<Backup>& all, const Backup& one, int64_t period_ms,
                           int64_t begin_ms, size_t most) {
  const auto period = [&](const Backup& b) { return (b.made_at + begin_ms) / period_ms; };
  std::map<int64_t, int64_t> newest;
  for (const Backup& b : all) newest[period(b)] = std::max(newest[period(b)], b.number);
  if (newest[period(one)] != one.number) return false;
  return static_cast<size_t>(std::ranges::count_if(
             newest, [&](const auto& p) { return p.second > one.number; })) < most;
}

TEST(BackupsRotation, AgreesWithAPlainModelOnRandomHistories) {
  std::mt19937 random(20261123);
  const auto below = [&](uint32_t bound) { return static_cast<int64_t>(random() % bound); };
  for (int history = 0; history < 2000; ++history) {
    const RotationRule rule = {.daily = static_cast<size_t>(below(9)),
                               .weekly = static_cast<size_t>(below(6))};
    std::vector<Backup> there;
    UtcMs now = below(40'000) * kDay;
    for (int64_t number = 1; number <= 40; ++number) {
      switch (below(12)) {
        case 0:
          now = below(40'000) * kDay;
          break;  // set to anything
        case 1:
          now = std::max<UtcMs>(0, now - kDay * below(20));
          break;  // set back
        default:
          now += kDay * below(3) + below(86'400'000);
          break;
      }
      there.push_back(Of(number, now));
      std::ranges::shuffle(there, random);
      const std::vector<Backup> before = there;
      const std::vector<Backup> gone = Superfluous(there, rule);
      EXPECT_TRUE(std::ranges::is_sorted(gone, {}, &Backup::number));
      for (const Backup& one : before) {
        const bool stays = one.number >= number - 1 ||
                           IsNewestOfAKeptPeriod(before, one, kDay, 0, rule.daily) ||
                           IsNewestOfAKeptPeriod(before, one, 7 * kDay, 3 * kDay, rule.weekly);
        const bool went = std::ranges::find(gone, one.number, &Backup::number) != gone.end();
        ASSERT_NE(stays, went) << "history " << history << ", backup " << one.number;
        if (went) {
          std::erase_if(there, [&](const Backup& b) { return b.number == one.number; });
        }
      }
    }
  }
}

}  // namespace
}  // namespace comanda::backups
