#include "app/clock_watch.h"

#include <string_view>

#include "base/log.h"
#include "base/problem.h"
#include "company/companies.h"
#include "events/log.h"
#include "json/reader.h"
#include "json/writer.h"
#include "keys/audit.h"

namespace comanda::app {
namespace {

constexpr int64_t kMinuteMs = 60'000;
constexpr int64_t kDayMs = 24 * 60 * kMinuteMs;
constexpr int64_t kBackMs = 5 * kMinuteMs;
// A clock that steps all the time must not fill the disk.
constexpr int64_t kNotesMax = 10;
constexpr std::string_view kActor = "clock";

using Event = SettledClock::Event;

std::string_view Name(Event event) {
  switch (event) {
    case Event::kAhead:
      return "clock.ahead";
    case Event::kBehind:
      return "clock.behind";
    case Event::kBelieved:
      return "clock.believed";
    case Event::kRight:
      return "clock.right";
  }
  return "";
}

std::string Detail(const SettledClock::Step& step) {
  std::string detail;
  json::Writer(detail)
      .BeginObject()
      .Key("from")
      .Instant(step.from)
      .Key("to")
      .Instant(step.to)
      .EndObject();
  return detail;
}

UtcMs ReadTime(const json::Document& detail, std::string_view name) {
  const auto value = detail.root().Find(name);
  return value ? ParseInstant(value->text()).value_or(0) : 0;
}

// The step that the audit log ends with, where it was neither believed nor put right.
std::optional<SettledClock::Step> LastStep(db::Snapshot& snapshot) {
  for (const company::Company& company : company::All(snapshot)) {
    const auto last = keys::LastBy(snapshot, company.company_id, kActor);
    if (!last) continue;
    for (const Event event : {Event::kAhead, Event::kBehind}) {
      if (last->action != Name(event)) continue;
      const json::Document detail = json::Document::Parse(last->detail);
      return SettledClock::Step{event, ReadTime(detail, "from"), ReadTime(detail, "to")};
    }
  }
  return std::nullopt;
}

}  // namespace

ClockWatch::ClockWatch(SettledClock& clock, db::Database& live, bool is_synchronised)
    : clock_(clock), live_(live), notes_left_(kNotesMax) {
  if (!is_synchronised) Resume();
}

void ClockWatch::Resume() {
  live_.Read([&](db::Snapshot& snapshot) {
    const UtcMs now = clock_.Now();
    const UtcMs last = events::LastTime(snapshot);
    if (const auto step = LastStep(snapshot)) {
      const int64_t stood_ms = now - step->to;
      if (stood_ms >= 0 && stood_ms < kDayMs) {
        clock_.Resume(step->from + stood_ms, stood_ms);
        return;
      }
      if (stood_ms >= kDayMs || now >= step->from) return;  // it stood, or was put right meanwhile
    }
    if (last == 0 || (now >= last - kBackMs && now - last <= kDayMs)) return;
    // Off, or wrong: the same from here. Noted if it is not resolved within a minute.
    clock_.Resume(last, 0);
    to_note_ = SettledClock::Step{now > last ? Event::kAhead : Event::kBehind, last, now};
    notes_left_ = 0;
    note_more_at_ms_ = clock_.MonotonicMs() + kMinuteMs;
  });
}

bool ClockWatch::Look() {
  const auto step = clock_.Look();
  if (step) {
    log::Warning("the clock was stepped", {{"what", Name(step->event)},
                                           {"from", FormatInstant(step->from)},
                                           {"to", FormatInstant(step->to)}});
    // The last one decides after a restart.
    to_note_ = step;
  }
  if (to_note_ && MayNote()) {
    Note(*to_note_);
    to_note_.reset();
  }
  return step.has_value();
}

bool ClockWatch::MayNote() {
  const int64_t now_ms = clock_.MonotonicMs();
  if (now_ms >= note_more_at_ms_) {
    if (note_more_at_ms_ > 0 && notes_left_ < kNotesMax) ++notes_left_;
    note_more_at_ms_ = now_ms + kMinuteMs;
  }
  if (notes_left_ == 0) return false;
  --notes_left_;
  return true;
}

void ClockWatch::Note(const SettledClock::Step& step) {
  const std::string detail = Detail(step);
  live_.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    for (const company::Company& company : company::All(tx)) {
      keys::Audit(tx, company.company_id, stamp, {kActor, Name(step.event), "", detail});
    }
  });
}

}  // namespace comanda::app
