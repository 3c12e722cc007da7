#pragma once

// Idempotency (contract section 5): a request that a client sends again under the same
// Idempotency-Key gets the answer of the first one, and is carried out once.
//
// A key is unique within a company and a scope, which is the method and the canonical path. The
// *fingerprint* of a request is a hash of scope, query and canonical body; the same key with
// another fingerprint is refused. The *record* of a key is the answer, written in the transaction
// that has the effect. The writer looks the key up in that same transaction, so that a key is never
// used twice. This file is the one place that knows all of this; the SQL is in http/store.cc.
//
// The key of POST /v1/orders (Replay::kRequired) has no record here: orders/ stores it with the
// order, for as long as the order exists, and finds it (Route::find_first). When it is looked for
// is decided here for both.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"
#include "db/database.h"
#include "db/session.h"
#include "http/response.h"
#include "http/route.h"
#include "http/site.h"
#include "http/store.h"
#include "wire/request.h"

namespace comanda::http::idempotency {

// The Idempotency-Key of the request; empty where it has none. Throws Refusal invalid_header where
// the key is not 1 to 255 visible ASCII characters, or came twice.
std::optional<std::string> ReadKey(const wire::Request& request);

// The scope of a request: its method, and its path with ids in their canonical form, so that every
// path of one record is the same. An id is in lower case; where the route has public ids
// (PublicIds), one of those is replaced by the UUID of its record, with a read of the database.
std::string ScopeOf(Site& site, db::CompanyId company, wire::Method method, const Route& route,
                    const std::vector<std::string>& parameters);

// Marks an answer as one that was given before: Idempotency-Replayed, and no caching.
void MarkReplayed(Response& response);

struct Claim {
  db::CompanyId company;
  std::string scope;
  std::string key;
  std::string fingerprint;
};

// What one request has to do with its key: nothing where it has none. Used by the request's thread,
// and by the writer's while the former waits for it.
class Memory {
 public:
  using Job = std::function<Response(db::Tx&, const db::Stamp&)>;

  // Of a request without a key.
  Memory() = default;
  // find_first: of the route; null: the answer is recorded here.
  Memory(Claim claim, FindFirst find_first) : claim_(std::move(claim)), find_first_(find_first) {}

  // Both are empty where the request has no key.
  const std::string& key() const { return claim_.key; }
  const std::string& fingerprint() const { return claim_.fingerprint; }

  // On the writer's thread: returns the recorded answer, marked as replayed; otherwise runs the job
  // and records its answer. Where the room keeps the key, the job does both. Throws what the job
  // throws, and Refusal idempotency_key_reused.
  Response Write(Site& site, db::Tx& tx, const db::Stamp& stamp, const Job& job);

  // Whether the key may have a record that Write() has not seen, since it was not reached: the
  // request was refused before, or the disk is full. A job that refuses has looked the key up.
  bool IsUnread() const { return HasClaim() && !was_refused_; }
  // The first answer, marked as replayed; empty where the key is new. Throws Refusal
  // idempotency_key_reused.
  std::optional<Response> FirstAnswer(Site& site, db::Session& session) const;

 private:
  // Whether the request has a key, and acts for one company.
  bool HasClaim() const { return !claim_.key.empty() && claim_.company != db::CompanyId(); }
  bool IsRecordedHere() const { return HasClaim() && find_first_ == nullptr; }

  Claim claim_;
  FindFirst find_first_ = nullptr;
  bool was_refused_ = false;  // by the job, in Write()
};

using RecordName = store::RecordName;

// The records that refer to events up to that one, which are about to be deleted. Reads all records
// of the company: for a reader, so that no till waits.
std::vector<RecordName> FindPointingUpTo(db::Snapshot& snapshot, db::CompanyId company,
                                         int64_t event_seq);
void Forget(db::Tx& tx, db::CompanyId company, std::span<const RecordName> records);

// Deletes every record of the company: for the sandbox alone.
void ForgetAll(db::Tx& tx, db::CompanyId company);

// Deletes a bounded number of each company's records that were made before that mark and have their
// bodies with them. app/ calls it now and then. Blocks on the writer where there are any.
void Purge(db::Database& database, int64_t mark);

}  // namespace comanda::http::idempotency
