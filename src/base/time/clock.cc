#include "base/time/clock.h"

#include <array>
#include <charconv>
#include <ctime>

#include "base/time/days.h"

namespace comanda {
namespace {

constexpr int64_t kDayMs = 86'400'000;
constexpr UtcMs kEndOfYear9999 = 253'402'300'800'000;

class MachineClock final : public Clock {
 public:
  UtcMs Now() const override { return Read(CLOCK_REALTIME); }
  int64_t MonotonicMs() const override { return Read(CLOCK_MONOTONIC); }

 private:
  static int64_t Read(clockid_t id) {
    timespec time{};
    ::clock_gettime(id, &time);
    return int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1'000'000;
  }
};

void AppendDigits(std::string& out, int64_t value, int width) {
  std::array<char, 20> digits;
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  const auto size = static_cast<int>(written.ptr - digits.data());
  if (size < width) out.append(static_cast<size_t>(width - size), '0');
  out.append(digits.data(), written.ptr);
}

void AppendDay(std::string& out, Day day) {
  AppendDigits(out, day.year, 4);
  out += '-';
  AppendDigits(out, day.month, 2);
  out += '-';
  AppendDigits(out, day.day, 2);
}

// Reads fixed-width parts from the front of a text. Each function returns false and consumes
// nothing if the part is malformed.
class Parts {
 public:
  explicit Parts(std::string_view text) : rest_(text) {}

  bool Number(int width, int& value) {
    const size_t count = static_cast<size_t>(width);
    if (rest_.size() < count) return false;
    value = 0;
    for (const char c : rest_.substr(0, count)) {
      if (c < '0' || c > '9') return false;
      value = value * 10 + (c - '0');
    }
    rest_.remove_prefix(count);
    return true;
  }

  // One character of the set.
  bool One(std::string_view set) {
    if (rest_.empty() || set.find(rest_[0]) == std::string_view::npos) return false;
    last_ = rest_[0];
    rest_.remove_prefix(1);
    return true;
  }

  // The digits of a fraction, at least one; digits beyond milliseconds are dropped.
  bool Fraction(int& milliseconds) {
    int weight = 100;
    int digit = 0;
    if (!Number(1, digit)) return false;
    do {
      milliseconds += digit * weight;
      weight /= 10;
    } while (Number(1, digit));
    return true;
  }

  char last() const { return last_; }
  bool done() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  char last_ = '\0';
};

bool ReadDay(Parts& parts, Day& day) {
  return parts.Number(4, day.year) && parts.One("-") && parts.Number(2, day.month) &&
         parts.One("-") && parts.Number(2, day.day) && IsRealDay(day);
}

// "Z" or "+hh:mm", as minutes east of Greenwich.
bool ReadOffset(Parts& parts, int& minutes) {
  minutes = 0;
  if (parts.One("Zz")) return true;
  if (!parts.One("+-")) return false;
  const int sign = parts.last() == '-' ? -1 : 1;
  int hour = 0;
  int minute = 0;
  if (!parts.Number(2, hour) || !parts.One(":") || !parts.Number(2, minute)) return false;
  if (hour > 23 || minute > 59) return false;
  minutes = sign * (hour * 60 + minute);
  return true;
}

}  // namespace

const Clock& SystemClock() {
  static const MachineClock clock;
  return clock;
}

std::string FormatInstant(UtcMs instant) {
  std::string out;
  AppendInstant(out, instant);
  return out;
}

void AppendInstant(std::string& out, UtcMs instant) {
  int64_t days = instant / kDayMs;
  int64_t rest = instant % kDayMs;
  if (rest < 0) {
    rest += kDayMs;
    --days;
  }
  AppendDay(out, DayFromNumber(days));
  out += 'T';
  AppendDigits(out, rest / 3'600'000, 2);
  out += ':';
  AppendDigits(out, rest / 60'000 % 60, 2);
  out += ':';
  AppendDigits(out, rest / 1000 % 60, 2);
  out += '.';
  AppendDigits(out, rest % 1000, 3);
  out += 'Z';
}

std::optional<UtcMs> ParseInstant(std::string_view text) {
  Parts parts(text);
  Day day;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int milliseconds = 0;
  int offset_minutes = 0;
  if (!ReadDay(parts, day) || !parts.One("Tt") || !parts.Number(2, hour) || !parts.One(":") ||
      !parts.Number(2, minute) || !parts.One(":") || !parts.Number(2, second)) {
    return std::nullopt;
  }
  if (parts.One(".") && !parts.Fraction(milliseconds)) return std::nullopt;
  if (!ReadOffset(parts, offset_minutes) || !parts.done()) return std::nullopt;
  // Milliseconds since 1970 cannot express a leap second; it is read as the second after it.
  const bool leap_second = second == 60 && minute == 59;
  if (hour > 23 || minute > 59 || (second > 59 && !leap_second)) return std::nullopt;

  const int64_t seconds = (int64_t{hour} * 60 + minute - offset_minutes) * 60 + second;
  const UtcMs instant = DayNumber(day) * kDayMs + seconds * 1000 + milliseconds;
  if (instant < 0 || instant >= kEndOfYear9999) return std::nullopt;
  return instant;
}

std::optional<Day> ParseDay(std::string_view text) {
  Parts parts(text);
  Day day;
  if (!ReadDay(parts, day) || !parts.done()) return std::nullopt;
  return day;
}

std::string FormatDay(Day day) {
  std::string out;
  AppendDay(out, day);
  return out;
}

Day NextDay(Day day) { return DayFromNumber(DayNumber(day) + 1); }

Day PreviousDay(Day day) { return DayFromNumber(DayNumber(day) - 1); }

}  // namespace comanda
