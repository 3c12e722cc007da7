#include "delivery/status/probe.h"

#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "company/companies.h"
#include "company/hours.h"
#include "company/json.h"

namespace comanda::delivery {
namespace {

Reason ReasonOf(CallEnd end) {
  switch (end) {
    case CallEnd::kAnswered:
      return Reason::kNone;
    case CallEnd::kTimeout:
      return Reason::kTimeout;
    case CallEnd::kRefused:
    case CallEnd::kForbidden:
      return Reason::kAuthFailed;
    case CallEnd::kRateLimited:
      return Reason::kRateLimited;
    case CallEnd::kFailed:
      return Reason::kError;
  }
  return Reason::kError;
}

bool IsInHours(const company::Company& company, UtcMs now) {
  const company::Hours hours = company::ParseHours(company.business_hours);
  const bool has_hours =
      std::ranges::any_of(hours, [](const company::DayHours& day) { return day.is_active; });
  return !has_hours || company::OpenAt(hours, company::FindZone(company), now);
}

bool Has(const std::vector<int>& statuses, int status) {
  return std::ranges::find(statuses, status) != statuses.end();
}

class LookUp {
 public:
  LookUp(const Account& account, Session& session, const Clock& clock)
      : account_(account), source_(*account.provider->status), session_(session), clock_(clock) {
    found_.row.provider_name = account.provider->name;
  }

  Found Make() && {
    const CallResult result = AskStatus();
    found_.row.checked_at = clock_.Now();
    found_.not_before_ms = result.not_before_ms;
    found_.status = result.status;
    // Masked before it is cut, which could leave a part of a secret.
    found_.words = net::Shown(session_.Masked(found_.words));
    found_.body = session_.Masked(result.body());
    found_.body.resize(std::min(found_.body.size(), kShownMax));
    return std::move(found_);
  }

 private:
  // Repeats the call while the app says that the result comes later. Returns the last call.
  CallResult AskStatus() {
    auto waits = source_.pending_retry_ms.begin();
    while (true) {
      CallResult result =
          session_.Send([this](const Variables& variables) { return MakeRequest(variables); },
                        [this](const net::Reply& reply) { return IsRefusal(reply); });
      const bool is_pending =
          result.end == CallEnd::kAnswered && Has(source_.pending_http, result.status);
      if (is_pending && waits != source_.pending_retry_ms.end()) {
        session_.Pause(std::min(*waits++, std::max<int64_t>(session_.LeftMs(), 0)));
        continue;
      }
      if (is_pending) {
        Fail(Reason::kTimeout, "the app accepts the question and gives no answer");
      } else if (result.end != CallEnd::kAnswered) {
        Fail(ReasonOf(result.end), result.words);
      } else {
        Understand(result);
      }
      return result;
    }
  }

  Request MakeRequest(const Variables& variables) const {
    Request request = Filled(source_.call, variables);
    if (source_.signature) Sign(*source_.signature, variables, request);
    return request;
  }

  bool IsRefusal(const net::Reply& reply) const {
    const auto root = reply.Find("");
    return root && Has(source_.ok_http, reply.status()) &&
           Holds(source_.body_reauth, *root, Judging());
  }

  void Understand(const CallResult& result) {
    const auto root = result.reply.Find("");
    if (!Has(source_.ok_http, result.status)) {
      return Fail(Reason::kError, Concat({"status ", result.status}));
    }
    if (!root) return Fail(Reason::kError, "an answer that is no JSON");
    if (!Holds(source_.call.body_ok, *root, Judging())) {
      return Fail(Reason::kError, Concat({"an error inside the answer: ", root->Canonical()}));
    }
    Meaning meaning = Decide(source_.rules, *root, Judging());
    found_.row.status = meaning.status;
    found_.row.reason = meaning.reason;
    found_.row.until = meaning.until;
    found_.words = std::move(meaning.words);
    if (meaning.status == StoreStatus::kUnknown && found_.words.empty()) {
      found_.words = Concat({"a state that no rule knows: ", root->Canonical()});
    }
  }

  delivery::Judging Judging() const {
    const UtcMs now = clock_.Now();
    return {.variables = session_.variables(), .now = now, .is_in_hours = [this, now] {
              return IsInHours(account_.company, now);
            }};
  }

  void Fail(Reason reason, std::string words) {
    found_.row.status = StoreStatus::kUnknown;
    found_.row.reason = reason;
    found_.words = std::move(words);
  }

  const Account& account_;
  const StatusSource& source_;
  Session& session_;
  const Clock& clock_;
  Found found_;
};

}  // namespace

Found Ask(const Account& account, Token& token, net::Network& network, const Clock& clock,
          const std::stop_token& stop) {
  const Limits& limits = account.provider->limits;
  Session session(account, account.provider->token, token, network, clock,
                  {.session_ms = kProbeMsMax,
                   .connect_ms = limits.connect_ms,
                   .call_ms = limits.total_ms,
                   .bytes_max = static_cast<size_t>(limits.bytes_max)},
                  stop);
  return LookUp(account, session, clock).Make();
}

}  // namespace comanda::delivery
