#include "webhooks/deliverer.h"

#include <algorithm>
#include <utility>

#include "base/id.h"
#include "base/log.h"
#include "base/problem.h"
#include "base/random.h"
#include "base/text.h"
#include "base/version.h"
#include "company/companies.h"
#include "crypto/derived_id.h"
#include "events/feed.h"
#include "events/log.h"
#include "net/backoff.h"
#include "webhooks/schedule.h"
#include "webhooks/store.h"
#include "webhooks/webhooks.h"

namespace comanda::webhooks {
namespace {

constexpr int64_t kStoreEveryMs = 1'000;
constexpr int64_t kLookEveryMs = 60'000;
constexpr int64_t kReadOnlyEveryMs = 5'000;
constexpr int64_t kTimeoutMs = 10'000;
constexpr int64_t kConnectTimeoutMs = 3'000;
// The head of an answer decides. Its body is read for so long and so far, so that the connection
// can be used again; the beginning is kept.
constexpr int64_t kAnswerBodyMs = 2'000;
constexpr size_t kAnswerBytesMax = 64 * 1024;
constexpr size_t kAnswerBytesKept = 4 * 1024;
constexpr int kEventsAtOnce = 32;
constexpr int64_t kLogKept = Receiver::kDeliveredKept;
// Rows of what was delivered that are stored in a second: what comes faster is acknowledged by the
// position alone, and only its last ones are logged.
constexpr size_t kLoggedASecond = 1'000;
constexpr int64_t kLogKeptMs = 7LL * 24 * 60 * 60 * 1000;
// A position that moved over events that nobody asked for is stored with something else, or when
// that many were passed.
constexpr int64_t kPassedMax = 500;
constexpr int64_t kSkewToldS = 300;

Outcome OutcomeOf(net::Outcome outcome) {
  switch (outcome) {
    case net::Outcome::kTimeout:
      return Outcome::kTimeout;
    case net::Outcome::kNameNotFound:
      return Outcome::kNameNotFound;
    case net::Outcome::kAddressRefused:
      return Outcome::kAddressRefused;
    case net::Outcome::kTlsUntrusted:
      return Outcome::kTlsUntrusted;
    case net::Outcome::kTlsPinMismatch:
      return Outcome::kTlsPinMismatch;
    case net::Outcome::kAnswered:
    case net::Outcome::kConnectionFailed:
    case net::Outcome::kAnswerTooLarge:
    case net::Outcome::kCancelled:
    case net::Outcome::kNotStarted:
    case net::Outcome::kInvalidCall:
      return Outcome::kConnectionFailed;
  }
  return Outcome::kConnectionFailed;
}

// No attempt was made.
bool WasNotMade(const net::Answer& answer) {
  return answer.outcome == net::Outcome::kCancelled || answer.outcome == net::Outcome::kNotStarted;
}

// A text that a receiver sent, as a row can hold it.
std::string Readable(std::string text) {
  if (text.size() > kAnswerBytesKept) text.resize(kAnswerBytesKept);
  return IsUtf8(text) ? text : Visible(text);
}

Receiver::Ended Judge(const net::Answer& answer, const Configuration& configuration, UtcMs at,
                      UtcMs now) {
  constexpr int kGone = 410;
  Receiver::Ended ended;
  ended.attempt.at = at;
  ended.attempt.duration_ms = answer.duration_ms;
  ended.attempt.address = answer.address;
  if (const auto skew_ms = answer.ClockSkewMs(now)) ended.attempt.clock_skew_s = *skew_ms / 1000;
  if (answer.status == 0) {  // without a head there is no answer
    ended.attempt.outcome = OutcomeOf(answer.outcome);
    ended.attempt.answer = Readable(answer.error);
    return ended;
  }
  ended.is_acknowledged = configuration.Acknowledges(answer.status);
  ended.is_gone = !ended.is_acknowledged && answer.status == kGone;
  ended.attempt.outcome = ended.is_acknowledged ? Outcome::kAcknowledged : Outcome::kRefusedStatus;
  ended.attempt.status = answer.status;
  ended.attempt.answer = Readable(answer.body);
  if (const auto wait = answer.Header("Retry-After"); wait && !ended.is_acknowledged) {
    ended.retry_after_ms = net::ReadRetryAfter(*wait, now, kRetryAfterMaxMs);
  }
  return ended;
}

// What a test says: the record of the webhook.
std::string TestBody(const Subscription& subscription, const std::string& company_uuid,
                     const Delivery& delivery) {
  const std::string record = Render(subscription, {});
  return Render(Message{.kind = Kind::kTest,
                        .event_id = delivery.event_id,
                        .merchant_id = subscription.configuration.merchant_id,
                        .company_uuid = company_uuid,
                        .at = delivery.created_at,
                        .sequence = {},
                        .changes = {},
                        .note = {},
                        .data = record});
}

void TellSkew(const Attempt& attempt, const std::string& webhook) {
  if (!attempt.clock_skew_s || std::abs(*attempt.clock_skew_s) <= kSkewToldS) return;
  log::Warning(
      "the clocks of the box and of a webhook's receiver differ: above 300 s it refuses the "
      "signature; correct the wrong clock",
      {{"webhook", webhook}, {"clock_skew_s", *attempt.clock_skew_s}});
}

// What `find` returns; nothing where it throws Fault kDamaged.
template <typename Find>
auto IfSound(Find find) -> decltype(find()) {
  try {
    return find();
  } catch (const Fault& fault) {
    if (fault.kind != Fault::Kind::kDamaged) throw;
    return std::nullopt;
  }
}

// A damaged row counts as a missing one: its message is sent again, and the row is replaced.
bool HasRow(db::Session& session, db::CompanyId company, std::string_view webhook_id, int64_t seq,
            std::string_view id) {
  const auto find = [&] { return store::FindDelivery(session, company, webhook_id, seq, id); };
  return IfSound(find).has_value();
}

// The row of a subscription was changed since it was read, and its callers know of none of what
// became of messages. What has failed is due, as they asked for, unless they skipped it.
void Merge(db::Tx& tx, db::CompanyId company, Delivery row, const Subscription& stored, UtcMs now) {
  if (!row.settled_at) {
    const auto known =
        IfSound([&] { return store::FindDelivery(tx, company, stored.id, row.seq, row.id); });
    const bool was_skipped =
        known ? known->settled_at.has_value() : row.seq <= stored.progress.settled_seq;
    if (was_skipped) return;
    row.next_attempt_at = now;
  }
  store::Put(tx, company, stored.id, row);
}

void MergeProgress(db::Tx& tx, db::CompanyId company, const Receiver& receiver,
                   Subscription& stored) {
  const Progress& progress = receiver.subscription().progress;
  const bool has_moved = progress.settled_seq > stored.progress.settled_seq;
  const bool has_succeeded = progress.last_success_ms > stored.progress.last_success_ms;
  stored.progress.events_lost += receiver.lost_late();
  if (has_moved) {
    stored.progress.settled_seq = progress.settled_seq;
    stored.progress.sequence = progress.sequence;
    stored.progress.events_lost += receiver.lost() - receiver.lost_late();
  }
  // A success ends the failures that the stored row counts, whoever changed that row meanwhile.
  if (has_succeeded) {
    stored.progress.last_outcome = progress.last_outcome;
    stored.progress.last_status = progress.last_status;
    stored.progress.last_delivery_at = progress.last_delivery_at;
    stored.progress.last_success_ms = progress.last_success_ms;
    stored.progress.failures_in_a_row = progress.failures_in_a_row;
    stored.progress.failing_ms = progress.failing_ms;
    stored.progress.attempts_failed = progress.attempts_failed;
  }
  store::UpdateProgress(tx, company, stored);
}

}  // namespace

Deliverer::Deliverer(DelivererSettings settings, Heartbeats& heartbeats,
                     metrics::Registry& registry)
    : settings_(std::move(settings)),
      authorities_(settings_.options.webhook_ca),
      suspended_gauge_(
          registry, "comanda_webhooks_suspended", "Webhooks that are suspended.",
          [this] { return static_cast<double>(suspended_); }, "worker=\"" + settings_.name + "\""),
      failing_gauge_(
          registry, "comanda_webhooks_failing",
          "Webhooks whose last attempt failed and that are not suspended.",
          [this] { return static_cast<double>(failing_); }, "worker=\"" + settings_.name + "\""),
      courier_(WorkerOf(), heartbeats, registry,
               [this](events::Worker::Pass& pass) { return Pass(pass); }) {}

events::WorkerSettings Deliverer::WorkerOf() {
  // A pass waits for a writer that may be busy on a slow disk.
  constexpr int64_t kPassMaxMs = 10 * 60'000;
  return {.name = settings_.name,
          .heartbeat_max_ms = kPassMaxMs,
          .feed = &settings_.feed,
          .purged = [this](db::Tx& tx, db::CompanyId company, int64_t last) {
            Purged(tx, company, last);
            tx.OnCommit([this] { ++purges_; });
          }};
}

// The worker is ended first; answers that come later are not waited for.
Deliverer::~Deliverer() {
  courier_.Stop();
  try {
    TakeEnded();
    Store(true);
  } catch (const std::exception& error) {
    log::Warning("events that webhooks' receivers acknowledged last are sent again",
                 {{"why", error.what()}});
  }
}

Moment Deliverer::Now() const {
  return {.now = settings_.clock.Now(),
          .monotonic_ms = settings_.clock.MonotonicMs(),
          .counted_ms = settings_.marks.CountedMs(),
          .random = RandomBelow(UINT64_MAX)};
}

events::Worker::Done Deliverer::Pass(events::Worker::Pass& pass) {
  TakeEnded();
  ReadSubscriptions();
  if (slots_.empty()) return {};  // NoteChange() wakes it
  // Receivers count no failures meanwhile, and the log is the queue.
  if (settings_.hold != nullptr && settings_.hold->IsHeld()) return {.position = Position()};
  // Also while the database is read-only: what was sent could not be written down, and would be
  // sent again after a restart.
  if (settings_.database.IsReadOnly()) {
    return {.due_in_ms = kReadOnlyEveryMs, .position = Position()};
  }
  const int64_t now_ms = settings_.clock.MonotonicMs();
  if (networks_ == nullptr || now_ms - looked_ms_ >= kLookEveryMs) {
    networks_ = std::make_shared<const Networks>(LookAtMachine(settings_.options.webhook_networks));
    looked_ms_ = now_ms;
  }
  const int64_t passed_ms = pass_ms_ == 0 ? 0 : std::min(now_ms - pass_ms_, kLookEveryMs);
  pass_ms_ = now_ms;
  for (auto& [key, slot] : slots_) {
    pass.Beat();
    Receiver& receiver = *slot.receiver;
    if (!receiver.subscription().Sends() || slot.is_stale) continue;
    if (receiver.last_attempt_failed() && networks_->is_connected) receiver.AddFailing(passed_ms);
    receiver.SuspendIfFailing(Now());
    if (!receiver.subscription().Sends()) {
      log::Warning("a webhook is suspended: its receiver has failed for 72 hours",
                   {{"webhook", key.id}});
      continue;
    }
    Refill(key, slot);
  }
  SendAll();
  Store(false);
  NoteTrouble();
  std::optional<int64_t> due;
  const Moment moment = Now();
  for (auto& [key, slot] : slots_) {
    Receiver& receiver = *slot.receiver;
    std::optional<int64_t> next;
    if (!slot.is_stale) next = receiver.DueMs(moment);
    if (receiver.is_dirty() || !receiver.delivered().empty()) {
      next = std::min(next.value_or(INT64_MAX), stored_ms_ + kStoreEveryMs);
    }
    if (next) due = std::min(due.value_or(INT64_MAX), *next);
  }
  constexpr int64_t kShortestMs = 100;
  if (due) due = std::clamp<int64_t>(*due - moment.monotonic_ms, kShortestMs, kLookEveryMs);
  return {.due_in_ms = due, .position = Position()};
}

int64_t Deliverer::Position() const {
  int64_t sum = 0;
  for (const auto& [key, slot] : slots_) sum += slot.receiver->subscription().progress.settled_seq;
  return sum;
}

// Subscriptions

void Deliverer::ReadSubscriptions() {
  const int64_t changes = courier_.changes() + purges_;
  const bool some_are_stale =
      std::ranges::any_of(slots_, [](const auto& entry) { return entry.second.is_stale; });
  if (changes == seen_changes_ && !some_are_stale) return;
  Store(true);
  const Moment moment = Now();
  std::map<Key, Slot> read;
  std::vector<std::string> damage;
  settings_.database.Read([&](db::Snapshot& snapshot) {
    for (const db::CompanyId company : store::Companies(snapshot)) {
      const auto uuid = IfSound([&] { return std::optional(company::UuidOf(snapshot, company)); });
      if (!uuid) continue;
      for (Subscription& row : store::All(snapshot, company, damage)) {
        const Key key{company, row.id};
        const auto former = slots_.find(key);
        const bool is_known = former != slots_.end();
        if (is_known && former->second.receiver->subscription().revision == row.revision) {
          former->second.is_stale = false;
          read[key] = std::move(former->second);
          continue;
        }
        if (is_known && former->second.receiver->under_way() > 0) {
          former->second.is_stale = true;  // read again when what is under way has ended
          read[key] = std::move(former->second);
          continue;
        }
        read[key] = {.receiver = std::make_unique<Receiver>(
                         row, store::Unsettled(snapshot, company, row.id, damage), moment),
                     .company_uuid = *uuid};
      }
    }
  });
  for (const std::string& row : damage) settings_.database.damaged_rows().Note(row);
  slots_ = std::move(read);
  seen_changes_ = changes;
}

// Reading the log

namespace {

// Of a damaged event it is not known.
bool IsAskedFor(const Selection& selection, const events::StoredEvent& event) {
  return event.is_damaged ||
         !MessagesOf(selection.At(event.seq), {event.type, event.changes, event.body}).empty();
}

}  // namespace

void Deliverer::Refill(const Key& key, Slot& slot) {
  Receiver& receiver = *slot.receiver;
  while (receiver.HasRoom()) {
    bool at_end = false;
    settings_.database.Read([&](db::Snapshot& snapshot) {
      const Selection& selection = receiver.subscription().selection;
      const events::Page page = events::ReadPage(
          snapshot, key.company, receiver.read_seq(), kEventsAtOnce,
          [&](const events::StoredEvent& event) { return IsAskedFor(selection, event); });
      for (const events::StoredEvent& event : page.events) {
        const auto record = RecordOf(snapshot, key.company, event);
        if (record) {
          Take(snapshot, key, slot, event, *record);
        } else {
          receiver.TakeNumber();
          receiver.Lose();
        }
      }
      receiver.SetRead(page.position);
      at_end = page.at_end;
    });
    if (at_end) break;
  }
  if (receiver.MissesNewer()) LookForNewer(key, slot);
}

// While the window is full, so that the log is not read into it.
void Deliverer::LookForNewer(const Key& key, Slot& slot) {
  const Selection& selection = slot.receiver->subscription().selection;
  settings_.database.Read([&](db::Snapshot& snapshot) {
    const events::Page page = events::ReadPage(
        snapshot, key.company, slot.last_seq_at_attempt, 1,
        [&](const events::StoredEvent& event) { return IsAskedFor(selection, event); });
    slot.last_seq_at_attempt = page.position;
    if (!page.events.empty()) slot.receiver->NoteNewer();
  });
}

std::optional<std::string> Deliverer::RecordOf(db::Session& session, db::CompanyId company,
                                               const events::StoredEvent& event) const {
  if (!event.is_damaged) return event.body;
  std::optional<std::string> made = settings_.read_body(session, company, event.seq);
  return made && events::HadBody(company, event, *made) ? made : std::nullopt;
}

std::string Deliverer::BodyOf(const Slot& slot, const Delivery& delivery,
                              const events::StoredEvent& event, std::string_view record) {
  return Render(Message{.kind = delivery.kind,
                        .event_id = delivery.event_id,
                        .merchant_id = slot.receiver->subscription().configuration.merchant_id,
                        .company_uuid = slot.company_uuid,
                        .at = delivery.created_at,
                        .sequence = delivery.sequence,
                        .changes = event.changes,
                        .note = event.note,
                        .data = record});
}

void Deliverer::Take(db::Session& session, const Key& key, Slot& slot,
                     const events::StoredEvent& event, const std::string& record) {
  Receiver& receiver = *slot.receiver;
  const Subscription& subscription = receiver.subscription();
  const int64_t before = receiver.last_sequence();
  for (const Kind kind :
       MessagesOf(subscription.selection.At(event.seq), {event.type, event.changes, record})) {
    Item item;
    item.delivery = {.seq = event.seq,
                     .kind = kind,
                     .event_id = MessageId(event.event_id, kind),
                     .subject_type = event.subject_type,
                     .subject_id = event.subject_id,
                     .subject_version = event.subject_version,
                     .sequence = receiver.TakeNumber(),
                     .created_at = event.at};
    item.delivery.id = crypto::DerivedId(key.id, item.delivery.event_id);
    // The position may be behind messages that have a row already: they are late, or delivered.
    if (HasRow(session, key.company, key.id, event.seq, item.delivery.id)) continue;
    item.sequence_before = before;
    receiver.Append(std::move(item));
  }
}

// At each attempt, so that no body is kept: the same bytes, since they are made of the same row.
std::optional<std::string> Deliverer::ReadBody(const Key& key, const Slot& slot,
                                               const Delivery& delivery) {
  if (delivery.kind == Kind::kTest) {
    return TestBody(slot.receiver->subscription(), slot.company_uuid, delivery);
  }
  return settings_.database.Read([&](db::Snapshot& snapshot) -> std::optional<std::string> {
    const auto event = events::Find(snapshot, key.company, delivery.seq);
    if (!event) return std::nullopt;
    const std::optional<std::string> record = RecordOf(snapshot, key.company, *event);
    if (!record) return std::nullopt;
    return BodyOf(slot, delivery, *event, *record);
  });
}

// Sending

size_t Deliverer::UnderWay() const {
  size_t count = 0;
  for (const auto& [key, slot] : slots_) count += slot.receiver->under_way();
  return count;
}

// Each receiver gets one transfer before any gets a second, in turns; half of the transfers are
// kept for receivers whose last attempt succeeded.
void Deliverer::SendAll() {
  std::vector<std::pair<const Key*, Slot*>> ready;
  for (auto& [key, slot] : slots_) {
    if (!slot.is_stale) ready.emplace_back(&key, &slot);
  }
  if (ready.empty()) return;
  std::rotate(ready.begin(), ready.begin() + static_cast<ptrdiff_t>(first_++ % ready.size()),
              ready.end());
  for (size_t under_way = 0; under_way < kAtOnceMax; ++under_way) {
    for (const auto& [key, slot] : ready) {
      if (slot->receiver->under_way() == under_way) SendOne(*key, *slot);
    }
  }
}

void Deliverer::SendOne(const Key& key, Slot& slot) {
  Receiver& receiver = *slot.receiver;
  const size_t free = settings_.slots - std::min(settings_.slots, UnderWay());
  if (free == 0) return;
  if (receiver.last_attempt_failed() && free <= settings_.slots / 2) return;
  const Moment moment = Now();
  while (Item* const item = receiver.Next(moment)) {
    // Before anything is under way, which no failure of the database may leave so.
    const auto body = ReadBody(key, slot, item->delivery);
    if (body) return Send(key, slot, *item, *body, moment);
    receiver.Begin(*item, moment);
    const Attempt why{.at = moment.now, .answer = "the event is no longer kept"};
    receiver.GiveUp(item->delivery.id, why, moment);
  }
}

void Deliverer::Send(const Key& key, Slot& slot, Item& item, const std::string& body,
                     const Moment& moment) {
  Receiver& receiver = *slot.receiver;
  if (receiver.IsDown()) {
    slot.last_seq_at_attempt = settings_.database.Read(
        [&](db::Snapshot& snapshot) { return events::ExtentOf(snapshot, key.company).last; });
  }
  const std::string id = item.delivery.id;
  net::Call call = CallOf(key.company, receiver.subscription(), item.delivery, body, moment.now);
  receiver.Begin(item, moment);
  const auto ticket = settings_.network.Start(
      std::move(call), [put = courier_.Inbox(), key, id, now = moment.now](net::Answer answer) {
        put({key, id, std::move(answer), now});
      });
  if (!ticket) receiver.Undo(id);
}

net::Call Deliverer::CallOf(db::CompanyId company, const Subscription& subscription,
                            const Delivery& delivery, const std::string& body, UtcMs at) {
  const Configuration& configuration = subscription.configuration;
  const ParsedUrl url = ParseUrl(configuration.url);
  const bool is_https = url.target && url.target->is_https;
  net::Call call;
  call.purpose = net::Purpose::kWebhooks;
  call.method = "POST";
  call.url = configuration.url;
  call.body = body;
  call.connect_timeout_ms = kConnectTimeoutMs;
  call.timeout_ms = kTimeoutMs;
  call.answer_bytes_max = kAnswerBytesMax;
  call.body_timeout_ms = kAnswerBodyMs;
  call.public_key_pin = configuration.public_key_pin.value_or("");
  if (is_https) call.authorities = authorities_.Get();
  auto networks =
      networks_
          ? networks_
          : std::make_shared<const Networks>(LookAtMachine(settings_.options.webhook_networks));
  call.allows_address = [networks, is_https](std::string_view address) {
    return !WhyRefused(*networks, address, is_https);
  };
  Secrets secrets = subscription.secrets;
  if (!settings_.graces.Lasts(company, subscription)) secrets.old.reset();
  call.headers =
      Sign(secrets, delivery.event_id, at, body, settings_.options.webhook_signature_header);
  call.headers.push_back("Content-Type: application/json");
  call.headers.push_back("User-Agent: Comanda/" + std::string(kVersion));
  call.headers.push_back("X-Webhook-Attempt: " + std::to_string(delivery.failing.failures + 1));
  for (const auto& [name, value] : configuration.headers) {
    call.headers.push_back(value.empty() ? name + ";" : name + ": " + value);
  }
  return call;
}

void Deliverer::TakeEnded() {
  const Moment moment = Now();
  for (const Ended& one : courier_.TakeAnswers()) {
    const auto slot = slots_.find(one.key);
    if (slot == slots_.end()) continue;
    Receiver& receiver = *slot->second.receiver;
    if (WasNotMade(one.answer)) {
      receiver.Undo(one.delivery_id);
      continue;
    }
    const Configuration& configuration = receiver.subscription().configuration;
    const bool was_suspended = receiver.subscription().progress.suspended != Suspended::kNot;
    Receiver::Ended judged = Judge(one.answer, configuration, one.at, moment.now);
    TellSkew(judged.attempt, one.key.id);
    receiver.End(one.delivery_id, std::move(judged), moment);
    if (!was_suspended && receiver.subscription().progress.suspended == Suspended::kGone) {
      log::Warning("a webhook is suspended: its receiver answered 410", {{"webhook", one.key.id}});
    }
  }
}

// Storing

void Deliverer::Store(bool at_once) {
  const int64_t now_ms = settings_.clock.MonotonicMs();
  if (!at_once && now_ms - stored_ms_ < kStoreEveryMs) return;
  if (settings_.space.fullness() >= db::Fullness::kOrdersOnly) {  // it is sent again after a crash
    stored_ms_ = now_ms;
    return;
  }
  for (auto& [key, slot] : slots_) slot.receiver->Advance();
  size_t logged_max = at_once ? SIZE_MAX : kLoggedASecond;
  while (true) {
    const std::vector<Piece> pieces = NextPieces(logged_max);
    if (pieces.empty()) break;
    settings_.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
      for (const Piece& piece : pieces) StorePiece(tx, piece, stamp.now);
    });
    for (const Piece& piece : pieces) {
      piece.receiver->SetStored(piece.changed, piece.delivered);
      logged_max -= piece.delivered;
    }
    stored_ms_ = now_ms;
  }
}

