#include "events/check.h"

#include "base/checksum.h"
#include "base/gzip.h"
#include "events/store.h"

namespace comanda::events {
namespace {

std::string NameOf(db::CompanyId company, int64_t seq) {
  return "event " + std::to_string(seq) + " of company " + std::to_string(company.value);
}

// Whether the event is linked to its predecessor, as far as that is known.
bool IsLinked(const StoredEvent& event, const LogPosition& predecessor,
              const store::Counted& counted) {
  if (event.seq < counted.chain_start) return true;
  if (!event.chain || !event.checksum) return false;
  if (event.seq == counted.chain_start) return *event.chain == Chained(*event.checksum, 0);
  return !predecessor.chain || *event.chain == Chained(*event.checksum, *predecessor.chain);
}

void CheckEnd(db::CompanyId company, const store::Counted& counted, LogPart& part) {
  if (part.position.seq < counted.seq) {
    part.damage.push_back(NameOf(company, counted.seq) + ", the last one, is missing");
  } else if (counted.seq >= counted.chain_start && counted.seq >= counted.log_start &&
             part.position.chain != counted.chain) {
    part.damage.push_back(NameOf(company, counted.seq) + " is not the one that was written last");
  }
}

}  // namespace

Content ContentOf(const StoredEvent& event) {
  return {.seq = event.seq,
          .epoch = event.epoch,
          .event_id = event.event_id,
          .type = event.type,
          .changes = event.changes,
          .subject_type = event.subject_type,
          .subject_id = event.subject_id,
          .subject_version = event.subject_version,
          .at = event.at,
          .body = event.body,
          .note = event.note};
}

int64_t ChecksumOf(db::CompanyId company, const Content& content) {
  Checksum sum;
  sum.Add(company.value)
      .Add(content.seq)
      .Add(content.epoch)
      .Add(content.event_id)
      .Add(content.type);
  sum.Add(content.changes).Add(content.subject_type).Add(content.subject_id);
  sum.Add(content.subject_version).Add(content.at).Add(content.note);
  // The body is large: its own CRC stands for it, so that it is not copied.
  sum.Add(static_cast<int64_t>(content.body.size())).Add(int64_t{Crc32(content.body)});
  return sum.Value();
}

bool IsSound(db::Session& session, db::CompanyId company, const Content& content,
             std::optional<int64_t> checksum) {
  if (!checksum) return !HasAllChecksums(session, company);
  return *checksum == ChecksumOf(company, content);
}

int64_t Chained(int64_t checksum, int64_t predecessors_chain) {
  return Checksum().Add(checksum).Add(predecessors_chain).Value();
}

LogPart CheckLog(db::Session& session, db::CompanyId company, LogPosition position, int64_t limit) {
  LogPart part{.position = position};
  const std::optional<store::Counted> counted = store::Counters(session, company);
  if (!counted) {
    part.at_end = true;
    return part;
  }
  // The purge may have gone past the position.
  if (part.position.seq < counted->log_start - 1) part.position = {counted->log_start - 1, {}};
  for (const StoredEvent& event :
       store::After(session, company, part.position.seq, static_cast<int>(limit))) {
    const bool follows = event.seq == part.position.seq + 1;
    if (!follows) {
      part.damage.push_back(NameOf(company, part.position.seq + 1) + " is missing");
      part.position.chain.reset();
    }
    if (event.is_damaged) {
      part.damage.push_back(NameOf(company, event.seq) + " is not what was written");
    } else if (!IsLinked(event, part.position, *counted)) {
      part.damage.push_back(NameOf(company, event.seq) + " does not follow its predecessor");
    }
    part.position = {event.seq, event.chain};
    ++part.events;
  }
  part.at_end = part.events < limit;
  if (part.at_end) CheckEnd(company, *counted, part);
  return part;
}

std::optional<int64_t> GiveChecksums(db::Tx& tx, db::CompanyId company, int64_t after,
                                     int64_t limit) {
  const std::vector<StoredEvent> events = store::After(tx, company, after, static_cast<int>(limit));
  for (const StoredEvent& event : events) {
    if (event.checksum || event.is_damaged) continue;
    store::SetChecksum(tx, company, event.seq, ChecksumOf(company, ContentOf(event)));
  }
  if (events.empty()) return std::nullopt;
  return events.back().seq;
}

void SetAllChecksums(db::Tx& tx, db::CompanyId company) { store::SetAllChecksums(tx, company); }

std::vector<db::CompanyId> CompaniesWithEvents(db::Session& session) {
  return store::Companies(session);
}

}  // namespace comanda::events
