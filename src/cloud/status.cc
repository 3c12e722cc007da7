#include "cloud/status.h"

#include <algorithm>
#include <array>

#include "base/concat.h"
#include "cloud/orders/journal_store.h"
#include "cloud/restaurant/restaurant.h"
#include "company/companies.h"
#include "events/log.h"
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

// "1 step", "412 steps".
std::string Counted(int64_t number, std::string_view one, std::string_view many) {
  return Concat({number, " ", number == 1 ? one : many});
}

// The wait that the cloud asked for, or nothing.
int64_t WaitMs(const Progressing& progress, UtcMs now) {
  return std::max<int64_t>(0, progress.next_at.value_or(now) - now);
}

// "412 steps, oldest 2 h, done in about 9 min". Nobody knows when a late order is done.
std::string DescribeBacklog(const Status& status, UtcMs now) {
  const Counts& counts = status.counts;
  std::string text = Counted(counts.steps_waiting, "step", "steps");
  if (counts.oldest) text += Concat({", oldest ", Duration(now - *counts.oldest)});
  const int64_t per_minute = status.progress.steps_per_minute;
  const int64_t on_time = counts.steps_waiting - status.steps_late;
  if (per_minute > 0 && on_time > 0) {
    const int64_t minutes = (on_time + per_minute - 1) / per_minute;
    text += Concat({", done in about ", Duration(WaitMs(status.progress, now) + minutes * 60'000)});
  }
  return text;
}

// Why the sides are not in step although the cloud answers, but for what is counted behind it.
std::vector<std::string> DescribeBehind(const Status& status, UtcMs now) {
  std::vector<std::string> parts;
  if (status.counts.steps_waiting > 0) parts.push_back(DescribeBacklog(status, now));
  if (!status.unread.empty()) parts.push_back(Describe(status.unread.front()));
  if (!status.progress.reason.empty()) parts.push_back(status.progress.reason);
  const int64_t wait_ms = WaitMs(status.progress, now);
  if (wait_ms >= 1'000) parts.push_back("asked again in " + Duration(wait_ms));
  if (status.counts.unreadable > 0) {
    parts.push_back(Counted(status.counts.unreadable, "order of the cloud is unreadable",
                            "orders of the cloud are unreadable"));
  }
  const bool is_counted = status.counts.orders_parked > 0 || !status.progress.late.empty();
  if (parts.empty() && status.progress.scans) return {"older orders are being looked at"};
  if (parts.empty() && status.has_uncompared) return {"changes are still to be compared"};
  if (parts.empty() && !status.progress.has_read_orders && status.progress.heard) {
    return {"the orders of the cloud: not read since it is reached"};
  }
  if (parts.empty() && !is_counted) return {"no answer yet"};
  return parts;
}

// A list goes on behind it.
std::string WithoutStop(std::string text) {
  if (text.ends_with('.')) text.pop_back();
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
      return "behind";
    case State::kOffline:
      return since("offline") + ": " + WithoutStop(progress.reason);
    case State::kStopped:
      return (progress.since ? since("stopped") : "stopped") + ": " + WithoutStop(progress.reason);
    case State::kPaused:
      return since("paused");
  }
  return "";
}

// THE table of what a person may do, by how the reason of a state begins (cloud/syncer.cc).
struct Remedy {
  State state;
  std::string_view reason;
  std::string_view command;
  std::string_view purpose;
};
constexpr std::string_view kLinkAgain = "comanda cloud link --url URL --key-file FILE";
constexpr std::array kRemedies = {
    Remedy{State::kPaused, "", "comanda cloud resume", "goes on"},
    Remedy{State::kStopped, "held", "comanda resume", "when the other machine is off"},
    Remedy{State::kStopped, "no key", kLinkAgain, "with a key of the same company"},
    Remedy{State::kStopped, "key refused", kLinkAgain, "with another key of the same company"},
    Remedy{State::kStopped, "key refused", "comanda cloud resume",
           "where the cloud accepts the key again"},
    Remedy{State::kStopped, "scope missing", "comanda cloud resume",
           "when the cloud has given the key that scope"},
    Remedy{State::kStopped, "", "comanda doctor", "says what is wrong with this box"},
    Remedy{State::kOffline, "certificate",
           "comanda cloud link --url URL --key-file FILE --ca-file FILE",
           "where the cloud has an authority of its own"},
    Remedy{State::kOffline, "clock", "comanda doctor", "says how to set the clock"},
    Remedy{State::kOffline, "", "comanda cloud resume", "tries at once; else it is tried again"},
};

// The first row that fits a state and how its reason begins.
struct Coded {
  State state;
  std::string_view reason;
  std::string_view code;
};
constexpr std::array kCodes = {
    Coded{State::kNotLinked, "", "not_linked"},
    Coded{State::kInStep, "", "in_step"},
    Coded{State::kBehind, "", "behind"},
    Coded{State::kPaused, "", "paused"},
    Coded{State::kOffline, "certificate", "certificate"},
    Coded{State::kOffline, "clock", "clock"},
    Coded{State::kOffline, "unreachable", "unreachable"},
    Coded{State::kOffline, "the cloud refuses connections", "unreachable"},
    Coded{State::kOffline, "", "failing"},
    Coded{State::kStopped, "held", "held"},
    Coded{State::kStopped, "no key", "key_refused"},
    Coded{State::kStopped, "key refused", "key_refused"},
    Coded{State::kStopped, "scope missing", "key_refused"},
    Coded{State::kStopped, "certificate", "certificate"},
    Coded{State::kStopped, "", "stopped"},
};

// The rows of the most specific reason.
std::vector<Advice> RemediesOf(const Progressing& progress) {
  std::vector<Advice> found;
  std::string_view reason;
  for (const Remedy& remedy : kRemedies) {
    if (remedy.state != progress.state || !progress.reason.starts_with(remedy.reason)) continue;
    if (!found.empty() && remedy.reason != reason) break;
    reason = remedy.reason;
    found.push_back({std::string(remedy.command), std::string(remedy.purpose)});
  }
  return found;
}

// Of so many late orders the ids that people use are looked up.
constexpr size_t kLateNamedMax = 20;

void AppendLate(json::Writer& out, const Status& status) {
  out.Key("late").BeginArray();
  for (const outbox::Late& late : status.progress.late) {
    out.BeginObject();
    const auto named = status.public_ids.find(late.key);
    out.Key("order_id").Text(late.key.empty() ? std::nullopt : std::optional(late.key));
    out.Key("public_id")
        .Text(named == status.public_ids.end() ? std::nullopt : std::optional(named->second));
    out.Key("since").Instant(late.since);
    out.Key("failures").Integer(late.failing.failures);
    out.Key("why").Text(late.trouble);
    out.EndObject();
  }
  out.EndArray();
}

void AppendUnread(json::Writer& out, const Status& status) {
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
}

void AppendAdvice(json::Writer& out, const Status& status) {
  out.Key("do").BeginArray();
  for (const Advice& advice : AdviceFor(status)) {
    out.BeginObject();
    out.Key("command").Text(advice.command);
    out.Key("purpose").Text(advice.purpose);
    out.EndObject();
  }
  out.EndArray();
}

void AppendLink(json::Writer& out, const Status& status) {
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
}

}  // namespace

std::vector<Advice> AdviceFor(const Status& status) {
  std::vector<Advice> advice = RemediesOf(status.progress);
  if (!status.progress.late.empty()) {
    advice.push_back({"comanda cloud retry ORDER", "tries a late order at once"});
    advice.push_back({"comanda cloud discard ORDER --reason TEXT", "gives a late order up"});
  }
  if (status.counts.orders_parked > 0) {
    advice.push_back({"comanda cloud parked", "says why nothing of these orders is sent"});
  }
  if (status.counts.differences > 0) {
    advice.push_back({"comanda cloud differences", "says what is not the same on both sides"});
  }
  return advice;
}

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
  status.has_uncompared = events::ExtentOf(session, company).last > status.linked->link.planned_seq;
  for (const outbox::Late& late : status.progress.late) {
    status.steps_late += store::StepsWaiting(session, company, late.key);
    if (late.key.empty() || status.public_ids.size() == kLateNamedMax) continue;
    const auto order = orders::Load(session, company, late.key);
    if (order) status.public_ids[late.key] = order->public_id;
  }
  const bool has_read = status.progress.has_read_orders;
  const bool is_behind = status.counts.steps_waiting > 0 || status.counts.orders_parked > 0 ||
                         status.counts.unreadable > 0 || status.progress.scans ||
                         status.has_uncompared || !status.unread.empty();
  if (status.progress.state == State::kInStep && (is_behind || !has_read)) {
    status.progress.state = State::kBehind;
  }
  return status;
}

std::string_view CodeOf(const Progressing& progress) {
  for (const Coded& row : kCodes) {
    if (row.state == progress.state && progress.reason.starts_with(row.reason)) return row.code;
  }
  return "stopped";
}

std::string Describe(const Status& status, UtcMs now) {
  std::vector<std::string> parts;
  const bool is_behind = status.progress.state == State::kBehind;
  if (is_behind) parts = DescribeBehind(status, now);
  const auto count = [&](int64_t number, std::string_view one, std::string_view many) {
    if (number > 0) parts.push_back(Counted(number, one, many));
  };
  if (!is_behind) count(status.counts.steps_waiting, "step waits", "steps wait");
  count(static_cast<int64_t>(status.progress.late.size()), "late", "late");
  count(status.counts.orders_parked, "parked", "parked");
  count(status.counts.differences, "difference", "differences");
  std::string text = DescribeState(status, now);
  for (size_t i = 0; i < parts.size(); ++i) {
    text += Concat({is_behind && i == 0 ? ": " : ", ", WithoutStop(parts[i])});
  }
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
  out.Key("next_at").Instant(WaitMs(progress, now) > 0 ? progress.next_at : std::nullopt);
  out.Key("lan").Text("ok");
  out.Key("internet").Text(net::Name(progress.internet));
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
  AppendLate(out, status);
  AppendUnread(out, status);
  AppendAdvice(out, status);
  out.Key("requests").Integer(progress.requests);
  out.Key("bytes").Integer(progress.bytes);
  AppendLink(out, status);
  out.EndObject();
  return text;
}

}  // namespace comanda::cloud
