#include "http/idempotency.h"

#include <algorithm>

#include "base/problem.h"
#include "base/text.h"
#include "http/store.h"

namespace comanda::http::idempotency {
namespace {

constexpr std::string_view kHeader = "Idempotency-Key";
constexpr std::string_view kReplayed = "Idempotency-Replayed";
constexpr size_t kKeyMax = 255;
constexpr int kPurgedAtOnce = 1000;

// A room that knows its records by their key may have found one (orders).
bool IsReplay(const Response& response) {
  return std::ranges::any_of(response.headers,
                             [](const auto& header) { return header.first == kReplayed; });
}

bool IsVisible(char c) { return c >= '!' && c <= '~'; }

}  // namespace

std::optional<std::string> ReadKey(const Request& request) {
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

std::optional<Response> Replay(db::Session& session, const Claim& claim,
                               const ReadEventBody& read_event_body) {
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
        read_event_body(session, claim.company, *first->event_seq);
    // Without it the request must not be carried out a second time.
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
  response.headers.emplace_back(kReplayed, "true");
  response.cache = Cache::kNoStore;
  return response;
}

void Remember(db::Tx& tx, const Claim& claim, const Response& response, UtcMs now, int64_t mark) {
  constexpr int kFirstFailure = 400;
  if (response.status >= kFirstFailure || IsReplay(response)) return;
  store::Remembered answer{.fingerprint = std::string(claim.fingerprint),
                           .status = response.status,
                           .etag = response.etag,
                           .location = response.location,
                           .event_seq = response.event_seq};
  if (!answer.event_seq) {
    answer.body = response.replay_body.empty() ? response.body : response.replay_body;
  }
  store::Insert(tx, claim.company, claim.scope, claim.key, answer, now, mark);
}

void ForgetPointingUpTo(db::Tx& tx, db::CompanyId company, int64_t event_seq) {
  store::DeletePointingUpTo(tx, company, event_seq);
}

void ForgetAll(db::Tx& tx, db::CompanyId company) { store::DeleteAll(tx, company); }

void Purge(db::Database& database, int64_t mark) {
  db::CompanyId company;
  while (const std::optional<db::CompanyId> next = database.Read(
             [&](db::Snapshot& snapshot) { return store::NextCompany(snapshot, company); })) {
    company = *next;
    const bool any = database.Read(
        [&](db::Snapshot& snapshot) { return store::AnyBefore(snapshot, company, mark); });
    if (!any) continue;
    database.Write([&](db::Tx& tx, const db::Stamp&) {
      store::DeleteBefore(tx, company, mark, kPurgedAtOnce);
    });
  }
}

}  // namespace comanda::http::idempotency
