#pragma once

// Whether the event log is what was written. Each event has a checksum of its content, body
// included, and is linked to its predecessor: `chain` is made of the event's checksum and of the
// predecessor's chain, and company_counter has that of the last event. So an event that is missing,
// doubled, exchanged or changed is found. Rows before the log's start only hold records: they have
// no predecessor, and their checksum alone says whether they are sound.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/session.h"
#include "events/log.h"

namespace comanda::events {

// The content of a row, as views.
struct Content {
  int64_t seq = 0;
  int64_t epoch = 0;
  std::string_view event_id, type, changes, subject_type, subject_id;
  int64_t subject_version = 0;
  UtcMs at = 0;
  std::string_view body, note;
};
Content ContentOf(const StoredEvent& event);
int64_t ChecksumOf(db::CompanyId company, const Content& content);
// Whether the row is what was written. `checksum` is that of the row.
bool IsSound(db::Session& session, db::CompanyId company, const Content& content,
             std::optional<int64_t> checksum);
int64_t Chained(int64_t checksum, int64_t predecessors_chain);

// How far a check of the log has come.
struct LogPosition {
  int64_t seq = 0;
  std::optional<int64_t> chain = {};  // of that event; none: not known
};
struct LogPart {
  LogPosition position;
  int64_t events = 0;
  bool at_end = false;
  std::vector<std::string> damage;  // each names its event and says what is wrong
};
// The next events of the log, at most `limit`.
LogPart CheckLog(db::Session& session, db::CompanyId company, LogPosition position, int64_t limit);

// Rows of older programs have no checksum at first. Gives one to at most `limit` rows after that
// number; returns the last one looked at, none where there are no more.
std::optional<int64_t> GiveChecksums(db::Tx& tx, db::CompanyId company, int64_t after,
                                     int64_t limit);
// From now on a missing checksum of an event or an order of the company is damage.
void SetAllChecksums(db::Tx& tx, db::CompanyId company);

std::vector<db::CompanyId> CompaniesWithEvents(db::Session& session);

}  // namespace comanda::events
