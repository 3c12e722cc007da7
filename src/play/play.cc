#include "play/play.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "base/concat.h"
#include "base/counted.h"
#include "base/decimal.h"
#include "json/reader.h"
#include "play/client.h"
#include "play/restaurant.h"
#include "play/sale.h"

namespace comanda::play {
namespace {

constexpr int64_t kMinuteMs = 60'000;
// Orders of a day, Monday first, on which the house is closed.
constexpr std::array<int64_t, 7> kOrdersOfDay = {0, 80, 90, 105, 150, 165, 110};
constexpr size_t kSunday = 6;
struct Service {
  int from_minute, to_minute;  // of the day
};
constexpr Service kLunch = {.from_minute = 12 * 60, .to_minute = 15 * 60 + 30};
constexpr Service kDinner = {.from_minute = 19 * 60, .to_minute = 22 * 60 + 45};
// An evening: guests who are there at its beginning, and ms between those who come afterwards.
constexpr int64_t kAtOnce = 12;
constexpr int64_t kGapMsMin = 20'000, kGapMsMax = 70'000;
constexpr std::string_view kEvening = "demo-evening-";

// That of the n-th of `count` orders, which come evenly and a little by chance.
int64_t MinuteOf(const Service& service, int64_t n, int64_t count, Dice& dice) {
  const int64_t minutes = service.to_minute - service.from_minute;
  return service.from_minute + minutes * n / count + dice.Between(0, minutes / count);
}

class Player {
 public:
  explicit Player(const Settings& settings)
      : settings_(settings),
        client_(settings.socket, settings.interrupted, settings.say),
        restaurant_(ReadRestaurant(client_)) {}

  void WritePast() {
    Day day = Today();
    for (int64_t i = 0; i < settings_.days; ++i) day = PreviousDay(day);
    for (; day != Today() && !client_.IsInterrupted(); day = NextDay(day)) {
      if (!IsWritten(day)) WriteDay(day);
    }
  }

  void SellUntilInterrupted() {
    settings_.say("Selling as on a Friday evening, until Ctrl-C.");
    const int64_t began_ms = SystemClock().MonotonicMs();
    const std::string day = FormatDay(Today());
    const int64_t first = Count("filter%5Bday%5D=business&filter%5Bstart_date%5D=" + day);
    Adopt();
    Dice dice(settings_.seed, "arrivals");
    int64_t arrives_ms = 0;
    for (int64_t number = first; !client_.IsInterrupted();) {
      const int64_t now_ms = (SystemClock().MonotonicMs() - began_ms) * settings_.speed;
      const bool is_due = !sales_.empty() && sales_.begin()->first <= now_ms;
      if (is_due) {
        DoNext();
      } else if (arrives_ms <= now_ms) {
        const std::string name = Concat({kEvening, day, "-", ++number});
        sales_.emplace(arrives_ms,
                       Running{arrives_ms, Sale(restaurant_, {settings_.seed, name},
                                                {.reference = name, .speed = settings_.speed})});
        arrives_ms +=
            number - first < kAtOnce ? kMinuteMs / kAtOnce : dice.Between(kGapMsMin, kGapMsMax);
      } else {
        const int64_t next_ms =
            sales_.empty() ? arrives_ms : std::min(arrives_ms, sales_.begin()->first);
        client_.Wait((next_ms - now_ms) / settings_.speed + 1);
      }
    }
  }

  const Counts& counts() const { return counts_; }

 private:
  struct Running {
    int64_t began_ms;
    Sale sale;
  };

  Day Today() const { return restaurant_.days.Of(SystemClock().Now()); }

  json::Document List(const std::string& query) {
    return json::Document::Parse(
        client_.Send({.method = "GET", .path = "/v1/orders?" + query}).body);
  }

  int64_t Count(const std::string& filter) {
    const json::Document list = List("per_page=1&filter%5Binclude%5D=none&" + filter);
    const std::string_view total = list.root().Find("pagination")->Find("total")->number_text();
    return ParseDecimal(total)->coefficient;
  }

  // Whether the day has all its orders, or some of others. One whose writing was interrupted has
  // its first and not its last: it is written again, which the references make harmless.
  bool IsWritten(Day day) {
    const std::string date = FormatDay(day);
    const std::string reference = Concat({"filter%5Breference%5D=demo-past-", date, "-"});
    if (Count(reference + "last") > 0) return true;
    return Count(reference + "1") == 0 &&
           Count(Concat({"filter%5Bday%5D=business&filter%5Bstart_date%5D=", date,
                         "&filter%5Bend_date%5D=", date})) > 0;
  }

  void WriteDay(Day day) {
    const std::string date = FormatDay(day);
    Dice dice(settings_.seed, date);
    const Zone& zone = restaurant_.days.zone;
    const auto weekday =
        static_cast<size_t>(zone.ToLocal(zone.ToInstant(day, kLunch.from_minute)).weekday);
    const int64_t usual = kOrdersOfDay[weekday];
    const int64_t count = dice.Between(usual * 9 / 10, usual * 11 / 10);
    const int64_t at_lunch = weekday == kSunday ? count : count * 2 / 5;
    for (int64_t i = 0; i < count; ++i) {
      if (client_.IsInterrupted()) return;
      const int64_t minute = i < at_lunch ? MinuteOf(kLunch, i, at_lunch, dice)
                                          : MinuteOf(kDinner, i - at_lunch, count - at_lunch, dice);
      const std::string name =
          Concat({"demo-past-", date, "-", i + 1 == count ? "last" : std::to_string(i + 1)});
      Sale sale(restaurant_, {settings_.seed, name}, {.reference = name, .is_past = true});
      const UtcMs began = zone.ToInstant(day, static_cast<int>(minute));
      while (const auto due_ms = sale.DueMs()) sale.DoNext(client_, began + *due_ms, counts_);
    }
    if (count > 0) settings_.say(Concat({date, "  ", Counted(count, "order", "orders")}));
  }

  // Takes the orders over that a former evening has left open.
  void Adopt() {
    const json::Document list =
        List("filter%5Bstatus%5D=PENDING,PREPARING,READY,DELIVERED&sort=created_at&per_page=100");
    for (const json::Value& order : list.root().Find("data")->items()) {
      const json::Value reference = *order.Find("reference");
      if (reference.is_null() || !reference.text().starts_with(kEvening)) continue;
      const std::string name(reference.text());
      Keep({.began_ms = -30 * kMinuteMs,
            .sale = Sale(restaurant_, {settings_.seed, name},
                         {.reference = name, .speed = settings_.speed}, order)});
    }
  }

  void Keep(Running running) {
    if (const auto due_ms = running.sale.DueMs()) {
      sales_.emplace(running.began_ms + *due_ms, std::move(running));
    }
  }

  void DoNext() {
    Running running = std::move(sales_.extract(sales_.begin()).mapped());
    running.sale.DoNext(client_, SystemClock().Now(), counts_);
    Keep(std::move(running));
  }

  const Settings& settings_;
  Client client_;
  const Restaurant restaurant_;
  std::multimap<int64_t, Running> sales_;  // by when their next act is due
  Counts counts_{};
};

}  // namespace

void Play(const Settings& settings) {
  Player player(settings);
  try {
    player.WritePast();
    player.SellUntilInterrupted();
  } catch (const Interrupted&) {
  }
  settings.say("Done: " + Describe(player.counts()) + ".");
}

}  // namespace comanda::play
