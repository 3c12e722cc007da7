#include "cloud/readings.h"

#include <algorithm>
#include <utility>

#include "base/concat.h"

namespace comanda::cloud {
namespace {

constexpr int64_t kRetryFirstMs = 5'000, kRetryMaxMs = 300'000;
constexpr int64_t kDoublingsMax = 6;
constexpr int kPeriodsMax = 2;
constexpr std::string_view kOrdersSubject = "the orders";
constexpr std::string_view kSentOrdersSubject = "the orders that were sent";
constexpr std::string_view kSentMenuSubject = "the menu that was sent";

int64_t RetryMs(const Visit& visit) {
  const int64_t doublings = std::clamp<int64_t>(visit.failures - 1, 0, kDoublingsMax);
  return std::min(kRetryFirstMs << doublings, kRetryMaxMs);
}

std::optional<Unread> UnreadOf(const Visit& visit, std::string_view subject) {
  if (visit.trouble.empty()) return std::nullopt;
  return Unread{.subject = subject, .since = visit.failed_since, .trouble = visit.trouble};
}

}  // namespace

bool IsWanted(const Reading& reading, const Link& link) {
  return reading.part != kTablesPart || link.features.has_tables;
}

Visit VisitOf(const Progress& progress, std::string_view part) {
  const auto found = progress.find(part);
  return found == progress.end() ? Visit{} : found->second;
}

int64_t DueInMs(const Reading& reading, const Progress& progress, UtcMs now) {
  const Visit visit = VisitOf(progress, reading.part);
  const bool has_failed = !visit.trouble.empty();
  const UtcMs at = has_failed ? visit.failed_at : visit.at;
  // A visit in the future: the clock was put right since.
  if (at == 0 || at > now) return 0;
  return std::max<int64_t>(0, at + (has_failed ? RetryMs(visit) : reading.every_ms) - now);
}

void NoteReading(Visit& visit, std::string trouble, UtcMs now) {
  if (trouble.empty()) {
    visit = {.at = now, .etags = std::move(visit.etags)};
    return;
  }
  if (visit.trouble.empty()) visit.failed_since = now;
  visit.trouble = std::move(trouble);
  visit.failed_at = now;
  ++visit.failures;
}

void NoteMayHaveGoneBack(Progress& progress, int64_t orders, UtcMs now) {
  const auto note = [&](std::string_view part, std::string trouble) {
    Visit visit;
    NoteReading(visit, std::move(trouble), now);
    progress.insert_or_assign(std::string(part), std::move(visit));
  };
  note(kSentOrdersPart,
       Concat({orders, orders == 1 ? " order is compared" : " orders are compared"}));
  note(kSentMenuPart, "its menu is compared");
  const auto menu = progress.find(kMenuPart);
  if (menu == progress.end()) return;
  menu->second.at = 0;
  menu->second.etags.clear();
}

std::optional<UtcMs> GoneBackSince(const Link& link) {
  const Visit sent = VisitOf(link.progress, kSentOrdersPart);
  return sent.trouble.empty() ? std::nullopt : std::optional(sent.failed_since);
}

bool IsMenuToCompare(const Progress& progress) {
  return !VisitOf(progress, kSentMenuPart).trouble.empty();
}

std::vector<Unread> FindUnread(const Link& link, UtcMs now) {
  std::vector<Unread> found;
  const Visit sent = VisitOf(link.progress, kSentOrdersPart);
  if (auto unread = UnreadOf(sent, kSentOrdersSubject)) found.push_back(*std::move(unread));
  const Visit menu = VisitOf(link.progress, kSentMenuPart);
  if (auto unread = UnreadOf(menu, kSentMenuSubject)) found.push_back(*std::move(unread));
  for (const Reading& reading : kReadings) {
    if (!IsWanted(reading, link)) continue;
    const Visit visit = VisitOf(link.progress, reading.part);
    std::optional<Unread> unread = UnreadOf(visit, reading.subject);
    const bool is_overdue = visit.at != 0 && visit.at + kPeriodsMax * reading.every_ms < now;
    if (!unread && !link.progress.contains(reading.part)) {
      unread = Unread{.subject = reading.subject, .since = std::nullopt, .trouble = ""};
    } else if (!unread && is_overdue) {
      unread = Unread{.subject = reading.subject, .since = visit.at, .trouble = ""};
    }
    if (!unread) continue;
    unread->is_for_selling = reading.is_for_selling;
    found.push_back(*std::move(unread));
  }
  const Visit orders = VisitOf(link.progress, kOrdersPart);
  const bool is_followed = link.features.has_events && link.cursor;
  const bool is_overdue =
      !is_followed && orders.at != 0 && orders.at + kPeriodsMax * kRecentOrdersEveryMs < now;
  if (auto unread = UnreadOf(orders, kOrdersSubject)) {
    found.push_back(*std::move(unread));
  } else if (is_overdue) {
    found.push_back({.subject = kOrdersSubject, .since = orders.at, .trouble = ""});
  }
  return found;
}

std::string Describe(const Unread& unread) {
  const bool is_of_gone_back =
      unread.subject == kSentOrdersSubject || unread.subject == kSentMenuSubject;
  if (is_of_gone_back && unread.since) {
    return Concat({"the cloud may have gone back to an earlier time, noticed ",
                   FormatInstant(*unread.since), ": ", unread.trouble});
  }
  if (!unread.since) return Concat({unread.subject, " of the cloud: not read yet"});
  if (unread.trouble.empty()) {
    return Concat({unread.subject, " of the cloud: not read since ", FormatInstant(*unread.since)});
  }
  return Concat({unread.subject, " of the cloud cannot be read since ",
                 FormatInstant(*unread.since), ": ", unread.trouble});
}

}  // namespace comanda::cloud
