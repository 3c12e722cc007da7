#pragma once

// All SQL of the room: remembered answers.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/session.h"

namespace comanda::http::store {

// An answer as it was given first.
struct Remembered {
  std::string fingerprint;
  int status = 200;
  std::string etag;
  std::string location;
  std::optional<int64_t> event_seq;  // the body is {"data": <body of that event>}
  std::string body;                  // else
};

// Fault kDamaged where the row is not what was written.
std::optional<Remembered> Find(db::Session& session, db::CompanyId company, std::string_view scope,
                               std::string_view key);
void Insert(db::Tx& tx, db::CompanyId company, std::string_view scope, std::string_view key,
            const Remembered& answer, UtcMs now, int64_t mark);

struct RecordName {
  std::string scope, key;
};

// Answers remembered before that mark that have their bodies with them, the oldest first; and those
// whose body is an event up to that one. Both read all answers of the company, for which there is
// no index: it would cost each write a page.
std::vector<RecordName> FindBefore(db::Session& session, db::CompanyId company, int64_t mark,
                                   int limit);
std::vector<RecordName> FindPointingUpTo(db::Session& session, db::CompanyId company,
                                         int64_t event_seq);
void Delete(db::Tx& tx, db::CompanyId company, const RecordName& name);

void DeleteAll(db::Tx& tx, db::CompanyId company);

// The first company behind that one that has remembered answers.
std::optional<db::CompanyId> NextCompany(db::Session& session, db::CompanyId behind);

}  // namespace comanda::http::store
