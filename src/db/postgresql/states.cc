#include "db/postgresql/states.h"

#include <algorithm>
#include <array>

namespace comanda::db {
namespace {

struct Row {
  std::string_view code;  // a class of two characters, or a whole SQLSTATE
  State state;
};

constexpr State kWell = {Trouble::kNone, Next::kNothing};
constexpr State kOfStatement = {Trouble::kOwn, Next::kStatement};
constexpr State kOnceMore = {Trouble::kPassing, Next::kAgain};
constexpr State kUnavailable = {Trouble::kPassing, Next::kRefuse};
constexpr State kLost = {Trouble::kPassing, Next::kReconnect};
constexpr State kCorrupt = {Trouble::kDamaged, Next::kDamage};

// Sorted, so that a class stands before its conditions.
constexpr std::array kRows = {
    Row{"00", kWell},         // successful completion
    Row{"01", kWell},         // warning; those on COMMIT are the owner's to read
    Row{"02", kWell},         // no data
    Row{"03", kOfStatement},  // SQL statement not yet complete
    Row{"08", kLost},         // connection exception; 08P01, protocol violation: a pooler between
    Row{"09", kOfStatement},  // triggered action exception
    // Feature not supported. Also "cached plan must not change result type", after a column was
    // changed by hand: that statement fails on this connection for as long as it lives, so a
    // connection with newly prepared statements is the remedy. Of others it costs a reconnect.
    Row{"0A", {Trouble::kOwn, Next::kReconnect}},
    Row{"0B", kOfStatement},  // invalid transaction initiation
    Row{"0F", kOfStatement},  // locator exception
    Row{"0L", kOfStatement},  // invalid grantor
    Row{"0P", kOfStatement},  // invalid role specification
    Row{"0Z", kOfStatement},  // diagnostics exception
    Row{"10", kOfStatement},  // XQuery error, of later versions
    Row{"20", kOfStatement},  // case not found
    Row{"21", kOfStatement},  // cardinality violation
    Row{"22", kOfStatement},  // data exception: a value that the statement cannot take
    Row{"23", kOfStatement},  // integrity constraint violation
    Row{"24", kOfStatement},  // invalid cursor state
    // Invalid transaction state. The transaction of this connection is not the one that the program
    // believes to be in: a new connection has none.
    Row{"25", kLost},
    // The primary became a standby while the connection stayed open, or an operator has set
    // default_transaction_read_only. Connecting looks for the host that takes writes.
    Row{"25006", {Trouble::kReadOnly, Next::kReconnect}},
    // What follows a failed statement in its transaction: the first one says what is wrong.
    Row{"25P02", kOfStatement},
    // A prepared statement is gone: DISCARD ALL by hand, or a pooler in transaction mode.
    Row{"26", kLost}, Row{"27", kOfStatement},  // triggered data change violation
    Row{"28", kLost},         // invalid authorisation: a password that changes, pg_hba.conf
    Row{"2B", kOfStatement},  // dependent privilege descriptors still exist
    Row{"2D", kOfStatement},  // invalid transaction termination
    Row{"2F", kOfStatement},  // SQL routine exception
    Row{"34", kOfStatement},  // invalid cursor name
    Row{"38", kOfStatement},  // external routine exception
    Row{"39", kOfStatement},  // external routine invocation exception
    Row{"3B", kOfStatement},  // savepoint exception
    Row{"3D", kLost},         // invalid catalog name: the database is not there, or not yet
    Row{"3F", kOfStatement},  // invalid schema name
    Row{"40", kOnceMore},     // transaction rollback: 40001 serialisation failure, 40P01 deadlock
    // A deferred constraint failed at COMMIT; it would again.
    Row{"40002", kOfStatement}, Row{"40003", kLost},  // statement completion unknown
    Row{"42", kOfStatement},  // a mistake in the SQL, a missing table or right
    Row{"44", kOfStatement},  // WITH CHECK OPTION violation
    // Insufficient resources, of the server or of this session's share.
    Row{"53", kUnavailable},
    // Disk full. Space that an operator or the archiver makes ends it.
    Row{"53100", {Trouble::kFull, Next::kRefuse}},
    // Too many connections: said while connecting, so there is no connection to keep.
    Row{"53300", kLost},
    Row{"54", kOfStatement},  // program limit exceeded: a statement too complex, a row too large
    // Object not in prerequisite state. Advisory locks and the like in a server in recovery.
    Row{"55", kOfStatement}, Row{"55006", kOnceMore},  // object in use
    Row{"55P03", kOnceMore},  // lock not available: lock_timeout, or NOWAIT
    // Operator intervention: 57P01 terminated or shut down, 57P02 another process crashed, 57P03
    // starting or stopping, 57P04 the database dropped, 57P05 idle for too long.
    Row{"57", kLost},
    // Query cancelled: statement_timeout, or an operator. Not again at once: it would take as long.
    Row{"57014", kUnavailable},
    Row{"58", kUnavailable},  // system error: no process, no file handle
    // The server could not read or write a file. One that fails to sync its log ends itself, and
    // comes back as a lost connection.
    Row{"58030", {Trouble::kIo, Next::kDamage}},
    Row{"58P01", kCorrupt},   // undefined file: a file of a table or of the log is missing
    Row{"72", kOnceMore},     // snapshot too old
    Row{"F0", kUnavailable},  // configuration file error
    Row{"HV", kOfStatement},  // foreign data wrapper error
    Row{"P0", kOfStatement},  // PL/pgSQL error: a trigger that somebody else has made
    Row{"XX", kOfStatement},  // internal error, which proves no damage
    Row{"XX001", kCorrupt},   // data corrupted
    Row{"XX002", kCorrupt},   // index corrupted
};

constexpr bool IsBefore(const Row& row, std::string_view code) { return row.code < code; }

constexpr bool IsWellFormed() {
  for (size_t i = 0; i < kRows.size(); ++i) {
    const std::string_view code = kRows[i].code;
    if (code.size() != 2 && code.size() != 5) return false;
    if (i > 0 && kRows[i - 1].code >= code) return false;
  }
  return true;
}
static_assert(IsWellFormed(), "each code once, and sorted");

const Row* Find(std::string_view code) {
  const auto row = std::lower_bound(kRows.begin(), kRows.end(), code, IsBefore);
  return row != kRows.end() && row->code == code ? &*row : nullptr;
}

bool IsSqlstate(std::string_view text) {
  return text.size() == 5 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
         });
}

}  // namespace

State StateOf(std::string_view sqlstate) {
  if (!IsSqlstate(sqlstate)) return kLost;
  if (const Row* row = Find(sqlstate)) return row->state;
  if (const Row* row = Find(sqlstate.substr(0, 2))) return row->state;
  return kOfStatement;
}

bool HasRow(std::string_view code) { return Find(code); }

}  // namespace comanda::db
