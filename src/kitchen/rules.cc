#include "kitchen/rules.h"

#include <algorithm>

#include "orders/lifecycle.h"

namespace comanda::kitchen {
namespace {

using orders::Status;

// All was called ready, or has left: a line that was added since, or called back since, waits.
// Taking a mark back ends `out`: where there is one, it came later.
bool IsSinceCall(const Ticket& ticket, const Line& line, size_t position) {
  const std::optional<Call>& call = ticket.call;
  if (line.undone_moves) {
    return !ticket.last_out_at && (!call || call->move < *line.undone_moves);
  }
  if (ticket.last_out_at && position < ticket.out_lines) return false;
  if (!call) return true;
  return call->lines ? static_cast<int64_t>(position) >= *call->lines : line.added_at > call->at;
}

size_t PositionOf(const Ticket& ticket, const Line& line) {
  return static_cast<size_t>(&line - ticket.lines.data());
}

bool AnyCounts(const Ticket& ticket) { return std::ranges::any_of(ticket.lines, Counts); }

bool IsUnmarked(const Line& line) { return Counts(line) && !line.done_at; }

// The end of the time for which the ticket is ready.
UtcMs ReadyUntil(const Ticket& ticket) {
  return std::max(ticket.moved_at, LastMark(ticket).value_or(ticket.moved_at)) + kShownMs;
}

}  // namespace

UtcMs AgeBegins(const Ticket& ticket, const Line& line) {
  return std::max(line.added_at, ticket.scheduled_for.value_or(line.added_at));
}

bool Counts(const Line& line) { return !line.canceled_at && line.is_prepared; }

bool Waits(const Ticket& ticket, const Line& line, UtcMs now) {
  return ticket.status != Status::kCancelled && IsUnmarked(line) &&
         now < AgeBegins(ticket, line) + kWaitsMs &&
         IsSinceCall(ticket, line, PositionOf(ticket, line));
}

bool AnyWaits(const Ticket& ticket, UtcMs now) {
  return std::ranges::any_of(ticket.lines,
                             [&](const Line& line) { return Waits(ticket, line, now); });
}

State StateAt(const Ticket& ticket, UtcMs now) {
  if (ticket.status == Status::kCancelled) {
    const bool is_news = !OutAt(ticket) && now < ticket.canceled_at.value_or(0) + kShownMs &&
                         std::ranges::any_of(ticket.lines, IsUnmarked);
    return is_news ? State::kCancelled : State::kClosed;
  }
  if (AnyWaits(ticket, now)) {
    const bool is_later = ticket.scheduled_for && *ticket.scheduled_for - now > ticket.lead_ms;
    return is_later ? State::kLater : State::kOpen;
  }
  const bool is_ready = ticket.status <= Status::kReady && AnyCounts(ticket) && !OutAt(ticket) &&
                        now < ReadyUntil(ticket);
  return is_ready ? State::kReady : State::kClosed;
}

std::optional<UtcMs> OutAt(const Ticket& ticket) {
  return ticket.lines.size() > ticket.out_lines ? std::nullopt : ticket.last_out_at;
}

UtcMs OpenedAt(const Ticket& ticket) { return ticket.lines.front().added_at; }

std::optional<UtcMs> LastMark(const Ticket& ticket) {
  std::optional<UtcMs> last;
  for (const Line& line : ticket.lines) last = std::max(last, line.done_at);
  return last;
}

std::optional<UtcMs> NextMoment(const Ticket& ticket, UtcMs now) {
  std::optional<UtcMs> next;
  const auto note = [&](UtcMs moment) {
    if (moment > now && (!next || moment < *next)) next = moment;
  };
  if (ticket.canceled_at) note(*ticket.canceled_at + kShownMs);
  if (ticket.scheduled_for) note(*ticket.scheduled_for - ticket.lead_ms);
  note(ReadyUntil(ticket));
  for (const Line& line : ticket.lines) {
    if (IsUnmarked(line)) note(AgeBegins(ticket, line) + kWaitsMs);
  }
  return next;
}

bool MarkDone(Line& line, UtcMs now, std::string_view by) {
  if (line.done_at) return false;
  line.done_at = now;
  line.done_by = std::string(by);
  line.undone_moves.reset();
  return true;
}

bool Undo(Ticket& ticket, Line& line, UtcMs now) {
  const std::optional<int64_t> former = line.undone_moves;
  if (!line.done_at && Waits(ticket, line, now)) return false;
  line.undone_moves = ticket.moves;
  if (line.done_at) {
    line.done_at.reset();
    line.done_by.reset();
    return true;
  }
  if (Waits(ticket, line, now)) return true;
  line.undone_moves = former;
  return false;
}

bool EndOut(Ticket& ticket) {
  if (!ticket.last_out_at) return false;
  ticket.last_out_at.reset();
  ticket.out_lines = 0;
  return true;
}

bool Rush(Ticket& ticket, bool on, UtcMs now) {
  if (ticket.rush_at.has_value() == on) return false;
  ticket.rush_at = on ? std::optional(now) : std::nullopt;
  return true;
}

bool SendOut(Ticket& ticket, UtcMs now) {
  if (OutAt(ticket)) return false;
  ticket.last_out_at = now;
  ticket.out_lines = ticket.lines.size();
  return true;
}

std::optional<Status> StatusAfterMarks(const Ticket& before, const Ticket& after, UtcMs now) {
  if (orders::IsClosed(before.status)) return std::nullopt;
  bool is_marked = false;   // a line that counts
  bool has_waited = false;  // and one of these has waited
  for (size_t i = 0; i < before.lines.size(); ++i) {
    if (before.lines[i].done_at || !after.lines[i].done_at || !Counts(before.lines[i])) continue;
    is_marked = true;
    has_waited = has_waited || Waits(before, before.lines[i], now);
  }
  Status status = before.status;
  if (is_marked) status = std::max(status, Status::kPreparing);
  if (has_waited && !AnyWaits(after, now)) status = std::max(status, Status::kReady);
  return status == before.status ? std::nullopt : std::optional(status);
}

std::optional<Status> StatusAfterOut(const Ticket& before) {
  return before.status < Status::kReady ? std::optional(Status::kReady) : std::nullopt;
}

void Move(Ticket& ticket, Status status, UtcMs now) {
  ticket.moves += orders::Rank(status) - orders::Rank(ticket.status);
  ticket.status = status;
  ticket.moved_at = std::max(ticket.moved_at, now);
  ++ticket.order_version;
  if (status != Status::kReady && status != Status::kDelivered) return;
  ticket.call = Call{ticket.moves - 1, now, static_cast<int64_t>(ticket.lines.size())};
}

}  // namespace comanda::kitchen
