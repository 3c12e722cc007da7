#include "app/clock_watch.h"

#include <string_view>

#include "base/log.h"
#include "base/problem.h"
#include "company/companies.h"
#include "events/log.h"
#include "json/writer.h"
#include "keys/audit.h"

namespace comanda::app {
namespace {

constexpr int64_t kMinuteMs = 60'000;
constexpr int64_t kDayMs = 24 * 60 * kMinuteMs;
constexpr int64_t kBackMs = 5 * kMinuteMs;
// Limits the audit entries of a clock that steps repeatedly: one a minute after the first ten.
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

std::string_view Meaning(Event event) {
  switch (event) {
    case Event::kAhead:
    case Event::kBehind:
      return "orders carry the new time; keys expire by the time known before, until the new one "
             "has "
             "stood for a day or the system says that it is synchronised. If it is wrong, set it "
             "(date -s) or give the box a time server (`comanda doctor` says how)";
    case Event::kBelieved:
      return "the new time stood for a day or is synchronised: keys expire by it";
    case Event::kRight:
      return "the clock shows the time known before again";
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

// The last mark, or one with the time of the last event: databases of older programs have no marks.
std::optional<events::Mark> LastMark(db::Snapshot& snapshot) {
  if (const auto mark = events::LastMark(snapshot)) return mark;
  const UtcMs last = events::LastTime(snapshot);
  if (last == 0) return std::nullopt;
  return events::Mark{.at = last, .settled_at = last};
}

// True if a box that stopped at `from` can plausibly have started again at `now`: within a day, or
// up to 5 minutes before.
bool IsSoonAfter(UtcMs from, UtcMs now) { return now >= from - kBackMs && now - from <= kDayMs; }

}  // namespace

ClockWatch::ClockWatch(SettledClock& clock, db::Database& live, events::Marks& marks)
    : clock_(clock), live_(live), marks_(marks), notes_left_(kNotesMax) {
  try {
    if (!clock_.IsSynchronised()) Resume();
    marks_.MakeIfDue();
  } catch (const Fault& fault) {  // e.g. a full disk; the chores make the mark later
    log::Error("could not store the time of this start", {{"why", fault.cause}});
  }
}

void ClockWatch::Resume() {
  const std::optional<events::Mark> mark =
      live_.Read([](db::Snapshot& snapshot) { return LastMark(snapshot); });
  if (!mark) return;
  const UtcMs now = clock_.Now();
  if (mark->away_ms > 0 && IsSoonAfter(mark->at, now)) {
    ResumeFrom(mark->settled_at + (now - mark->at), mark->away_ms);
  } else if (!IsSoonAfter(mark->settled_at, now)) {
    ResumeFrom(mark->settled_at, 0);
  }
}

// `stood_ms`: how long the wall clock had differed from the settled clock before the restart; 0 if
// it did not. A new difference is written to the audit log unless it ends within a minute.
void ClockWatch::ResumeFrom(UtcMs settled, int64_t stood_ms) {
  const UtcMs now = clock_.Now();
  clock_.Resume(settled, stood_ms);
  if (stood_ms > 0) return;  // written to the audit log before the restart
  to_note_ = SettledClock::Step{now > settled ? Event::kAhead : Event::kBehind, settled, now};
  notes_left_ = 0;
  note_more_at_ms_ = clock_.MonotonicMs() + kMinuteMs;
}

bool ClockWatch::Look() {
  const auto step = clock_.Look();
  if (step) {
    log::Warning("the clock was stepped", {{"what", Name(step->event)},
                                           {"from", FormatInstant(step->from)},
                                           {"to", FormatInstant(step->to)},
                                           {"meaning", Meaning(step->event)}});
    // Of several steps the last one is written.
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
  marks_.Renew();
  const std::string detail = Detail(step);
  live_.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    for (const company::Company& company : company::All(tx)) {
      keys::Audit(tx, company.company_id, stamp, {kActor, Name(step.event), "", detail});
    }
  });
}

}  // namespace comanda::app
