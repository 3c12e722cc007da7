#pragma once

// The same request sent again gets the same answer (contract section 5). The record and the effect
// are in one transaction.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "db/database.h"
#include "db/session.h"
#include "http/message.h"

namespace comanda::http::idempotency {

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

// The body of an event of the company; nothing where there is none.
using ReadEventBody =
    std::function<std::optional<std::string>(db::Session&, db::CompanyId, int64_t seq)>;

// The first answer, marked as replayed; nothing where the key is new. Refusal
// idempotency_key_reused where it came with another request.
std::optional<Response> Replay(db::Session& session, const Claim& claim,
                               const ReadEventBody& read_event_body);

// Remembers a success. `now` is wall time, the stamp of the write; `mark` says how old the answer
// is (events/marks.h).
void Remember(db::Tx& tx, const Claim& claim, const Response& response, UtcMs now, int64_t mark);

// Forgets the answers that point at events up to that one: their bodies are about to be deleted.
void ForgetPointingUpTo(db::Tx& tx, db::CompanyId company, int64_t event_seq);

// Forgets every answer of the company: for the sandbox alone.
void ForgetAll(db::Tx& tx, db::CompanyId company);

// Forgets a bounded number of each company's answers that were remembered before that mark and have
// their bodies with them; app/ calls it now and then. Writes nothing where there are none.
void Purge(db::Database& database, int64_t mark);

}  // namespace comanda::http::idempotency
