#pragma once

// The same request sent again gets the same answer (contract section 5). The record and the effect
// are in one transaction.

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "db/database.h"
#include "db/session.h"
#include "http/request.h"
#include "http/response.h"

namespace comanda::http::idempotency {

// Answers are kept so long at least, so that an outage of days is bridged.
inline constexpr int64_t kKeptMs = 7LL * 24 * 60 * 60 * 1000;

// The key as it came, or nothing. Refusal invalid_header where it is not 1 to 255 visible ASCII
// characters, or came twice.
std::optional<std::string> ReadKey(const Request& request);

// What a key stands for: `scope` is method and path.
struct Claim {
  db::CompanyId company;
  std::string_view scope;
  std::string_view key;
  std::string_view fingerprint;
};

// The first answer, marked as replayed; nothing where the key is new. Refusal
// idempotency_key_reused where it came with another request.
std::optional<Response> Replay(db::Session& session, const Claim& claim);

// Remembers a success, and forgets a few that are older than kKeptMs. Times here are
// Clock::RetentionNow.
void Remember(db::Tx& tx, const Claim& claim, const Response& response, UtcMs now);

// Forgets every answer of the company: for the sandbox alone.
void ForgetAll(db::Tx& tx, db::CompanyId company);

// Forgets at most `limit` answers of the company that are older than kKeptMs; how many. Forgets
// nothing because of a clock that jumped ahead until that has stood for a day: an answer must have
// been given a day ago, give or take two hours, and those two hours are added to the time that
// answers are kept.
int64_t Purge(db::Tx& tx, db::CompanyId company, UtcMs now, int limit);
// The same for every company of the file, a bounded number at a time; app/ calls it now and then.
// Writes nothing where nothing is old enough.
void Purge(db::Database& database, const Clock& clock);

}  // namespace comanda::http::idempotency
