#pragma once

// The time zones of companies, as the system's zone data change (contract section 19): a zone can
// lose its name or its data on this system, and orders go on.
//
// The offset from UTC is kept with the company, written at import, at a start and whenever it
// changes. Where the system has no data for the zone, FindZone() (company/companies.h) takes the
// zone to be at that offset, without daylight saving time, or at UTC if none was ever known.

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "company/company.h"
#include "db/database.h"

namespace comanda::company {

struct StoredZone;  // company/store.h

// Keeps what the companies of one database store of their zones. Any thread.
class ZoneKeeper {
 public:
  // `file` for the log. All outlive it.
  ZoneKeeper(std::string file, db::Database& database, const Clock& clock)
      : file_(std::move(file)), database_(database), clock_(clock) {}

  // Looks at the zone of each company: stores today's name in the place of an old one
  // (ZoneNameToStore), the offset if it has changed, and whether there are data. What depends on
  // that gets new entity tags. Logs trouble when it begins, changes or ends. At the start, and
  // every minute. Blocks for the writer if there is something to write. Fault from the database.
  void Look();

  // What is wrong with the zones, the consequence and what helps, by the last Look(); empty if
  // nothing. Names no company.
  std::string trouble() const;

 private:
  void WriteChanged(const std::vector<StoredZone>& stored);
  void Note(std::string trouble, const std::string& companies);

  const std::string file_;
  db::Database& database_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::string trouble_;  // guarded by mutex_
};

// The same for a database that this process does not serve: a line for each company whose zone has
// no data on this system.
std::vector<std::string> ZoneTroubles(db::Session& session);

}  // namespace comanda::company
