#include "http/idempotency.h"

#include <algorithm>
#include <span>

#include "base/id.h"
#include "base/problem.h"
#include "base/text.h"
#include "http/store.h"

namespace comanda::http::idempotency {
namespace {

constexpr std::string_view kHeader = "Idempotency-Key";
constexpr size_t kKeyMax = 255;
constexpr int kPurgedAtOnce = 1000;
constexpr size_t kPurgedAJob = 100;  // tills wait for a job: some milliseconds

bool IsVisible(char c) { return c >= '!' && c <= '~'; }

// The recorded answer, marked as replayed; empty where the key is new.
std::optional<Response> Replay(db::Session& session, const Claim& claim, const Site& site) {
  std::optional<store::Remembered> first =
      store::Find(session, claim.company, claim.scope, claim.key);
  if (!first) return std::nullopt;
  if (first->fingerprint != claim.fingerprint) {
    std::string detail = "This Idempotency-Key came before with another request";
    if (!first->location.empty()) detail += ", which made " + first->location;
    throw Refusal(Problem::kIdempotencyKeyReused, detail + "; make a new key for a new request.");
  }
  Response response;
  if (first->event_seq) {
    const std::optional<std::string> body =
        site.read_event_body(session, claim.company, *first->event_seq);
    // The request has been carried out: it must not be carried out again, even without an answer.
    if (!body) {
      throw Fault(Fault::Kind::kInternal,
                  "the answer kept under an Idempotency-Key points at event " +
                      std::to_string(*first->event_seq) + ", which is gone");
    }
    response = Data(*body);
  } else {
    response.body = std::move(first->body);
  }
  response.status = first->status;
  response.etag = std::move(first->etag);
  response.location = std::move(first->location);
  MarkReplayed(response);
  return response;
}

// Records the answer, unless it is a failure.
void Remember(db::Tx& tx, const Claim& claim, const Response& response, UtcMs now, int64_t mark) {
  constexpr int kFirstFailure = 400;
  if (response.status >= kFirstFailure) return;
  store::Remembered answer{.fingerprint = claim.fingerprint,
                           .status = response.status,
                           .etag = response.etag,
                           .location = response.location,
                           .event_seq = response.event_seq};
  if (!answer.event_seq) {
    answer.body = response.replay_body.empty() ? response.body : response.replay_body;
  }
  store::Insert(tx, claim.company, claim.scope, claim.key, answer, now, mark);
}

}  // namespace

std::optional<std::string> ReadKey(const wire::Request& request) {
  const auto is_key = [](const auto& header) {
    return AsciiEqualsIgnoreCase(header.first, kHeader);
  };
  const auto first = std::ranges::find_if(request.headers, is_key);
  if (first == request.headers.end()) return std::nullopt;
  if (std::ranges::count_if(request.headers, is_key) > 1) {
    throw Refusal(Problem::kInvalidHeader, "Idempotency-Key came twice; send it once.");
  }
  const std::string_view key = first->second;
  if (key.empty() || key.size() > kKeyMax || !std::ranges::all_of(key, IsVisible)) {
    throw Refusal(Problem::kInvalidHeader,
                  "Idempotency-Key must be 1 to 255 visible ASCII characters, such as a UUID.");
  }
  return std::string(key);
}

void MarkReplayed(Response& response) {
  response.headers.emplace_back("Idempotency-Replayed", "true");
  response.cache = Cache::kNoStore;
}

std::string ScopeOf(Site& site, db::CompanyId company, wire::Method method, const Route& route,
                    const std::vector<std::string>& parameters) {
  std::string scope(Name(method));
  scope += ' ';
  size_t next = 0;
  for (std::string_view rest = route.pattern; !rest.empty();) {
    const size_t open = std::min(rest.find('{'), rest.size());
    scope += rest.substr(0, open);
    rest.remove_prefix(open);
    if (rest.empty()) break;
    rest.remove_prefix(rest.find('}') + 1);
    const std::string& value = parameters[next];
    std::optional<std::string> id = ParseId(value);
    if (!id && next == 0 && route.public_ids != nullptr) {
      id = site.database.Read(
          [&](db::Snapshot& snapshot) {
            return route.public_ids->find_uuid(snapshot, company, value);
          },
          route.readers);
    }
    scope += id.value_or(value);
    ++next;
  }
  return scope;
}

Response Memory::Write(Site& site, db::Tx& tx, const db::Stamp& stamp, const Job& job) {
  was_refused_ = false;  // the writer may run a job twice
  try {
    if (!IsRecordedHere()) return job(tx, stamp);
    if (std::optional<Response> first = Replay(tx, claim_, site)) return *std::move(first);
    Response response = job(tx, stamp);
    Remember(tx, claim_, response, stamp.now, site.current_mark());
    return response;
  } catch (const Refusal&) {
    was_refused_ = true;
    throw;
  }
}

std::optional<Response> Memory::FirstAnswer(Site& site, db::Session& session) const {
  if (!HasClaim()) return std::nullopt;
  if (IsRecordedHere()) return Replay(session, claim_, site);
  return find_first_(site, session, claim_.company, claim_.key, claim_.fingerprint);
}

std::vector<RecordName> FindPointingUpTo(db::Snapshot& snapshot, db::CompanyId company,
                                         int64_t event_seq) {
  return store::FindPointingUpTo(snapshot, company, event_seq);
}

void Forget(db::Tx& tx, db::CompanyId company, std::span<const RecordName> records) {
  for (const RecordName& record : records) store::Delete(tx, company, record);
}

void ForgetAll(db::Tx& tx, db::CompanyId company) { store::DeleteAll(tx, company); }

void Purge(db::Database& database, int64_t mark) {
  db::CompanyId company;
  while (const std::optional<db::CompanyId> next = database.Read(
             [&](db::Snapshot& snapshot) { return store::NextCompany(snapshot, company); })) {
    company = *next;
    const std::vector<RecordName> old = database.Read([&](db::Snapshot& snapshot) {
      return store::FindBefore(snapshot, company, mark, kPurgedAtOnce);
    });
    for (size_t i = 0; i < old.size(); i += kPurgedAJob) {
      const auto job = std::span(old).subspan(i, std::min(kPurgedAJob, old.size() - i));
      database.Write([&](db::Tx& tx, const db::Stamp&) { Forget(tx, company, job); });
    }
  }
}

}  // namespace comanda::http::idempotency
