#include "company/hours.h"

#include <algorithm>

#include "base/text.h"

namespace comanda::company {
namespace {

bool OpenByToday(const DayHours& today, int minute) {
  if (!today.is_active) return false;
  return std::ranges::any_of(today.blocks, [minute](const Block& block) {
    return minute >= block.open && (block.EndsNextDay() || minute < block.close);
  });
}

bool OpenByYesterday(const DayHours& yesterday, int minute) {
  if (!yesterday.is_active) return false;
  return std::ranges::any_of(yesterday.blocks, [minute](const Block& block) {
    return block.EndsNextDay() && minute < block.close;
  });
}

}  // namespace

bool OpenAtLocal(const Hours& hours, const LocalTime& local) {
  const auto today = static_cast<size_t>(local.weekday);
  const size_t yesterday = (today + hours.size() - 1) % hours.size();
  return OpenByToday(hours[today], local.minute_of_day) ||
         OpenByYesterday(hours[yesterday], local.minute_of_day);
}

bool OpenAt(const Hours& hours, const Zone& zone, UtcMs instant) {
  return OpenAtLocal(hours, zone.ToLocal(instant));
}

std::optional<int> ParseTimeOfDay(std::string_view text) {
  if (text.size() != 5 || text[2] != ':') return std::nullopt;
  if (!IsDigit(text[0]) || !IsDigit(text[1]) || !IsDigit(text[3]) || !IsDigit(text[4])) {
    return std::nullopt;
  }
  const int hour = (text[0] - '0') * 10 + (text[1] - '0');
  const int minute = (text[3] - '0') * 10 + (text[4] - '0');
  if (hour > 23 || minute > 59) return std::nullopt;
  return hour * 60 + minute;
}

std::string FormatTimeOfDay(int minute_of_day) {
  std::string text = "00:00";
  const int hour = minute_of_day / 60;
  const int minute = minute_of_day % 60;
  text[0] = static_cast<char>('0' + hour / 10);
  text[1] = static_cast<char>('0' + hour % 10);
  text[3] = static_cast<char>('0' + minute / 10);
  text[4] = static_cast<char>('0' + minute % 10);
  return text;
}

}  // namespace comanda::company
