#include "webhooks/webhooks.h"

#include <algorithm>
#include <utility>

#include "base/id.h"
#include "base/problem.h"
#include "events/log.h"
#include "webhooks/schedule.h"
#include "webhooks/store.h"

namespace comanda::webhooks {
namespace {

// Everything but the secret.
void Apply(const Draft& draft, int64_t last_seq, Subscription& subscription) {
  Configuration& configuration = subscription.configuration;
  if (draft.url) configuration.url = *draft.url;
  if (draft.merchant_id) configuration.merchant_id = *draft.merchant_id;
  if (draft.kinds && *draft.kinds != subscription.selection.Last()) {
    subscription.selection.Set(last_seq, *draft.kinds);
  }
  if (draft.headers) configuration.headers = Unmasked(*draft.headers, configuration.headers);
  if (draft.ack_codes) configuration.ack_codes = *draft.ack_codes;
  if (draft.public_key_pin) configuration.public_key_pin = *draft.public_key_pin;
  if (draft.is_active) configuration.is_active = *draft.is_active;
}

void Rotate(const Draft& draft, UtcMs now, Subscription& subscription) {
  subscription.secrets.old = std::nullopt;
  subscription.secret_rotates_until = std::nullopt;
  if (draft.grace_s > 0) {
    subscription.secrets.old = subscription.secrets.current;
    subscription.secret_rotates_until = now + draft.grace_s * 1000;
  }
  subscription.secrets.current = MakeSecret();
}

void ForgetFailures(Progress& progress) {
  progress.failures_in_a_row = 0;
  progress.failing_ms = 0;
  progress.attempts_failed = 0;
  progress.suspended = Suspended::kNot;
  progress.suspended_at = std::nullopt;
}

// What the log has after the position of a subscription.
struct Ahead {
  int64_t messages = 0;          // that the subscription asked for
  std::optional<UtcMs> next_at;  // the time of the next event, asked for or not
};

// Of each subscription, up to the event `last`.
std::vector<Ahead> ReadAhead(db::Session& session, db::CompanyId company,
                             std::span<const Subscription> subscriptions, int64_t last) {
  std::vector<Ahead> ahead(subscriptions.size());
  int64_t after = last;
  for (const Subscription& one : subscriptions) after = std::min(after, one.progress.settled_seq);
  if (after >= last) return ahead;
  events::ForEachHead(session, company, after, last, [&](const events::EventHead& head) {
    std::optional<std::string> body;
    for (size_t i = 0; i < subscriptions.size(); ++i) {
      if (head.seq <= subscriptions[i].progress.settled_seq) continue;
      if (!ahead[i].next_at) ahead[i].next_at = head.at;
      const Kinds kinds = subscriptions[i].selection.At(head.seq);
      LoggedChange change{head.type, head.changes, ""};
      if (NeedsBody(kinds, change)) {
        if (!body) {
          const auto event = events::Find(session, company, head.seq);
          body = event && !event->is_damaged ? event->body : "{}";
        }
        change.body = *body;
      }
      ahead[i].messages += static_cast<int64_t>(MessagesOf(kinds, change).size());
    }
  });
  return ahead;
}

// What is behind the position is counted in numbers, not delivered.
void SkipTo(db::Session& session, db::CompanyId company, int64_t last, Subscription& one) {
  const int64_t messages = ReadAhead(session, company, {&one, 1}, last).front().messages;
  // Those that have rows already were delivered, or are late: they account for themselves.
  const store::Rows rows = store::CountRows(session, company, {&one, 1}, last).front();
  one.progress.events_lost += messages - rows.ahead;
  one.progress.sequence += messages;
  one.progress.settled_seq = std::max(one.progress.settled_seq, last);
  one.selection.ForgetBefore(one.progress.settled_seq);
}

// What is late is due, and tried for as long as if it had never failed.
void BeginAnew(db::Tx& tx, db::CompanyId company, std::string_view id, UtcMs now) {
  for (Delivery& delivery : store::Unsettled(tx, company, id)) {
    if (delivery.state != State::kLate) continue;
    delivery.failing.since_ms = kNeverFailed;
    delivery.next_attempt_at = now;
    store::Put(tx, company, id, delivery);
  }
}

// What failed only because the receiver was down is due.
void MakeDueAfterDown(db::Tx& tx, db::CompanyId company, const Subscription& one, UtcMs now) {
  std::vector<Delivery> unsettled = store::Unsettled(tx, company, one.id);
  const auto late = std::ranges::count(unsettled, State::kLate, &Delivery::state);
  if (!outbox::IsDown(kLaneRules, one.progress.failures_in_a_row, late)) return;
  for (Delivery& delivery : unsettled) {
    if (delivery.state != State::kLate) continue;
    if (delivery.failing.WasOvertaken(one.progress.last_success_ms)) continue;
    delivery.next_attempt_at = now;
    store::Put(tx, company, one.id, delivery);
  }
}

// Of what is late and skipped: it has its number already.
void GiveUpLate(db::Tx& tx, db::CompanyId company, UtcMs now, Subscription& one) {
  for (Delivery& delivery : store::Unsettled(tx, company, one.id)) {
    delivery.state = State::kDead;
    delivery.next_attempt_at = std::nullopt;
    delivery.settled_at = now;
    store::Put(tx, company, one.id, delivery);
    ++one.progress.events_lost;
  }
}

Refusal NoSuchWebhook() { return Refusal(Problem::kNotFound, "There is no webhook with that id."); }

}  // namespace

Subscription Create(db::Tx& tx, db::CompanyId company, const Draft& draft, const db::Stamp& stamp) {
  if (store::Count(tx, company) >= static_cast<int64_t>(kSubscriptionsMax)) {
    throw Invalid("body", FieldCode::kTooManyItems,
                  "A company has at most " + std::to_string(kSubscriptionsMax) +
                      " webhooks: remove one that is no longer used.");
  }
  const int64_t last_seq = events::ExtentOf(tx, company).last;
  Subscription subscription{.id = NewId(stamp.now),
                            .configuration = {},
                            .selection = {},
                            .secrets = {.current = MakeSecret(), .old = {}},
                            .secret_rotates_until = {},
                            .progress = {.settled_seq = last_seq},
                            .revision = 1,
                            .created_at = stamp.now,
                            .updated_at = stamp.now};
  subscription.selection.Set(last_seq, Kinds::Default());
  Apply(draft, last_seq, subscription);
  store::Insert(tx, company, subscription);
  return subscription;
}

Subscription Get(db::Session& session, db::CompanyId company, std::string_view id) {
  std::optional<Subscription> found = store::Find(session, company, id);
  if (!found) throw NoSuchWebhook();
  return *std::move(found);
}

namespace {

void NoteGrace(db::Tx& tx, Graces& graces, db::CompanyId company, const Subscription& one,
               int64_t grace_s) {
  Grace grace{.company = company,
              .webhook_id = one.id,
              .until = *one.secret_rotates_until,
              .ends_at_ms = graces.clock().MonotonicMs() + grace_s * 1000};
  tx.OnCommit([&graces, grace = std::move(grace)] { graces.Put(grace); });
}

}  // namespace

Subscription Change(db::Tx& tx, Graces& graces, db::CompanyId company, std::string_view id,
                    const Draft& draft, const db::Stamp& stamp) {
  const Subscription before = Get(tx, company, id);
  Subscription one = before;
  const int64_t last_seq = events::ExtentOf(tx, company).last;
  Apply(draft, last_seq, one);
  if (draft.rotates_secret) Rotate(draft, stamp.now, one);
  const bool has_other_url = one.configuration.url != before.configuration.url;
  const bool begins_anew = has_other_url || draft.is_active.value_or(false);
  const bool changes = one.configuration != before.configuration ||
                       one.selection.Last() != before.selection.Last() || draft.rotates_secret;
  if (!changes && !begins_anew) return before;
  if (changes) one.updated_at = stamp.now;
  // What the worker has in memory of the old revision is dropped; it reads the row again.
  store::UpdateSettings(tx, company, one);
  if (begins_anew) {
    ForgetFailures(one.progress);
    if (draft.skips_backlog) {
      GiveUpLate(tx, company, stamp.now, one);
      SkipTo(tx, company, last_seq, one);
    } else {
      BeginAnew(tx, company, id, stamp.now);
    }
    store::UpdateProgress(tx, company, one);
  }
  ++one.revision;
  store::UpdateSettings(tx, company, one);
  if (draft.rotates_secret && one.secret_rotates_until) {
    NoteGrace(tx, graces, company, one, draft.grace_s);
  }
  return one;
}

std::vector<Behind> BehindOf(db::Session& session, db::CompanyId company,
                             std::span<const Subscription> subscriptions) {
  const int64_t last = events::ExtentOf(session, company).last;
  const std::vector<Ahead> ahead = ReadAhead(session, company, subscriptions, last);
  const std::vector<store::Rows> rows = store::CountRows(session, company, subscriptions, last);
  std::vector<Behind> behind;
  for (size_t i = 0; i < subscriptions.size(); ++i) {
    Behind one{.backlog = rows[i].unsettled + ahead[i].messages - rows[i].ahead,
               .oldest_at = rows[i].oldest_at};
    if (const auto next_at = ahead[i].next_at; next_at && one.backlog > 0) {
      one.oldest_at = std::min(one.oldest_at.value_or(*next_at), *next_at);
    }
    behind.push_back(one);
  }
  return behind;
}

Behind BehindOf(db::Session& session, db::CompanyId company, const Subscription& one) {
  return BehindOf(session, company, std::span(&one, 1)).front();
}

Removed Remove(db::Tx& tx, db::CompanyId company, std::string_view id) {
  std::optional<Subscription> found = store::FindAsItIs(tx, company, id);
  if (!found) throw NoSuchWebhook();
  const Behind behind = BehindOf(tx, company, *found);
  store::Delete(tx, company, id);
  return {*std::move(found), behind};
}

namespace {

// The worker reads the row and its deliveries again.
void RaiseRevision(db::Tx& tx, db::CompanyId company, Subscription& one) {
  ++one.revision;
  store::UpdateSettings(tx, company, one);
}

// False where the event is no longer kept.
bool MakeDueAgain(db::Tx& tx, db::CompanyId company, std::string_view id, Delivery& delivery,
                  UtcMs now) {
  const bool is_test = delivery.kind == Kind::kTest;
  if (!is_test && delivery.seq < events::ExtentOf(tx, company).oldest) return false;
  delivery.state = State::kLate;
  delivery.failing.failures = 0;
  delivery.failing.since_ms = kNeverFailed;
  delivery.next_attempt_at = now;
  delivery.settled_at = std::nullopt;
  store::Put(tx, company, id, delivery);
  return true;
}

}  // namespace

void NoteTest(db::Tx& tx, db::CompanyId company, std::string_view id, const Delivery& test,
              const db::Stamp& stamp) {
  std::optional<Subscription> one = store::Find(tx, company, id);
  if (!one) return;  // it was removed meanwhile
  store::Put(tx, company, id, test);
  const Attempt& attempt = test.attempts.back();
  if (attempt.outcome != Outcome::kAcknowledged) return;
  MakeDueAfterDown(tx, company, *one, stamp.now);
  one->progress.last_outcome = attempt.outcome;
  one->progress.last_status = attempt.status;
  one->progress.last_delivery_at = stamp.now;
  one->progress.failures_in_a_row = 0;
  one->progress.failing_ms = 0;
  one->progress.attempts_failed = 0;
  store::UpdateProgress(tx, company, *one);
  RaiseRevision(tx, company, *one);
}

Delivery Redeliver(db::Tx& tx, db::CompanyId company, std::string_view id,
                   std::string_view delivery_id, const db::Stamp& stamp) {
  Subscription one = Get(tx, company, id);
  std::optional<Delivery> delivery = store::FindDelivery(tx, company, id, delivery_id);
  if (!delivery) throw Refusal(Problem::kNotFound, "There is no delivery with that id.");
  if (!MakeDueAgain(tx, company, id, *delivery, stamp.now)) {
    throw Refusal(Problem::kNotFound, "The event of that delivery is no longer kept.");
  }
  RaiseRevision(tx, company, one);
  return *std::move(delivery);
}

void EndGrace(db::Tx& tx, db::CompanyId company, std::string_view id, UtcMs until) {
  std::optional<Subscription> one;
  try {
    one = store::Find(tx, company, id);
  } catch (const Fault& fault) {  // nothing is sent to a damaged one
    if (fault.kind != Fault::Kind::kDamaged) throw;
  }
  if (!one || one->secret_rotates_until != until) return;
  one->secrets.old.reset();
  one->secret_rotates_until.reset();
  RaiseRevision(tx, company, *one);
}

int64_t RedeliverDead(db::Tx& tx, db::CompanyId company, std::string_view id,
                      const db::Stamp& stamp) {
  Subscription one = Get(tx, company, id);
  int64_t queued = 0;
  for (Delivery& delivery : store::Dead(tx, company, id)) {
    if (delivery.kind == Kind::kTest) continue;  // it has told what it was sent to find out
    queued += MakeDueAgain(tx, company, id, delivery, stamp.now) ? 1 : 0;
  }
  RaiseRevision(tx, company, one);
  return queued;
}

void Purged(db::Tx& tx, db::CompanyId company, int64_t last) {
  std::vector<std::string> damage;
  for (Subscription& one : store::All(tx, company, damage)) {
    if (one.progress.settled_seq >= last) continue;
    SkipTo(tx, company, last, one);
    store::UpdateProgress(tx, company, one);
    RaiseRevision(tx, company, one);
  }
}

void RemoveAll(db::Tx& tx, db::CompanyId company) { store::DeleteAll(tx, company); }

void Check(db::Session& session, std::vector<std::string>& damage) {
  for (const db::CompanyId company : store::Companies(session)) {
    store::All(session, company, damage);
  }
  store::CheckDeliveries(session, damage);
}

void NoteRestored(db::Tx& tx, int64_t by) {
  std::vector<std::string> damage;
  for (const db::CompanyId company : store::Companies(tx)) {
    for (Subscription& one : store::All(tx, company, damage)) {
      one.progress.sequence += by;
      store::UpdateProgress(tx, company, one);
      RaiseRevision(tx, company, one);
    }
  }
}

}  // namespace comanda::webhooks
