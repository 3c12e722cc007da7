#pragma once

// THE table of PostgreSQL's error codes (SQLSTATE, appendix A of its manual): what an error means
// (Trouble) and what the upkeep of the connection does about it (Next). Five characters: a class of
// two and a condition of three. A condition without a row of its own has its class's. Pure, any
// thread.

#include <cstdint>
#include <string_view>

#include "db/trouble.h"

namespace comanda::db {

enum class Next : uint8_t {
  // No error: success, a warning, no row.
  kNothing,
  // The error belongs to the statement: its job fails alone. The connection and the others go on.
  kStatement,
  // The transaction lost against another one, and may succeed if its jobs run again as they are.
  kAgain,
  // The server lacks what the statement needs: 503 for its job. The connection stays, and later
  // jobs try again, so that this ends by itself.
  kRefuse,
  // This connection serves no more, or the server is no primary: it is closed, and opened to
  // whichever host takes writes. The outcome of a COMMIT that was under way is then looked up by
  // its number.
  kReconnect,
  // The server cannot read what it stored: the job fails, and the rows are checked soon
  // (Settings::suspect).
  kDamage,
  // This process is no longer the owner: it ends with status 70 and starts again as a standby. No
  // SQLSTATE says so; the row of the owner does.
  kEnd,
};

// What one SQLSTATE leads to.
struct State {
  Trouble trouble;
  Next next;

  bool operator==(const State&) const = default;
};

// `sqlstate` as the server sent it; empty where libpq itself failed without an answer of a server
// (connection lost, no host reached): reconnect. The same for what is no SQLSTATE, which no
// PostgreSQL sends. A class that the table does not know is the statement's own.
State StateOf(std::string_view sqlstate);

// Whether the table has a row for this class or this whole SQLSTATE.
bool HasRow(std::string_view code);

}  // namespace comanda::db
