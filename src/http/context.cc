#include "http/context.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "base/gzip.h"
#include "base/id.h"
#include "base/problem.h"
#include "base/text.h"
#include "base/version.h"
#include "http/compression.h"
#include "http/tags.h"
#include "wire/coding.h"

namespace comanda::http {
namespace {

// Whether a tag ("3.1" or "3.1.46213": version, render version, epoch) is of that version and
// epoch. A bare version matches whatever the epoch.
bool NamesVersion(std::string_view tag, std::string_view version, std::string_view epoch) {
  const size_t render = tag.find('.');
  if (tag.substr(0, render) != version) return false;
  if (render == tag.npos) return true;
  return tag.substr(std::min(tag.find('.', render + 1), tag.size())) == epoch;
}

// ".46213"; empty before the first restore.
std::string EpochInTag(Site& site, db::CompanyId company) {
  const int64_t epoch = site.database.counters().Of(company).epoch;
  return epoch > 1 ? "." + std::to_string(epoch) : "";
}

}  // namespace

const std::string& Context::parameter(std::string_view name) const {
  std::string_view rest = asked_.route->pattern;
  for (const std::string& value : asked_.parameters) {
    const size_t open = rest.find('{');
    const size_t close = rest.find('}');
    if (rest.substr(open + 1, close - open - 1) == name) return value;
    rest.remove_prefix(close + 1);
  }
  CHECK(false, "a handler asks for parameters of its own pattern");
}

std::string Context::UuidParameter(std::string_view name) const {
  std::optional<std::string> id = ParseId(parameter(name));
  if (!id) {
    throw Invalid(std::string(name), FieldCode::kInvalidFormat,
                  "must be a UUID, such as 0190a5c8-6f2e-7c3a-9d41-2b7f5e8a1c90.");
  }
  return std::move(*id);
}

json::UnknownFields Context::unknown_fields() const {
  return site_.mode == auth::Mode::kTest ? json::UnknownFields::kRefused
                                         : json::UnknownFields::kIgnored;
}

Response Context::Write(const idempotency::Memory::Job& job) {
  return site_.database.Write(
      [&](db::Tx& tx, const db::Stamp& stamp) { return memory_.Write(site_, tx, stamp, job); });
}

std::optional<UtcMs> Context::OccurredAt() const {
  constexpr UtcMs kMinuteMs = 60'000;
  constexpr UtcMs kOldestMs = 45 * 24 * 60 * kMinuteMs;
  constexpr UtcMs kAheadMs = 5 * kMinuteMs;
  const auto header = exchange_.request.Header("Comanda-Occurred-At");
  if (!header || !principal().scopes.Has(auth::Scope::kOrdersSync)) return std::nullopt;
  const std::optional<UtcMs> at = ParseInstant(*header);
  const UtcMs now = site_.clock.Now();
  if (!at || *at < now - kOldestMs || *at > now + kAheadMs) {
    throw Refusal(Problem::kInvalidHeader,
                  "Comanda-Occurred-At must be an instant of RFC 3339, such as " +
                      FormatInstant(now) + ", at most 45 days ago and 5 minutes ahead.");
  }
  return at;
}

std::string VersionTag(Site& site, db::CompanyId company, int64_t version, int64_t render_version) {
  return '"' + std::to_string(version) + '.' + std::to_string(render_version) +
         EpochInTag(site, company) + '"';
}

std::string Context::VersionTag(int64_t version, int64_t render_version) const {
  return http::VersionTag(site_, company(), version, render_version);
}

void Context::RequireMatch(int64_t version) const {
  if (!exchange_.request.Header("If-Match")) return;
  const std::string header = exchange_.request.Joined("If-Match");
  const std::optional<TagList> list = ReadTags(header);
  if (!list) {
    throw Refusal(Problem::kInvalidHeader,
                  "If-Match must be the ETag of the record, or its version in quotes, as \"3\".");
  }
  const std::string wanted = std::to_string(version);
  const std::string epoch = EpochInTag(site_, company());
  const bool matches = list->any || std::ranges::any_of(list->tags, [&](const Tag& tag) {
                         return !tag.weak && NamesVersion(tag.opaque, wanted, epoch);
                       });
  if (matches) return;
  throw Refusal(Problem::kPreconditionFailed,
                "The record has changed: its version is " + wanted + " now. Read it again.");
}

bool Context::HasMatch(std::string_view etag) const { return NamesTag(exchange_.request, etag); }

bool Context::AwaitChange(const std::function<bool()>& changed, int seconds_max) {
  return AwaitNews(
      changed, [] { return true; }, seconds_max);
}

bool Context::AwaitNews(const std::function<bool()>& changed, const std::function<bool()>& is_news,
                        int seconds_max) {
  using std::chrono::steady_clock;
  std::optional<int> seconds = ReadWait(exchange_.request.Joined("Prefer"));
  if (!seconds) return false;
  seconds = std::min(*seconds, seconds_max);
  const auto end = steady_clock::now() + std::chrono::seconds(*seconds);
  bool has_waited = false;
  bool is_over = false;
  while (!is_over) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - steady_clock::now());
    if (caller_.permit()) caller_.permit()->Suspend();
    const bool waited =
        site_.long_polls.Wait(left, [&] { return changed() || caller_.KeyHasChanged(site_); });
    if (caller_.permit()) caller_.permit()->Resume();
    has_waited = has_waited || waited;
    is_over = !waited || !changed() || is_news() || steady_clock::now() >= end;
  }
  if (!has_waited) return false;
  caller_.Renew(site_, exchange_.request, *asked_.route);
  exchange_.response.headers.emplace_back("Preference-Applied", "wait=" + std::to_string(*seconds));
  return true;
}

