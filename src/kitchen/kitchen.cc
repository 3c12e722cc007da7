#include "kitchen/kitchen.h"

#include <algorithm>
#include <utility>

#include "base/problem.h"
#include "events/log.h"
#include "kitchen/json.h"
#include "kitchen/rules.h"
#include "kitchen/store.h"
#include "orders/orders.h"

namespace comanda::kitchen {
namespace {

Refusal NoTicket(std::string_view key) {
  return Refusal(Problem::kNotFound,
                 "there is no order " + std::string(key) + ", or it has no lines");
}

Ticket Open(db::Tx& tx, const Target& target) {
  if (const auto id = orders::FindUuid(tx, target.company, target.key)) {
    if (auto ticket = store::FindTicket(tx, target.company, *id)) return *std::move(ticket);
  }
  throw NoTicket(target.key);
}

// The lines of the ticket with these ids. Refusal not_found for an id that is none of them.
std::vector<Line*> LinesNamed(Ticket& ticket, std::span<const std::string> ids) {
  json::Errors errors;
  std::vector<Line*> lines;
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto line = std::ranges::find(ticket.lines, ids[i], &Line::id);
    if (line == ticket.lines.end()) {
      errors.Add("line_ids[" + std::to_string(i) + "]", FieldCode::kNotFound,
                 "is not the id of a line of this order");
    } else {
      lines.push_back(&*line);
    }
  }
  errors.ThrowIfAny();
  return lines;
}

// The order's own event is written by orders::Advance().
void MoveOrder(db::Tx& tx, const Target& target, const Ticket& moved, const db::Stamp& stamp) {
  const orders::Record record = orders::Advance(tx,
                                                {.company = target.company,
                                                 .key = moved.order_id,
                                                 .actor = target.actor,
                                                 .company_uuid = target.company_uuid},
                                                moved.status, stamp);
  if (record.version == moved.order_version) return;
  throw Fault(Fault::Kind::kInternal,
              "the ticket of order " + moved.order_id + " tells of another version");
}

// Appends the ticket's event with that body.
events::Appended Tell(db::Tx& tx, db::CompanyId company, const std::string& company_uuid,
                      const Ticket& ticket, events::Changes changes, std::string_view body,
                      const db::Stamp& stamp) {
  return events::Append(tx, company, stamp,
                        {.company_uuid = company_uuid,
                         .type = events::Type::kTicketUpdated,
                         .changes = changes,
                         .subject_id = ticket.order_id,
                         .subject_version = ticket.revision(),
                         .body = body});
}

// The end of every command that changes the ticket.
Record Write(db::Tx& tx, const Target& target, const Ticket& before, Ticket after,
             events::Changes changes, std::optional<orders::Status> status,
             const db::Stamp& stamp) {
  ++after.writes;
  store::Save(tx, target.company, before, after, stamp.now);
  if (status) Move(after, *status, stamp.now);
  const std::string told = Render(after, Form::kStateIfClosed, stamp.now);
  const events::Appended event =
      Tell(tx, target.company, target.company_uuid, after, changes, told, stamp);
  if (status) MoveOrder(tx, target, after, stamp);
  std::string whole = Render(after, Form::kWhole, stamp.now);
  const bool is_told = whole == told;
  return {std::move(whole), is_told ? std::optional(event.seq) : std::nullopt};
}

Record Unchanged(const Ticket& ticket, const db::Stamp& stamp) {
  return {Render(ticket, Form::kWhole, stamp.now), std::nullopt};
}

}  // namespace

Record MarkDone(db::Tx& tx, const Target& target, std::span<const std::string> line_ids,
                const db::Stamp& stamp) {
  const Ticket before = Open(tx, target);
  Ticket after = before;
  bool is_changed = false;
  for (Line* const line : LinesNamed(after, line_ids)) {
    if (kitchen::MarkDone(*line, stamp.now, target.by)) is_changed = true;
  }
  if (!is_changed) return Unchanged(before, stamp);
  events::Changes changes;
  changes.Add(events::Change::kLines);
  const auto status = StatusAfterMarks(before, after, stamp.now);
  return Write(tx, target, before, std::move(after), changes, status, stamp);
}

Record Undo(db::Tx& tx, const Target& target, std::span<const std::string> line_ids,
            const db::Stamp& stamp) {
  const Ticket before = Open(tx, target);
  Ticket after = before;
  const std::vector<Line*> lines = LinesNamed(after, line_ids);
  events::Changes changes;
  if (EndOut(after)) changes.Add(events::Change::kOut);
  for (Line* const line : lines) {
    if (kitchen::Undo(after, *line, stamp.now)) changes.Add(events::Change::kLines);
  }
  if (changes.empty()) return Unchanged(before, stamp);
  return Write(tx, target, before, std::move(after), changes, std::nullopt, stamp);
}

Record Start(db::Tx& tx, const Target& target, const db::Stamp& stamp) {
  Ticket ticket = Open(tx, target);
  if (ticket.status != orders::Status::kPending) return Unchanged(ticket, stamp);
  Move(ticket, orders::Status::kPreparing, stamp.now);
  MoveOrder(tx, target, ticket, stamp);
  return Unchanged(ticket, stamp);
}

Record Rush(db::Tx& tx, const Target& target, bool on, const db::Stamp& stamp) {
  const Ticket before = Open(tx, target);
  Ticket after = before;
  if (!kitchen::Rush(after, on, stamp.now)) return Unchanged(before, stamp);
  events::Changes changes;
  changes.Add(events::Change::kRush);
  return Write(tx, target, before, std::move(after), changes, std::nullopt, stamp);
}

Record SendOut(db::Tx& tx, const Target& target, const db::Stamp& stamp) {
  const Ticket before = Open(tx, target);
  Ticket after = before;
  if (!kitchen::SendOut(after, stamp.now)) return Unchanged(before, stamp);
  events::Changes changes;
  changes.Add(events::Change::kOut);
  const auto status = StatusAfterOut(before);
  return Write(tx, target, before, std::move(after), changes, status, stamp);
}

void NoteStations(db::Tx& tx, db::CompanyId company, const std::string& company_uuid,
                  std::span<const std::string> switched, const db::Stamp& stamp) {
  events::RaiseCounter(tx, company, events::Counter::kKitchen);
  if (switched.empty()) return;
  events::Changes changes;
  changes.Add(events::Change::kLines);
  for (Ticket& after :
       store::CurrentTickets(tx, company, {.now = stamp.now, .with_closed = true})) {
    Ticket before = after;
    for (Line& line : before.lines) {
      const bool is_switched =
          line.station_id && std::ranges::find(switched, *line.station_id) != switched.end();
      if (is_switched) line.is_prepared = !line.is_prepared;
    }
    if (Render(before, Form::kStateIfClosed, stamp.now) ==
        Render(after, Form::kStateIfClosed, stamp.now)) {
      continue;
    }
    ++after.writes;
    store::Save(tx, company, before, after, stamp.now);
    Tell(tx, company, company_uuid, after, changes, Render(after, Form::kStateIfClosed, stamp.now),
         stamp);
  }
}

Settings FindSettings(db::Session& session, db::CompanyId company) {
  return store::FindSettings(session, company);
}

void Set(db::Tx& tx, db::CompanyId company, const Settings& settings) {
  if (settings == store::FindSettings(tx, company)) return;
  store::Save(tx, company, settings);
  events::RaiseCounter(tx, company, events::Counter::kKitchen);
}

void EraseAll(db::Tx& tx, db::CompanyId company) { store::DeleteAll(tx, company); }

}  // namespace comanda::kitchen
