#pragma once

// What the kitchen does with an order (contract section 20): the face of this room.
//
// The functions that take a Tx are commands. A command runs in the caller's transaction and depends
// on nothing but (tx, input, stamp). It checks, in this order: the order has a ticket (not_found);
// the lines are the ticket's (validation_failed). Then it writes what differs, appends one
// TICKET_UPDATED, and moves the order's status by orders::Advance(), the way that everybody uses,
// which appends its own event. A command that would change nothing writes nothing.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "db/session.h"
#include "kitchen/settings.h"
#include "kitchen/ticket.h"

namespace comanda::kitchen {

// The order of the ticket, and who changes it.
struct Target {
  db::CompanyId company;
  std::string company_uuid;
  std::string key;    // as orders::NormalisedKey() returns it
  std::string actor;  // orders/permission.h
  std::string by;     // the name of the key: Line::done_by
};

// The ticket after a command.
struct Record {
  std::string json;  // whole
  // Of the event whose body is that; nothing: no such event was written.
  std::optional<int64_t> event_seq;
};

Record MarkDone(db::Tx& tx, const Target& target, std::span<const std::string> line_ids,
                const db::Stamp& stamp);
Record Undo(db::Tx& tx, const Target& target, std::span<const std::string> line_ids,
            const db::Stamp& stamp);
// Moves PENDING to PREPARING. No TICKET_UPDATED.
Record Start(db::Tx& tx, const Target& target, const db::Stamp& stamp);
Record Rush(db::Tx& tx, const Target& target, bool on, const db::Stamp& stamp);
Record SendOut(db::Tx& tx, const Target& target, const db::Stamp& stamp);

// After stations were written: raises the kitchen's change counter. Of `switched` it has changed
// whether anything is made there (Station::prepares): appends a TICKET_UPDATED for each ticket that
// this changes. No order moves: as where the till cancels the last line that waits.
void NoteStations(db::Tx& tx, db::CompanyId company, const std::string& company_uuid,
                  std::span<const std::string> switched, const db::Stamp& stamp);

Settings FindSettings(db::Session& session, db::CompanyId company);
// Raises the kitchen's change counter where they differ from those of before.
void Set(db::Tx& tx, db::CompanyId company, const Settings& settings);

// Deletes all that the kitchen has written of a company. For the reset of the sandbox alone.
void EraseAll(db::Tx& tx, db::CompanyId company);

}  // namespace comanda::kitchen