Response Context::Shared(const std::string& tag, const std::function<Response()>& make) {
  return SharedUnder(tag + ' ' + Question(), make);  // the tag has only a hash of the question
}

Response Context::SharedUnder(const std::string& key, const std::function<Response()>& make) {
  Response answer = site_.answers.Get(key, make);
  if (!MustCompress(exchange_.request, *asked_.route, answer)) return answer;
  // The cached plain answer stays as it is, for other clients.
  AnswerBudget::Lease making(site_.answer_budget, "");
  if (!making.TryReserve(answer.Body().size())) return answer;
  return site_.answers.Get(key + " gzip", [&] {
    Response compressed = answer;
    wire::Compress(compressed);
    return compressed;
  });
}

// Counts for all keys together and for none in particular: a page that is made for many clients
// does not belong to the key that asked first. The key's share is counted before the answer is
// sent.
AnswerBudget::Lease Context::LeaseForMaking() { return {site_.answer_budget, ""}; }

// Refuses before a large answer is made where the key has no room for it. Nothing stays reserved
// during the wait for the turn: otherwise many requests of one key would leave room for none.
void Context::RequireRoomForLarge() {
  if (!TryReserve(kLargeAnswerBytes)) throw AnswerBudget::NoRoom();
  lease_.Release();
}

bool Context::PrefersGzip() const { return http::PrefersGzip(exchange_.request); }

std::string Context::ListTag(size_t counter_kind) const {
  const db::ChangeCounters::Revision revision =
      site_.database.counters().RevisionOf(company(), counter_kind);
  return "W/\"" + std::to_string(revision.epoch) + '.' + std::to_string(revision.changes) + '-' +
         std::to_string(Crc32(Question())) + '"';
}

// What the answer to a GET depends on beside the data: the program, the caller's rights, the
// request.
std::string Context::Question() const {
  const wire::Request& request = exchange_.request;
  std::string question;
  question.reserve(kVersion.size() + principal().company_uuid.size() + request.path.size() +
                   request.query.size() + 16);
  question.append(kVersion).append(" ").append(principal().company_uuid).append(" ");
  question.append(std::to_string(principal().scopes.bits())).append(" ");
  question.append(request.path).append("?").append(request.query);
  return question;
}

}  // namespace comanda::http
