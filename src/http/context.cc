#include "http/context.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/gzip.h"
#include "base/id.h"
#include "base/problem.h"
#include "base/text.h"
#include "base/version.h"
#include "wire/coding.h"
#include "http/idempotency.h"
#include "http/tags.h"

namespace comanda::http {
namespace {

// Several lines of one header are one list (RFC 9110 section 5.3).
std::string Joined(const Request& request, std::string_view name) {
  std::string joined;
  for (const auto& [header, value] : request.headers) {
    if (!AsciiEqualsIgnoreCase(header, name)) continue;
    if (!joined.empty()) joined += ", ";
    joined += value;
  }
  return joined;
}

// A tag is "3.1" or "3.1.46213": version, render version and epoch. The bare
// version stands for any of them.
bool NamesVersion(std::string_view tag, std::string_view version, std::string_view epoch) {
  const size_t render = tag.find('.');
  if (tag.substr(0, render) != version) return false;
  if (render == tag.npos) return true;
  return tag.substr(std::min(tag.find('.', render + 1), tag.size())) == epoch;
}

}  // namespace

Context::Context(Site& site, const Request& request, const Route& route,
                 std::vector<std::string> parameters)
    : site_(site), request_(request), route_(route), parameters_(std::move(parameters)) {}

const std::string& Context::parameter(std::string_view name) const {
  std::string_view rest = route_.pattern;
  for (const std::string& value : parameters_) {
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

// The key of a creation is remembered by the room that creates (Replay::kRequired).
bool Context::RemembersAnswers() const {
  return !idempotency_scope_.empty() && route_.replay != Replay::kRequired;
}

Response Context::Write(const std::function<Response(db::Tx&, const db::Stamp&)>& job) {
  return site_.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    if (!RemembersAnswers()) return job(tx, stamp);
    const idempotency::Claim claim{company(), idempotency_scope_, idempotency_key_, fingerprint_};
    if (auto first = idempotency::Replay(tx, claim, site_.read_event_body)) {
      return *std::move(first);
    }
    Response response = job(tx, stamp);
    idempotency::Remember(tx, claim, response, stamp.now, site_.current_mark());
    return response;
  });
}

std::string Context::EpochInTag() const {
  const int64_t epoch = site_.database.counters().Of(company()).epoch;
  return epoch > 1 ? "." + std::to_string(epoch) : "";
}

std::string Context::VersionTag(int64_t version, int64_t render_version) const {
  return '"' + std::to_string(version) + '.' + std::to_string(render_version) + EpochInTag() + '"';
}

void Context::RequireMatch(int64_t version) const {
  if (!request_.Header("If-Match")) return;
  const std::string header = Joined(request_, "If-Match");
  const std::optional<TagList> list = ReadTags(header);
  if (!list) {
    throw Refusal(Problem::kInvalidHeader,
                  "If-Match must be the ETag of the record, or its version in quotes, as \"3\".");
  }
  const std::string wanted = std::to_string(version);
  const std::string epoch = EpochInTag();
  const bool matches = list->any || std::ranges::any_of(list->tags, [&](const Tag& tag) {
                         return !tag.weak && NamesVersion(tag.opaque, wanted, epoch);
                       });
  if (matches) return;
  throw Refusal(Problem::kPreconditionFailed,
                "The record has changed: its version is " + wanted + " now. Read it again.");
}

bool Context::HasMatch(std::string_view etag) const {
  const std::optional<std::string_view> first = request_.Header("If-None-Match");
  if (!first) return false;
  if (*first == etag) return true;  // as nearly all who poll send it
  const std::string header = Joined(request_, "If-None-Match");
  const std::optional<TagList> list = ReadTags(header);
  if (!list) return false;
  if (etag.starts_with("W/")) etag.remove_prefix(2);
  return std::ranges::any_of(list->tags, [&](const Tag& tag) {
    return etag.size() == tag.opaque.size() + 2 && etag.substr(1, tag.opaque.size()) == tag.opaque;
  });
}

bool Context::TakesAnyMatch() const {
  if (!request_.Header("If-None-Match")) return false;
  const std::string header = Joined(request_, "If-None-Match");
  const std::optional<TagList> list = ReadTags(header);
  return list && list->any;
}

bool Context::KeyHasChanged() const {
  if (admission_ == nullptr) return false;
  const auth::KeyRecord& key = admission_->key();
  return site_.gate.keys().Find(key.hash).get() != &key;
}

bool Context::AwaitChange(const std::function<bool()>& changed) {
  const std::optional<int> seconds = ReadWait(Joined(request_, "Prefer"));
  if (!seconds) return false;
  if (admission_ != nullptr) admission_->StepAside();
  const bool waited = site_.long_polls.Wait(std::chrono::seconds(*seconds),
                                            [&] { return changed() || KeyHasChanged(); });
  if (admission_ != nullptr) admission_->StepBack();
  if (waited && admission_ != nullptr) {
    principal_ = identify_again_();
    question_.clear();  // the scopes are part of it
  }
  if (waited) preference_applied_ = "wait=" + std::to_string(*seconds);
  return waited;
}

std::optional<Response> Context::FirstAnswer() {
  if (!RemembersAnswers()) return std::nullopt;
  const idempotency::Claim claim{company(), idempotency_scope_, idempotency_key_, fingerprint_};
  return Read([&](db::Snapshot& snapshot) {
    return idempotency::Replay(snapshot, claim, site_.read_event_body);
  });
}

Response Context::Shared(const std::string& tag, const std::function<Response()>& make) {
  const std::string key = tag + ' ' + Question();  // the tag has but a hash of it
  Response answer = site_.answers.Get(key, make);
  if (!MustCompress(answer)) return answer;
  // Beside the plain bytes, which stay for others.
  AnswerBudget::Lease making(site_.answer_budget, "");
  if (!making.TryReserve(answer.Body().size())) return answer;
  return site_.answers.Get(key + " gzip", [&] { return wire::Gzipped(answer); });
}

// Counted among all alone: a page that is made for many is not the one key's that came first. What
// is sent is counted for the key before it goes out.
AnswerBudget::Lease Context::LeaseForMaking() { return {site_.answer_budget, ""}; }

// A key that has no room for a large answer must not have it made. Nothing stays reserved while it
// waits for its turn: otherwise many requests of one key would leave none of them room.
void Context::RequireRoomForLarge() {
  if (!TryReserve(kLargeAnswerBytes)) throw AnswerBudget::NoRoom();
  lease_->Release();
}

bool Context::PrefersGzip() const {
  return request_.Header("Accept-Encoding") &&
         wire::PrefersGzip(Joined(request_, "Accept-Encoding"));
}

// Not where the tag is strong. Nor where an answer has a secret: how well its neighbours compress
// with it would tell about it.
bool Context::HasTwoForms(const Response& response) const {
  return response.etag.starts_with("W/") && !route_.pattern.starts_with("/auth/");
}

bool Context::MustCompress(const Response& response) const {
  return HasTwoForms(response) && !response.gzipped &&
         response.Body().size() >= wire::kGzipBytesMin && PrefersGzip();
}

std::string Context::ListTag(size_t counter_kind) {
  const db::ChangeCounters::Mark mark = site_.database.counters().MarkOf(company(), counter_kind);
  return "W/\"" + std::to_string(mark.epoch) + '.' + std::to_string(mark.changes) + '-' +
         std::to_string(Crc32(Question())) + '"';
}

const std::string& Context::Question() const {
  if (question_.empty()) {
    question_.reserve(kVersion.size() + principal_.company_uuid.size() + request_.path.size() +
                      request_.query.size() + 16);
    question_.append(kVersion).append(" ").append(principal_.company_uuid).append(" ");
    question_.append(std::to_string(principal_.scopes.bits())).append(" ");
    question_.append(request_.path).append("?").append(request_.query);
  }
  return question_;
}

}  // namespace comanda::http