// What one transaction stores: orders wait behind it.
std::vector<Deliverer::Piece> Deliverer::NextPieces(size_t logged_max) const {
  constexpr size_t kRowsAtOnce = 100;
  std::vector<Piece> pieces;
  size_t room = kRowsAtOnce;
  for (const auto& [key, slot] : slots_) {
    Receiver& receiver = *slot.receiver;
    Piece piece{.key = &key, .receiver = &receiver};
    piece.changed = std::min(room, receiver.changed().size());
    piece.is_last = piece.changed == receiver.changed().size();
    room -= piece.changed;
    if (piece.is_last) piece.delivered = std::min({room, logged_max, receiver.delivered().size()});
    room -= piece.delivered;
    logged_max -= piece.delivered;
    const bool has_moved = receiver.is_dirty() || receiver.passed() >= kPassedMax;
    if (has_moved || piece.delivered > 0) pieces.push_back(piece);
    if (room == 0) break;
  }
  return pieces;
}

// The position comes with the last of the changed rows: Take() passes over those that have a row
// without it.
void Deliverer::StorePiece(db::Tx& tx, const Piece& piece, UtcMs now) const {
  const db::CompanyId company = piece.key->company;
  const Receiver& receiver = *piece.receiver;
  const Subscription& subscription = receiver.subscription();
  auto stored = IfSound([&] { return store::Find(tx, company, subscription.id); });
  if (!stored) return;  // it was removed meanwhile, or is damaged
  const bool is_merged = stored->revision != subscription.revision;
  for (size_t i = 0; i < piece.changed; ++i) {
    const Delivery& row = receiver.changed()[i];
    if (is_merged) {
      Merge(tx, company, row, *stored, now);
    } else {
      store::Put(tx, company, subscription.id, row);
    }
  }
  for (size_t i = 0; i < piece.delivered; ++i) {
    store::Put(tx, company, subscription.id, receiver.delivered()[i]);
  }
  if (!piece.is_last) return;
  if (is_merged) {
    MergeProgress(tx, company, receiver, *stored);
  } else {
    store::UpdateProgress(tx, company, subscription);
  }
  store::Trim(tx, company, subscription.id, kLogKept, settings_.clock.RetentionNow() - kLogKeptMs);
}

