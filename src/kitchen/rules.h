#pragma once

// What follows from a ticket at a time (contract section 20), and what the kitchen's marks do to
// the order. Pure.

#include <optional>
#include <string_view>

#include "kitchen/ticket.h"

namespace comanda::kitchen {

inline constexpr int64_t kMinuteMs = 60'000;
// An older line does not wait any more: of an order that was left open for days.
inline constexpr int64_t kWaitsMs = 12 * 60 * kMinuteMs;
// How long a ticket is ready, or cancelled, if nobody touches it.
inline constexpr int64_t kShownMs = 60 * kMinuteMs;
// The age of a line counts from its addition, or, of a scheduled order, from its time: else an
// order for tomorrow night would never be shown.
UtcMs AgeBegins(const Ticket& ticket, const Line& line);

// Unless the line is cancelled, or its station prepares nothing.
bool Counts(const Line& line);
// Whether the kitchen has still to make it: it counts, has no mark, is not too old, and was added,
// or called back, after the dishes of the order were last called ready or had left.
bool Waits(const Ticket& ticket, const Line& line, UtcMs now);
bool AnyWaits(const Ticket& ticket, UtcMs now);

State StateAt(const Ticket& ticket, UtcMs now);
// When the dishes left the kitchen; nothing if a line was added since.
std::optional<UtcMs> OutAt(const Ticket& ticket);
// When its first line was added. The ticket has lines.
UtcMs OpenedAt(const Ticket& ticket);
// The newest mark.
std::optional<UtcMs> LastMark(const Ticket& ticket);
// The next moment after `now` at which time alone may change the state, or which lines wait;
// nothing if none will.
std::optional<UtcMs> NextMoment(const Ticket& ticket, UtcMs now);

// Commands on a ticket. Each changes the ticket in memory, and returns whether it changed anything.

// Marks the line; false where it has a mark.
bool MarkDone(Line& line, UtcMs now, std::string_view by);
bool EndOut(Ticket& ticket);
// Takes the mark of a line of the ticket back; calls back one without a mark that does not wait,
// because it was called ready. After EndOut().
bool Undo(Ticket& ticket, Line& line, UtcMs now);
bool Rush(Ticket& ticket, bool on, UtcMs now);
bool SendOut(Ticket& ticket, UtcMs now);

// What the order's status becomes by marks that turned `before` into `after`; nothing: it stays. A
// mark on a line that does not count, or on a closed order, only says that it was seen.
std::optional<orders::Status> StatusAfterMarks(const Ticket& before, const Ticket& after,
                                               UtcMs now);
// The same by `out`.
std::optional<orders::Status> StatusAfterOut(const Ticket& before);
// The ticket's part of a move of the order to a later status of its life.
void Move(Ticket& ticket, orders::Status status, UtcMs now);

}  // namespace comanda::kitchen
