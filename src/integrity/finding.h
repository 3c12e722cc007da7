#pragma once

// What a check of a database has found: the one form of it, for the background check, `comanda
// verify`, backups, restores, drills and doctor.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace comanda::integrity {

enum class Kind : uint8_t {
  kPage,      // a page of the file is malformed, or nothing of it can be read
  kUnread,    // the disk failed to read a page
  kIndex,     // an index disagrees with its table; the pages of both are sound
  kRow,       // a row is not what was written, or a value is none that its column may have
  kChecksum,  // of B2SUMS: a file of a backup is not what was written
};

struct Finding {
  Kind kind = Kind::kRow;
  std::string where;  // the index, else the table, the file or the kind of record
  std::string what;   // a sentence that names the place and says what is wrong

  // What follows from it while the database is served, and what to do about it.
  std::string_view follows() const;
  std::string_view remedy() const;
};
using Findings = std::vector<Finding>;

// Appends a finding for each of those sentences.
void Add(Kind kind, std::string_view where, std::vector<std::string> what, Findings& findings);

// What they say, without where it is and what to do.
std::vector<std::string> SentencesOf(const Findings& findings);
// "the backup is refused; what to do: take another backup", once for each kind.
std::vector<std::string> AdviceFor(const Findings& findings);

}  // namespace comanda::integrity