Delivery Deliverer::Test(db::CompanyId company, const Subscription& subscription,
                         const std::string& company_uuid) {
  const UtcMs now = settings_.clock.Now();
  Delivery test{.id = NewId(now), .kind = Kind::kTest, .event_id = NewId(now), .created_at = now};
  const std::string body = TestBody(subscription, company_uuid, test);
  const net::Answer answer = settings_.network.Send(CallOf(company, subscription, test, body, now));
  Receiver::Ended ended = Judge(answer, subscription.configuration, now, settings_.clock.Now());
  test.state = ended.is_acknowledged ? State::kDelivered : State::kDead;
  test.settled_at = settings_.clock.Now();
  test.Add(std::move(ended.attempt));
  return test;
}

void Deliverer::NoteTrouble() {
  size_t suspended = 0, failing = 0;
  for (const auto& [key, slot] : slots_) {
    const Progress& progress = slot.receiver->subscription().progress;
    if (progress.suspended != Suspended::kNot) {
      ++suspended;
    } else if (progress.failures_in_a_row > 0) {
      ++failing;
    }
  }
  suspended_ = static_cast<int64_t>(suspended);
  failing_ = static_cast<int64_t>(failing);
  std::string trouble;
  if (suspended > 0) trouble = std::to_string(suspended) + " suspended";
  if (failing > 0) trouble += (trouble.empty() ? "" : ", ") + std::to_string(failing) + " failing";
  courier_.Say(std::move(trouble));
}

}  // namespace comanda::webhooks
