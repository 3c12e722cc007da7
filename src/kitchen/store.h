#pragma once

// All SQL of this room. Every function runs in the caller's transaction and throws Fault where the
// engine fails.
//
// Tickets are read by two statements, however many they are up to kTicketsPerRead: their orders
// with what the kitchen keeps of each, and the lines of these orders with marks, stations and
// modifiers. Orders without lines have no ticket.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/session.h"
#include "kitchen/settings.h"
#include "kitchen/ticket.h"

namespace comanda::kitchen::store {

inline constexpr size_t kTicketsPerRead = 100;

std::optional<Ticket> FindTicket(db::Session& session, db::CompanyId company,
                                 std::string_view order_id);

// The tickets of the orders of which an event with a number above `after`, up to `last`, tells, by
// the last of them; at most `limit`, up to kTicketsPerRead.
struct Changed {
  std::vector<Ticket> tickets;
  int64_t position = 0;  // of the last event of which the tickets tell; `last` where all are here
};
Changed ChangedTickets(db::Session& session, db::CompanyId company, int64_t after, int64_t last,
                       int64_t limit);

// The tickets that can be in another state than closed at a moment, with some that are closed, in
// no particular order.
struct Moment {
  UtcMs now = 0;
  // Also those of all orders that changed within kWaitsMs, which are closed.
  bool with_closed = false;
};
std::vector<Ticket> CurrentTickets(db::Session& session, db::CompanyId company, Moment moment);
// Those on which the kitchen has written anything since that time.
std::vector<Ticket> TouchedTickets(db::Session& session, db::CompanyId company, UtcMs since);

// Writes the marks that differ and the rest that the kitchen keeps of an order.
void Save(db::Tx& tx, db::CompanyId company, const Ticket& before, const Ticket& after, UtcMs now);

// A station, with when a display last watched it, as far as that is written.
struct Station {
  std::string id, name;
  bool prepares = true;
  int64_t position = 0;
  std::optional<UtcMs> watched_at;
};
// By position.
std::vector<Station> Stations(db::Session& session, db::CompanyId company);

// The companies that have a station which a display has watched since that time.
std::vector<db::CompanyId> WatchedCompanies(db::Session& session, UtcMs since);

Settings FindSettings(db::Session& session, db::CompanyId company);
void Save(db::Tx& tx, db::CompanyId company, const Settings& settings);

// For the reset of the sandbox alone.
void DeleteAll(db::Tx& tx, db::CompanyId company);

}  // namespace comanda::kitchen::store
