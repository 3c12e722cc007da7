#pragma once

// What a handler gets: the request as it was checked and read, its caller, and access to the
// database.
//
// The dispatcher builds one context for a request, when all steps before the handler are done
// (http/steps.h); it does not change after that. A context is used by the request's thread alone,
// and by the writer's thread inside Write(), while the former waits.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "auth/key.h"
#include "db/database.h"
#include "http/answer_budget.h"
#include "http/body_budget.h"
#include "http/caller.h"
#include "http/idempotency.h"
#include "http/long_polls.h"
#include "http/page_rows.h"
#include "http/query.h"
#include "http/response.h"
#include "http/route.h"
#include "http/site.h"
#include "json/reader.h"
#include "wire/exchange.h"

namespace comanda::http {

// What a request asks for, as the steps before the handler have read it.
struct Asked {
  const Route* route = nullptr;
  std::vector<std::string> parameters;  // of the path, decoded, in the order of the pattern
  Query query;
  BodyBudget::Lease body_lease;          // of the body, for as long as it is there
  std::unique_ptr<json::Document> body;  // null where the route reads none
};

// The strong tag of a record that has a version: "3.1", its version and render version (contract
// section 6). After a restore the same version may be another record: the epoch follows then,
// "3.1.46213".
std::string VersionTag(Site& site, db::CompanyId company, int64_t version, int64_t render_version);

class Context {
 public:
  // All of them outlive the context.
  Context(Site& site, wire::Exchange& exchange, const Asked& asked, Caller& caller,
          idempotency::Memory& memory, AnswerBudget::Lease& lease)
      : site_(site),
        exchange_(exchange),
        asked_(asked),
        caller_(caller),
        memory_(memory),
        lease_(lease) {}

  const wire::Request& request() const { return exchange_.request; }
  Site& site() { return site_; }
  const auth::Principal& principal() const { return caller_.principal(); }
  db::CompanyId company() const { return principal().company; }

  // A path parameter by its name in the pattern, decoded.
  const std::string& parameter(std::string_view name) const;
  // A path parameter that must be a UUID. Throws Refusal validation_failed, which names the
  // parameter (contract section 1).
  std::string UuidParameter(std::string_view name) const;

  const Query& query() const { return asked_.query; }

  // The body, which is valid JSON. Only for routes that read one (Route::reads_body).
  const json::Document& body() const { return *asked_.body; }
  // The body of a route that does not read one. Blocks and throws as wire::Exchange::ReadBody().
  std::string ReadBody(size_t bytes_max) { return exchange_.ReadBody(bytes_max); }
  // Unknown fields of a body are ignored in the live environment, and refused in the sandbox.
  json::UnknownFields unknown_fields() const;

  // Calls fn(db::Snapshot&) in one read transaction, on this thread. Blocks until one of the
  // route's connections is free.
  template <typename Fn>
  auto Read(Fn&& fn) {
    return site_.database.Read(std::forward<Fn>(fn), asked_.route->readers);
  }

  // Calls fn(db::Snapshot&, PageRows&), which adds the rows of an answer that may be large while it
  // reads. Where the answer turns out to be large, fn is called again, after a wait for the turn,
  // on a connection that is not reserved for orders. `head` is the text before the rows. Throws
  // Refusal service_unavailable where there is no room for the answer, or the turn does not come
  // within 2 s.
  template <typename Fn>
  auto ReadPage(Fn&& fn, std::string_view head = PageRows::kListHead) {
    try {
      AnswerBudget::Lease making = LeaseForMaking();
      PageRows rows(head, making, false);
      return Read([&](db::Snapshot& snapshot) { return fn(snapshot, rows); });
    } catch (const LargePage&) {
      RequireRoomForLarge();
    }
    const AnswerBudget::Turn turn = site_.answer_budget.WaitForTurn();
    RequireRoomForLarge();  // another answer of the key may have come first
    AnswerBudget::Lease making = LeaseForMaking();
    PageRows rows(head, making, true);
    return site_.database.Read([&](db::Snapshot& snapshot) { return fn(snapshot, rows); },
                               db::Readers::kShared);
  }

  // Counts that many bytes of this answer in the budget. False where there is no room.
  [[nodiscard]] bool TryReserve(size_t bytes) { return lease_.TryReserve(bytes); }

  // Runs the job in a transaction on the writer's thread, and returns its answer when the commit is
  // on the disk: the one way to write. Where the request has an Idempotency-Key, the recorded
  // answer is returned instead, or the job's answer is recorded in the same transaction
  // (http/idempotency.h). Throws what the job throws; Fault where the commit fails.
  Response Write(const idempotency::Memory::Job& job);

  // The Idempotency-Key and fingerprint of the request.
  const idempotency::Memory& memory() const { return memory_; }

  // When the change happened that the request reports: the header Comanda-Occurred-At, of keys with
  // the scope orders:sync (contract section 15, Dates). Empty without the header or the scope.
  // Throws Refusal invalid_header where it is malformed, more than 45 days old, or more than 5
  // minutes ahead.
  std::optional<UtcMs> OccurredAt() const;

  // http::VersionTag() of a record of the caller's company.
  std::string VersionTag(int64_t version, int64_t render_version) const;
  // For a job that has found its record: throws Refusal precondition_failed where If-Match names
  // neither this version nor a tag of it, of whatever render version; invalid_header where it is
  // malformed.
  void RequireMatch(int64_t version) const;
  // Whether If-None-Match names this tag (http/tags.h).
  bool HasMatch(std::string_view etag) const;

  // Waits, where the client sent Prefer: wait, until changed() returns true, the time is over, the
  // key was changed or the server stops (contract section 6). Does not wait where too many requests
  // wait already. True where it has waited. changed() is called by this thread, after every commit.
  //
  // The credentials are checked again after the wait: throws Refusal where the key was revoked, has
  // expired or has lost the scope. principal() has the scopes that the key has now.
  // `seconds_max`: a longer wait than that is shortened, and Preference-Applied says so.
  bool AwaitChange(const std::function<bool()>& changed, int seconds_max = kWaitSecondsMax);
  // The same where changed() may be true for what is nothing to this client: is_news() then
  // decides, and may read the database; where it returns false the wait goes on, for the rest of
  // its time, and changed() must be false again.
  bool AwaitNews(const std::function<bool()>& changed, const std::function<bool()>& is_news,
                 int seconds_max);

  // The answer to this GET, from the cache of answers: make() is called once for all requests that
  // ask the same under the same tag. Its compressed form is cached as well.
  Response Shared(const std::string& tag, const std::function<Response()>& make);
  // The same under a key of the caller's own, which must contain all that the answer depends on,
  // the company too: for requests that differ in what does not change the answer.
  Response SharedUnder(const std::string& key, const std::function<Response()>& make);

  // Whether the client prefers gzip over identity.
  bool PrefersGzip() const;

  // The weak tag of a list: the company's epoch and change counter, and a hash of what is asked.
  std::string ListTag(size_t counter_kind) const;

 private:
  AnswerBudget::Lease LeaseForMaking();
  void RequireRoomForLarge();
  std::string Question() const;

  Site& site_;
  wire::Exchange& exchange_;
  const Asked& asked_;
  Caller& caller_;               // renewed by AwaitChange()
  idempotency::Memory& memory_;  // written by Write()
  AnswerBudget::Lease& lease_;   // of this answer
};

}  // namespace comanda::http
