#include "cloud/status.h"

#include <algorithm>

#include "base/concat.h"
#include "cloud/journal_store.h"
#include "cloud/restaurant.h"
#include "company/companies.h"
#include "json/writer.h"
#include "orders/orders.h"

namespace comanda::cloud {
namespace {

std::string_view Name(State state) {
  switch (state) {
    case State::kNotLinked:
      return "not linked";
    case State::kInStep:
      return "in step";
    case State::kBehind:
      return "behind";
    case State::kOffline:
      return "offline";
    case State::kStopped:
      return "stopped";
    case State::kPaused:
      return "paused";
  }
  return "";
}

// "3 s", "12 min", "2 h", "3 d".
std::string Duration(int64_t ms) {
  const int64_t seconds = std::max<int64_t>(ms, 0) / 1'000;
  if (seconds < 120) return Concat({seconds, " s"});
  if (seconds < 120 * 60) return Concat({seconds / 60, " min"});
  if (seconds < 48 * 3'600) return Concat({seconds / 3'600, " h"});
  return Concat({seconds / 86'400, " d"});
}

// "412 steps, oldest 2 h, done in about 9 min".
std::string DescribeBacklog(const Status& status, UtcMs now) {
  const Counts& counts = status.counts;
  if (counts.steps_waiting == 0) {
    if (!status.unread.empty()) return Describe(status.unread.front());
    return status.progress.scans ? "older orders are being looked at" : "no answer yet";
  }
  std::string text = Concat({counts.steps_waiting, counts.steps_waiting == 1 ? " step" : " steps"});
  if (counts.oldest) text += Concat({", oldest ", Duration(now - *counts.oldest)});
  const int64_t per_minute = status.progress.steps_per_minute;
  if (per_minute > 0) {
    const int64_t minutes = (counts.steps_waiting + per_minute - 1) / per_minute;
    text += Concat({", done in about ", Duration(minutes * 60'000)});
  }
  return text;
}

std::string DescribeState(const Status& status, UtcMs now) {
  const Progressing& progress = status.progress;
  const auto since = [&](std::string_view word) {
    return Concat({word, " since ", progress.since ? FormatInstant(*progress.since) : "the start"});
  };
  switch (progress.state) {
    case State::kNotLinked:
      return "not linked to a cloud";
    case State::kInStep:
      return "in step, " + Duration(now - progress.heard.value_or(now)) + " ago";
    case State::kBehind:
      return "behind: " + DescribeBacklog(status, now);
    case State::kOffline:
      return since("offline") + ": " + progress.reason;
    case State::kStopped:
      return "stopped: " + progress.reason;
    case State::kPaused:
      return since("paused");
  }
  return "";
}

}  // namespace

Status FindStatus(db::Session& session, Progressing progress, UtcMs now) {
  Status status{.progress = std::move(progress), .linked = FindLinked(session)};
  if (!status.linked) {
    status.progress.state = State::kNotLinked;
    return status;
  }
  if (status.progress.state == State::kNotLinked) status.progress.state = State::kBehind;
  const db::CompanyId company = status.linked->company;
  status.counts = store::Count(session, company);
  // The worker may not have seen yet that the order was discarded.
  std::erase_if(status.progress.late, [&](const outbox::Late& late) {
    return !store::IsWaiting(session, company, late.key);
  });
  status.other_channels = orders::CountOfOtherChannels(session, company);
  status.unpaired = CountUnpaired(session, company);
  // What is to be sent of orders from before the link is not known before they were looked at.
  status.progress.scans = status.linked->link.scanned_id.has_value();
  status.unread = FindUnread(status.linked->link, now);
  const bool is_behind =
      status.counts.steps_waiting > 0 || status.progress.scans || !status.unread.empty();
  if (status.progress.state == State::kInStep && is_behind) {
    status.progress.state = State::kBehind;
  }
  return status;
}

std::string Describe(const Status& status, UtcMs now) {
  std::string text = DescribeState(status, now);
  const auto count = [&](int64_t number, std::string_view what) {
    if (number > 0) text += Concat({", ", number, " ", what});
  };
  const bool names_backlog = status.progress.state == State::kBehind;
  if (!names_backlog) count(status.counts.steps_waiting, "steps wait");
  if (names_backlog && status.counts.steps_waiting > 0 && !status.unread.empty()) {
    text += ", " + Describe(status.unread.front());
  }
  count(static_cast<int64_t>(status.progress.late.size()), "late");
  count(status.counts.orders_parked, "parked");
  count(status.counts.differences, "differences");
  return text;
}

std::string ToJson(const Status& status, UtcMs now) {
  const Progressing& progress = status.progress;
  std::string text;
  json::Writer out(text);
  out.BeginObject();
  out.Key("state").Text(Name(progress.state));
  out.Key("description").Text(Describe(status, now));
  out.Key("reason").Text(progress.reason.empty() ? std::nullopt : std::optional(progress.reason));
  out.Key("since").Instant(progress.since);
  out.Key("lan").Text("ok");
  out.Key("internet").Text(progress.is_reached ? "ok" : "unreachable");
  out.Key("cloud").Text(Name(progress.state));
  out.Key("heard_at").Instant(progress.heard);
  out.Key("steps_waiting").Integer(status.counts.steps_waiting);
  out.Key("oldest").Instant(status.counts.oldest);
  out.Key("steps_per_minute").Integer(progress.steps_per_minute);
  out.Key("orders_parked").Integer(status.counts.orders_parked);
  out.Key("differences").Integer(status.counts.differences);
  out.Key("other_channels").Integer(status.other_channels);
  out.Key("unpaired").BeginObject();
  for (const auto& [kind, number] : status.unpaired) out.KeyOf(kind).Integer(number);
  out.EndObject();
  out.Key("late").BeginArray();
  for (const outbox::Late& late : progress.late) {
    out.BeginObject();
    out.Key("order_id").Text(late.key.empty() ? std::nullopt : std::optional(late.key));
    out.Key("since").Instant(late.since);
    out.Key("failures").Integer(late.failing.failures);
    out.Key("why").Text(late.trouble);
    out.EndObject();
  }
  out.EndArray();
  out.Key("unread").BeginArray();
  for (const Unread& unread : status.unread) {
    out.BeginObject();
    out.Key("what").Text(unread.subject);
    out.Key("description").Text(Describe(unread));
    out.Key("since").Instant(unread.since);
    out.Key("why").Text(unread.trouble.empty() ? std::nullopt : std::optional(unread.trouble));
    out.Key("stops_selling").Boolean(unread.is_for_selling);
    out.EndObject();
  }
  out.EndArray();
  out.Key("requests").Integer(progress.requests);
  out.Key("bytes").Integer(progress.bytes);
  const Link link = status.linked ? status.linked->link : Link{};
  const auto text_of = [](const std::string& value) {
    return value.empty() ? std::nullopt : std::optional(value);
  };
  out.Key("url").Text(text_of(link.url));
  out.Key("cloud_company_id").Text(text_of(link.cloud_company_id));
  out.Key("linked_at").Instant(status.linked ? std::optional(link.linked_at) : std::nullopt);
  out.Key("orders_since").Instant(link.since);
  out.Key("is_scanning").Boolean(link.scanned_id.has_value());
  out.Key("follows_events").Boolean(link.features.has_events);
  out.Key("takes_dates").Boolean(link.features.takes_dates);
  out.Key("read_at").BeginObject();
  for (const auto& [kind, visit] : link.progress) out.KeyOf(kind).Instant(visit.at);
  out.EndObject();
  out.EndObject();
  return text;
}

}  // namespace comanda::cloud
