#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/problem.h"

namespace comanda::db {

// What a failure means for what comes next; a later one is worse.
enum class Trouble : uint8_t {
  kNone,
  kOwn,       // the statement's own: a constraint, a mistake in the SQL, a value too large
  kPassing,   // busy, interrupted, short of memory: the next try may succeed
  kFull,      // no space on the disk
  kReadOnly,  // the file system refuses all writes (db/read_only.h)
  kUnread,    // the disk failed a read: the next try may succeed
  kIo,        // the disk failed a write or a sync
  kDamaged,   // the file is not what it was: corrupt, no database, not writable for this user
};

// True where the disk itself failed, so that the open file can no longer be trusted.
inline bool DiskFailed(Trouble trouble) { return trouble >= Trouble::kUnread; }

// True where a page could not be read, or made no sense.
inline bool PageUnreadable(Trouble trouble) {
  return trouble == Trouble::kUnread || trouble == Trouble::kDamaged;
}

// For a value that the schema does not allow: only damage puts it there.
[[noreturn]] inline void ThrowNot(std::string_view type, std::string_view sql, int column) {
  throw Fault(Fault::Kind::kDamaged, "column " + std::to_string(column) + " is no " +
                                         std::string(type) + ": " + std::string(sql));
}

}  // namespace comanda::db
