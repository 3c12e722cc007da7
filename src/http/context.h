#pragma once

// What a handler gets: the request as far as it is checked, who asks, and the doors to the
// database.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "auth/gate.h"
#include "auth/key.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "config/options.h"
#include "db/database.h"
#include "db/disk_space.h"
#include "http/answer_budget.h"
#include "http/answer_cache.h"
#include "http/long_polls.h"
#include "http/page_rows.h"
#include "http/query.h"
#include "http/message.h"
#include "http/route.h"
#include "json/reader.h"

namespace comanda::http {

// One line of /readyz.
struct Readiness {
  std::string_view name;  // database, disk, clock, sync
  bool ok = true;
  std::string state;  // in words
};

// A company that a request of the command line may mean.
struct CompanyName {
  db::CompanyId company;
  std::string uuid;
  std::string name;
};
// Those in the database: the one with that UUID, or the oldest ones, at most `limit`.
using FindCompanies = std::function<std::vector<CompanyName>(
    db::Session&, const std::optional<std::string>& uuid, size_t limit)>;

// One environment that is served: the live address (and the sandbox beside it). Owned by app/.
struct Site {
  auth::Mode mode = auth::Mode::kLive;
  const config::Options& options;
  const Clock& clock;
  db::Database& database;
  const db::DiskSpace& space;
  auth::Gate& gate;
  metrics::Registry& metrics;
  std::function<std::vector<Readiness>()> readiness;
  LongPolls& long_polls;
  AnswerCache& answers;
  AnswerBudget& answer_budget;  // of the process
  FindCompanies find_companies;
  // The UUID of the order with that public id: one order has one path in an idempotency scope.
  std::function<std::optional<std::string>(db::Session&, db::CompanyId, std::string_view)>
      find_order_uuid;
  // The body of an event: answers kept under an Idempotency-Key point at it.
  std::function<std::optional<std::string>(db::Session&, db::CompanyId, int64_t)> read_event_body;
  // The number of the last mark (events/marks.h): how old an answer is that is kept now.
  std::function<int64_t()> current_mark = [] { return int64_t{0}; };
};

class Context {
 public:
  Context(Site& site, const Request& request, const Route& route,
          std::vector<std::string> parameters);

  const Request& request() const { return request_; }
  const Route& route() const { return route_; }
  Site& site() { return site_; }
  const auth::Principal& principal() const { return principal_; }
  db::CompanyId company() const { return principal_.company; }

  // A path parameter by its name in the pattern, decoded.
  const std::string& parameter(std::string_view name) const;
  // A path parameter that must be a UUID: 422 on that parameter where malformed (contract section
  // 1).
  std::string UuidParameter(std::string_view name) const;

  const Query& query() const { return query_; }

  // The body, strictly parsed (routes that read one).
  const json::Document& body() const { return *body_; }
  // Live: unknown fields are ignored; sandbox: refused.
  json::UnknownFields unknown_fields() const;

  // fn(db::Snapshot&) in one read transaction on this thread.
  template <typename Fn>
  auto Read(Fn&& fn) {
    return site_.database.Read(std::forward<Fn>(fn), route_.readers);
  }

  // The same for an answer that may be large: fn(db::Snapshot&, PageRows&) adds the rows while it
  // reads. Where the page turns out to be large, fn runs again, in turn, on a connection that is
  // not kept for orders. `head` is what stands before the rows. Refusal service_unavailable where
  // there is no room or the turn does not come.
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

  // Counts the bytes of this answer in the budget while it is made. False where there is no room.
  [[nodiscard]] bool TryReserve(size_t bytes) { return lease_->TryReserve(bytes); }

  // The one way to write: the job's transaction, with the Idempotency-Key looked up once more
  // inside it and the answer kept under it (contract section 5). Returns after the commit is on
  // disk.
  Response Write(const std::function<Response(db::Tx&, const db::Stamp&)>& job);

  // The strong tag of a record that has a version, "3.1" (contract section 6). After a restore the
  // same version may be another record: the epoch then stands behind it, "3.1.46213".
  std::string VersionTag(int64_t version, int64_t render_version) const;
  // Inside a job, after the resource was found: 412 where the client sent an If-Match that names
  // neither this version nor its tag, whatever the render version.
  void RequireMatch(int64_t version) const;
  // For GETs: does If-None-Match name this tag (weak comparison)? "*" names none.
  bool HasMatch(std::string_view etag) const;
  // If-None-Match is "*": every tag will do, but only of an answer that was made. A request that is
  // wrong has none.
  bool TakesAnyMatch() const;

  // SHA-256 (hex) of method, path, query and canonical body: what makes a request "the same"
  // (contract section 5). Empty where no Idempotency-Key came.
  const std::string& idempotency_key() const { return idempotency_key_; }
  const std::string& fingerprint() const { return fingerprint_; }

  // Where the client sent Prefer: wait, holds this GET until changed(), the time is up or the
  // server stops (contract section 6). Holds nothing where too many wait already: the answer then
  // comes at once. True where it was held.
  //
  // The credentials are checked again before it returns, and a change of the key ends the wait:
  // Refusal where the key was revoked, has expired or has lost the scope meanwhile. principal() is
  // then that of the key as it is now.
  bool AwaitChange(const std::function<bool()>& changed);

  // The answer that this request got when it came first under its Idempotency-Key. Refusal where
  // another request came under it.
  std::optional<Response> FirstAnswer();

  // The answer to this GET, made once for all who ask the same while the tag stays; the other form
  // of it, compressed or not, is made of that, once as well.
  Response Shared(const std::string& tag, const std::function<Response()>& make);

  // Would the client rather have gzip than the bytes as they are?
  bool PrefersGzip() const;

  // A weak tag of a list: epoch and change counter of the company, and a hash of path and query.
  std::string ListTag(size_t counter_kind);

 private:
  friend class Dispatcher;
  bool RemembersAnswers() const;
  AnswerBudget::Lease LeaseForMaking();
  void RequireRoomForLarge();
  std::string EpochInTag() const;                    // ".46213", or nothing before a restore
  bool HasTwoForms(const Response& response) const;  // one of them compressed
  bool MustCompress(const Response& response) const;
  bool KeyHasChanged() const;
  // What the answer to a GET depends on beside the data: who asks which program for what.
  const std::string& Question() const;

  Site& site_;
  const Request& request_;
  const Route& route_;
  std::vector<std::string> parameters_;
  Query query_;
  auth::Principal principal_;
  auth::Admission* admission_ = nullptr;             // of a key
  AnswerBudget::Lease* lease_ = nullptr;             // of this answer
  std::function<auth::Principal()> identify_again_;  // as before: throws what it threw then
  std::string preference_applied_;                   // "wait=25" after a wait
  std::unique_ptr<json::Document> body_;
  std::string idempotency_key_;
  std::string idempotency_scope_;
  std::string fingerprint_;
  mutable std::string question_;  // made when it is first needed
};

}  // namespace comanda::http
