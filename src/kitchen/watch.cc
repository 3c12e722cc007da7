#include "kitchen/watch.h"

#include <algorithm>
#include <utility>

#include "base/counted.h"
#include "base/log.h"
#include "base/problem.h"
#include "company/companies.h"
#include "company/hours.h"
#include "company/json.h"
#include "events/types.h"
#include "kitchen/rules.h"
#include "menu/menu.h"

namespace comanda::kitchen {
namespace {

constexpr int64_t kUnwatchedMs = 20'000;  // nobody present for so long, a line that waits as long
// For so long a screen that has just been let in or loaded is mute: a browser plays nothing before
// somebody has touched it.
constexpr int64_t kMutedMs = 20'000;
constexpr int64_t kWatchedMs = 7LL * 24 * 60 * kMinuteMs;
constexpr int64_t kHourMs = 60 * kMinuteMs;
constexpr int64_t kLookMs = 1'000;

bool IsOpen(const company::Company& company, UtcMs now) {
  return company::OpenAt(company::ParseHours(company.business_hours), company::FindZone(company),
                         now);
}

// Whether a line of an open ticket waits at the station, and has for some seconds.
bool HasDishes(const std::vector<Ticket>& tickets, std::string_view station, UtcMs now) {
  return std::ranges::any_of(tickets, [&](const Ticket& ticket) {
    return StateAt(ticket, now) == State::kOpen &&
           std::ranges::any_of(ticket.lines, [&](const Line& line) {
             return line.station_id == station && now - line.added_at >= kUnwatchedMs &&
                    Waits(ticket, line, now);
           });
  });
}

}  // namespace

Watch::Watch(WatchSettings settings, Heartbeats& heartbeats, metrics::Registry& registry)
    : settings_(std::move(settings)),
      presence_(settings_.clock),
      displays_(
          registry, "comanda_kitchen_displays", "Kitchen displays that are present.",
          [this] { return static_cast<double>(Sum().displays); },
          "database=\"" + settings_.name + "\""),
      unwatched_(
          registry, "comanda_kitchen_stations_unwatched",
          "Stations with dishes to make that no display watches.",
          [this] { return static_cast<double>(Sum().unwatched); },
          "database=\"" + settings_.name + "\""),
      muted_(
          registry, "comanda_kitchen_displays_muted", "Kitchen displays whose sound is off.",
          [this] { return static_cast<double>(Sum().muted); },
          "database=\"" + settings_.name + "\""),
      unwatched_open_(
          registry, "comanda_kitchen_unwatched_seconds",
          "For how long a station has been unwatched in opening hours, the longest.",
          [this] { return static_cast<double>(Sum().unwatched_open_s); },
          "database=\"" + settings_.name + "\"") {
  if (!settings_.has_thread) return;
  worker_.emplace(events::WorkerSettings{.name = settings_.name + " kitchen"}, heartbeats, registry,
                  [this](events::Worker::Pass& pass) { return Pass(pass); });
}

void Watch::NoteDisplay() {
  if (worker_) worker_->Wake();
}

std::shared_ptr<const Alerts> Watch::AlertsOf(db::CompanyId company) const {
  static const auto kNone = std::make_shared<const Alerts>();
  const std::lock_guard lock(mutex_);
  const auto kitchen = kitchens_.find(company.value);
  return kitchen == kitchens_.end() ? kNone : kitchen->second.alerts;
}

std::optional<UtcMs> Watch::UnwatchedSince(db::CompanyId company,
                                           const std::string& station) const {
  const std::lock_guard lock(mutex_);
  const auto kitchen = kitchens_.find(company.value);
  if (kitchen == kitchens_.end()) return std::nullopt;
  const auto since = kitchen->second.unwatched_since.find(station);
  if (since == kitchen->second.unwatched_since.end()) return std::nullopt;
  return since->second;
}

std::shared_ptr<const std::vector<store::Station>> Watch::StationsOf(db::CompanyId company) {
  const auto revision = settings_.database.counters()
                            .RevisionOf(company, static_cast<size_t>(events::Counter::kCatalogue))
                            .changes;
  {
    const std::lock_guard lock(mutex_);
    const Known& known = stations_[company.value];
    if (known.revision == revision && known.stations) return known.stations;
  }
  auto stations = std::make_shared<const std::vector<store::Station>>(settings_.database.Read(
      [&](db::Snapshot& snapshot) { return store::Stations(snapshot, company); }));
  const std::lock_guard lock(mutex_);
  stations_[company.value] = {revision, stations};
  return stations;
}

Watch::Totals Watch::Sum() const {
  Totals totals;
  const UtcMs now = settings_.clock.Now();
  const std::lock_guard lock(mutex_);
  for (const auto& [company, kitchen] : kitchens_) {
    totals.displays += kitchen.displays;
    totals.unwatched += kitchen.unwatched_since.size();
    for (const auto& [station, since] : kitchen.unwatched_open) {
      totals.unwatched_open_s = std::max(totals.unwatched_open_s, (now - since) / 1'000);
    }
    totals.muted += static_cast<size_t>(
        std::ranges::count(kitchen.alerts->alerts, Alert::Kind::kDisplayMuted, &Alert::kind));
  }
  return totals;
}

std::vector<http::KeyDisplay> Watch::DisplaysOf(db::CompanyId company) {
  std::vector<http::KeyDisplay> displays;
  for (Display& display : presence_.Displays(company)) {
    displays.push_back({.key_id = std::move(display.key_id),
                        .display = std::move(display.display),
                        .stations = std::move(display.state.stations),
                        .is_muted = display.state.is_muted,
                        .is_awake = display.state.is_awake,
                        .is_present = display.is_present});
  }
  return displays;
}

std::string Watch::Describe() const {
  const Totals totals = Sum();
  if (totals.displays + totals.unwatched + totals.muted == 0) return {};
  const auto number = [](size_t count) { return static_cast<int64_t>(count); };
  std::string text = Counted(number(totals.displays), "display is present", "displays are present");
  if (totals.unwatched > 0) {
    text += "; " + Counted(number(totals.unwatched),
                           "station has dishes to make and no display that is on",
                           "stations have dishes to make and no display that is on");
  }
  if (totals.muted > 0) {
    text += "; " + Counted(number(totals.muted), "display is muted", "displays are muted");
  }
  return text;
}

// Companies of which a station was watched lately, by this process or before it.
std::vector<db::CompanyId> Watch::Watched() {
  if (!watched_before_) {
    watched_before_ = settings_.database.Read([&](db::Snapshot& snapshot) {
      return store::WatchedCompanies(snapshot, settings_.clock.Now() - kWatchedMs);
    });
  }
  std::vector<db::CompanyId> companies = *watched_before_;
  for (const db::CompanyId company : presence_.Companies()) {
    if (std::ranges::find(companies, company) == companies.end()) companies.push_back(company);
  }
  return companies;
}

void Watch::WriteWatched(db::CompanyId company, const std::vector<store::Station>& stations) {
  const UtcMs now = settings_.clock.Now();
  std::vector<std::string> due;
  for (const store::Station& station : stations) {
    const bool is_watched = presence_.IsWatched(company, station.id);
    // An hour, whichever way the clock was set.
    const bool is_old = !station.watched_at || std::abs(now - *station.watched_at) >= kHourMs;
    if (is_watched && is_old) due.push_back(station.id);
  }
  if (due.empty() || settings_.database.IsReadOnly()) return;
  settings_.database.Write([&](db::Tx& tx, const db::Stamp&) {
    for (const std::string& station : due) menu::NoteWatched(tx, company, station, now);
  });
}

// The stations, those without anybody who watches although dishes wait there, and whether the
// restaurant is open; the last only where it matters.
struct Watch::Seen {
  std::vector<store::Station> stations, unwatched;
  bool is_open = false;
};

Watch::Seen Watch::See(db::Session& session, db::CompanyId company) {
  const UtcMs now = settings_.clock.Now();
  Seen seen{.stations = store::Stations(session, company), .unwatched = {}};
  for (const store::Station& station : seen.stations) {
    const bool is_known = presence_.WasWatched(company, station.id) ||
                          (station.watched_at && now - *station.watched_at < kWatchedMs);
    if (station.prepares && is_known && presence_.AbsentMs(company, station.id) >= kUnwatchedMs) {
      seen.unwatched.push_back(station);
    }
  }
  if (seen.unwatched.empty()) return seen;
  const std::vector<Ticket> tickets = store::CurrentTickets(session, company, {.now = now});
  std::erase_if(seen.unwatched, [&](const store::Station& station) {
    return !HasDishes(tickets, station.id, now);
  });
  seen.is_open = !seen.unwatched.empty() && IsOpen(company::Get(session, company), now);
  return seen;
}

bool Watch::Publish(db::CompanyId company, const Seen& seen) {
  const UtcMs now = settings_.clock.Now();
  const std::vector<Display> displays = presence_.Displays(company);
  const std::lock_guard lock(mutex_);
  Kitchen& kitchen = kitchens_[company.value];
  std::map<std::string, UtcMs> since, since_open;
  std::vector<Alert> alerts;
  // As long as it lasts, it has the time at which it began.
  const auto begin = [&](const std::map<std::string, UtcMs>& former, const std::string& station) {
    const auto found = former.find(station);
    return found == former.end() ? now : found->second;
  };
  for (const store::Station& station : seen.unwatched) {
    since[station.id] = begin(kitchen.unwatched_since, station.id);
    alerts.push_back({Alert::Kind::kStationUnwatched, station.name, since[station.id]});
    if (seen.is_open) since_open[station.id] = begin(kitchen.unwatched_open, station.id);
  }
  kitchen.displays = 0;
  for (const Display& display : displays) {
    if (!display.is_present) continue;
    ++kitchen.displays;
    if (display.muted_ms >= kMutedMs) {
      alerts.push_back({Alert::Kind::kDisplayMuted, display.name, *display.muted_since});
    }
  }
  kitchen.unwatched_since = std::move(since);
  kitchen.unwatched_open = std::move(since_open);
  if (alerts == kitchen.alerts->alerts) return false;
  kitchen.alerts =
      std::make_shared<const Alerts>(Alerts{kitchen.alerts->revision + 1, std::move(alerts)});
  return true;
}

void Watch::Look(db::CompanyId company) {
  const Seen seen =
      settings_.database.Read([&](db::Snapshot& snapshot) { return See(snapshot, company); });
  WriteWatched(company, seen.stations);
  if (!Publish(company, seen)) return;
  for (const store::Station& station : seen.unwatched) {
    log::Warning("a station has dishes to make, and no display watches it",
                 {{"station", station.name}});
  }
  settings_.wake_polls();
}

events::Worker::Done Watch::Pass(events::Worker::Pass& pass) {
  const std::vector<db::CompanyId> companies = Watched();
  for (const db::CompanyId company : companies) {
    pass.Beat();
    Look(company);
  }
  // NoteDisplay() wakes it where there is nothing to watch.
  constexpr int64_t kIdleMs = 60 * 60'000;
  return {.due_in_ms = companies.empty() ? kIdleMs : kLookMs};
}

}  // namespace comanda::kitchen
