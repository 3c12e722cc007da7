#include "kitchen/presence.h"

#include <algorithm>
#include <utility>

namespace comanda::kitchen {
namespace {

bool ShowsStation(const DisplayState& state, std::string_view station) {
  return state.stations.empty() ||
         std::ranges::find(state.stations, station) != state.stations.end();
}

}  // namespace

bool Display::Shows(std::string_view station) const { return ShowsStation(state, station); }

Presence::Poll::Poll(Presence& presence, db::CompanyId company, std::string key_id,
                     std::string display, DisplayState state, std::string name)
    : presence_(presence),
      company_(company),
      key_id_(std::move(key_id)),
      display_(std::move(display)) {
  presence_.Begin(company_, {key_id_, display_}, std::move(state), std::move(name));
}

Presence::Poll::~Poll() { presence_.End(company_, {key_id_, display_}); }

int64_t Presence::Poll::alerts_seen() const {
  const std::lock_guard lock(presence_.mutex_);
  const auto& displays = presence_.kitchens_[company_.value].displays;
  const auto entry = displays.find({key_id_, display_});
  return entry == displays.end() ? 0 : entry->second.alerts_seen;
}

void Presence::Poll::NoteAlerts(int64_t revision) {
  const std::lock_guard lock(presence_.mutex_);
  auto& displays = presence_.kitchens_[company_.value].displays;
  const auto entry = displays.find({key_id_, display_});
  if (entry != displays.end()) entry->second.alerts_seen = revision;
}

bool Presence::IsPresent(const Entry& entry, int64_t now_ms) const {
  return entry.polls > 0 || now_ms - entry.last_ms <= kPresentMs;
}

// What the display showed so far was watched until now, or as long as it was present.
void Presence::Leave(Kitchen& kitchen, const Entry& entry, int64_t now_ms) {
  const int64_t until_ms = entry.polls > 0 ? now_ms : std::min(now_ms, entry.last_ms + kPresentMs);
  const auto note = [&](const std::string& station) {
    int64_t& left_ms = kitchen.left_ms[station];
    left_ms = std::max(left_ms, until_ms);
  };
  if (entry.state.stations.empty()) note("");
  for (const std::string& station : entry.state.stations) note(station);
}

void Presence::ForgetOldest(Kitchen& kitchen, int64_t now_ms) {
  std::erase_if(kitchen.displays, [&](const auto& display) {
    return display.second.polls == 0 && now_ms - display.second.last_ms > kKeptMs;
  });
  if (kitchen.displays.size() < kDisplaysMax) return;
  const auto oldest = std::ranges::min_element(kitchen.displays, {}, [](const auto& display) {
    return std::pair(display.second.polls > 0, display.second.last_ms);
  });
  Leave(kitchen, oldest->second, now_ms);
  kitchen.displays.erase(oldest);
}

void Presence::Begin(db::CompanyId company, const EntryKey& key, DisplayState state,
                     std::string name) {
  const int64_t now_ms = clock_.MonotonicMs();
  const std::lock_guard lock(mutex_);
  Kitchen& kitchen = kitchens_[company.value];
  if (!kitchen.displays.contains(key)) ForgetOldest(kitchen, now_ms);
  Entry& entry = kitchen.displays[key];
  if (entry.last_ms != 0 && entry.state.stations != state.stations) Leave(kitchen, entry, now_ms);
  entry.name = std::move(name);
  if (!state.is_muted) {
    entry.muted_since.reset();
  } else if (!entry.muted_since) {
    entry.muted_since = clock_.Now();
    entry.muted_since_ms = now_ms;
  }
  entry.state = std::move(state);
  ++entry.polls;
  entry.last_ms = now_ms;
  entry.last_at = clock_.Now();
}

void Presence::End(db::CompanyId company, const EntryKey& key) {
  const std::lock_guard lock(mutex_);
  auto& displays = kitchens_[company.value].displays;
  const auto entry = displays.find(key);
  if (entry == displays.end()) return;
  entry->second.polls = std::max(entry->second.polls - 1, 0);
  entry->second.last_ms = clock_.MonotonicMs();
  entry->second.last_at = clock_.Now();
}

std::vector<Display> Presence::Displays(db::CompanyId company) {
  const int64_t now_ms = clock_.MonotonicMs();
  std::vector<Display> shown;
  const std::lock_guard lock(mutex_);
  const auto kitchen = kitchens_.find(company.value);
  if (kitchen == kitchens_.end()) return shown;
  for (const auto& [key, entry] : kitchen->second.displays) {
    if (entry.polls == 0 && now_ms - entry.last_ms > kKeptMs) continue;
    shown.push_back({.key_id = key.first,
                     .name = entry.name,
                     .display = key.second,
                     .state = entry.state,
                     .last_seen_at = entry.polls > 0 ? clock_.Now() : entry.last_at,
                     .muted_since = entry.muted_since,
                     .muted_ms = entry.muted_since ? now_ms - entry.muted_since_ms : 0,
                     .is_present = IsPresent(entry, now_ms)});
  }
  std::ranges::sort(shown, {}, [](const Display& display) {
    return std::tie(display.name, display.display, display.key_id);
  });
  return shown;
}

int64_t Presence::AbsentMs(db::CompanyId company, std::string_view station) {
  const int64_t now_ms = clock_.MonotonicMs();
  int64_t until_ms = begin_ms_;
  const std::lock_guard lock(mutex_);
  const auto kitchen = kitchens_.find(company.value);
  if (kitchen != kitchens_.end()) {
    for (const auto& [key, entry] : kitchen->second.displays) {
      if (!ShowsStation(entry.state, station)) continue;
      until_ms = std::max(until_ms, entry.polls > 0 ? now_ms : entry.last_ms + kPresentMs);
    }
    for (const std::string_view name : {station, std::string_view()}) {
      const auto left = kitchen->second.left_ms.find(name);
      if (left != kitchen->second.left_ms.end()) until_ms = std::max(until_ms, left->second);
    }
  }
  return std::max<int64_t>(now_ms - until_ms, 0);
}

bool Presence::IsWatched(db::CompanyId company, std::string_view station) {
  const int64_t now_ms = clock_.MonotonicMs();
  const std::lock_guard lock(mutex_);
  const auto kitchen = kitchens_.find(company.value);
  if (kitchen == kitchens_.end()) return false;
  return std::ranges::any_of(kitchen->second.displays, [&](const auto& display) {
    return IsPresent(display.second, now_ms) && ShowsStation(display.second.state, station);
  });
}

bool Presence::WasWatched(db::CompanyId company, std::string_view station) {
  const std::lock_guard lock(mutex_);
  const auto kitchen = kitchens_.find(company.value);
  if (kitchen == kitchens_.end()) return false;
  const auto& left_ms = kitchen->second.left_ms;
  if (left_ms.contains(station) || left_ms.contains(std::string_view())) return true;
  return std::ranges::any_of(kitchen->second.displays, [&](const auto& display) {
    return ShowsStation(display.second.state, station);
  });
}

std::vector<db::CompanyId> Presence::Companies() const {
  const std::lock_guard lock(mutex_);
  std::vector<db::CompanyId> companies;
  for (const auto& [company, kitchen] : kitchens_) companies.push_back({company});
  return companies;
}

bool Presence::empty() const {
  const std::lock_guard lock(mutex_);
  return kitchens_.empty();
}

}  // namespace comanda::kitchen
