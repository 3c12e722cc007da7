#include "cloud/syncer.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/concat.h"
#include "base/log.h"
#include "base/problem.h"
#include "base/random.h"
#include "cloud/link/features.h"
#include "cloud/log_follower.h"
#include "cloud/orders/pending.h"
#include "cloud/orders/sender.h"
#include "events/feed.h"
#include "net/backoff.h"

namespace comanda::cloud {
namespace {

using Poll = OrdersReader::Poll;

// A pass waits for a writer that may be busy on a slow disk, and for the cloud.
constexpr int64_t kPassMaxMs = 10 * 60'000;
// Changes of the log are planned together, in as few commits as can be: a till may wait for each.
constexpr int64_t kPlanEveryMs = 500;
constexpr int64_t kPlanOfflineEveryMs = 5'000;  // nothing is sent meanwhile
constexpr int64_t kFeaturesEveryMs = 24LL * 3'600'000;
// After a refusal of the key or a scope.
constexpr int64_t kRefusedEveryMs = 300'000;
constexpr int64_t kReadOnlyEveryMs = 5'000;
constexpr net::Growth kBackoff = {.first_ms = 1'000, .max_ms = 300'000};
// Steps of present orders before one request of a reader: a reader gets its turn on a busy evening,
// too.
constexpr int kStepsBeforeRead = 5;
// While steps are sent, a poll of the events ends at once, with the event of the last step: such
// polls would take half of the pace.
constexpr int kStepsBeforePoll = 10;
// Without a poll under way.
constexpr int64_t kUnwatchedMs = 5'000;
// Of a late order, whose every try may hold up the others for so long.
constexpr int64_t kLateAnswerMs = 8'000;
// A longer wait for the pace ends the pass.
constexpr int64_t kPaceWaitMsMax = 5'000;
constexpr int64_t kLookMs = 100;
// A single failure is no news.
constexpr int kFailuresToReport = 2;
constexpr int kTooManyRequests = 429;
// The shortest answer that every cloud has.
constexpr std::string_view kProbePath = "/v1/company";

// A failure of the event feed alone is shown as a reading that failed. It does not mean that the
// cloud is offline: other requests may be answered.
bool IsOfTheFeed(const Reply& reply) {
  constexpr int kInternalError = 500;
  return reply.verdict == Verdict::kLater &&
         (reply.reachability == Reachability::kUnusable || reply.answer.status() >= kInternalError);
}

}  // namespace

Syncer::Syncer(SyncerSettings settings, Heartbeats& heartbeats, metrics::Registry& registry)
    : settings_(std::move(settings)),
      orders_({.database = settings_.database,
               .clock = settings_.clock,
               .poll_ms = settings_.options.cloud_poll_seconds * 1'000,
               .rider_provider = settings_.options.cloud_rider_provider,
               .platform_name = settings_.options.platform_name}),
      restaurant_({.database = settings_.database,
                   .clock = settings_.clock,
                   .plan = [this] { PlanNow(); }}),
      connection_(settings_.options, settings_.clock, settings_.network),
      lane_(outbox::LaneRules{}),
      late_(kLatePatience),
      turns_(settings_.database, settings_.clock, lane_, late_),
      state_(settings_.clock, late_, registry),
      courier_({.name = "cloud", .heartbeat_max_ms = kPassMaxMs, .feed = &settings_.feed},
               heartbeats, registry, [this](events::Worker::Pass& pass) { return Pass(pass); }) {}

Syncer::~Syncer() {
  courier_.Stop();
  EndPoll();
}

LinkResult Syncer::Link(const LinkOrder& order) {
  LinkResult result = MakeLink({.options = settings_.options,
                                .clock = settings_.clock,
                                .database = settings_.database,
                                .network = settings_.network},
                               order);
  reconnects_ = true;
  NoteChange();
  return result;
}

Progressing Syncer::progress() const {
  Progressing progress = state_.Get();
  progress.internet = settings_.network.internet().state;
  // Until the worker has acted on a link or a `resume`, its former reason is out of date.
  const bool stood_still = progress.state == State::kStopped || progress.state == State::kPaused;
  if (stood_still && acted_changes_ != courier_.changes()) {
    progress.state = State::kBehind;
    progress.reason.clear();
  }
  return progress;
}

events::Worker::Done Syncer::Pass(events::Worker::Pass& pass) try {
  pass_ = &pass;
  TakeChange();
  if (!linked_) return {};
  // What the cloud answers could not be kept.
  if (settings_.database.IsReadOnly()) {
    state_.Enter(State::kStopped, "the database of the box takes no writes");
    Publish();
    return {.due_in_ms = kReadOnlyEveryMs, .position = linked_->link.planned_seq};
  }
  Plan();
  if (linked_->link.paused_at) {
    Owe();
    state_.Enter(State::kPaused, "");
  } else if (settings_.hold && settings_.hold->IsHeld()) {
    Owe();
    state_.Enter(State::kStopped, settings_.hold->Describe());
  } else if (!connection_.client()) {
    state_.Enter(State::kStopped, connection_.why_not());
  } else if (!lane_.IsHeld(settings_.clock.MonotonicMs())) {
    try {
      Exchange();
      if (std::exchange(has_failed_, false)) state_.Enter(State::kInStep, "");
    } catch (const Interrupted&) {  // Fail() and Stop() have noted why
      has_failed_ = false;
    }
  }
  Publish();
  return {.due_in_ms = DueInMs(), .position = linked_->link.planned_seq};
} catch (const Fault& fault) {
  // The cloud may answer, but what it says cannot be stored: the disk is full.
  has_failed_ = true;
  state_.Enter(State::kStopped, fault.cause);
  throw;
}

// The link, the key and the authorities, when somebody has changed them.
void Syncer::TakeChange() {
  const int64_t changes = courier_.changes();
  if (changes == seen_changes_) return;
  if (reads_again_.exchange(false)) {
    // The request has made all due; a reading that was under way may have stored behind it that it
    // took place, of what the cloud had before.
    settings_.database.Write([](db::Tx& tx, const db::Stamp&) {
      if (const auto linked = FindLinked(tx)) MakeDue(tx, linked->company);
    });
  }
  linked_ = settings_.database.Read([](db::Snapshot& snapshot) { return FindLinked(snapshot); });
  seen_changes_ = changes;
  lane_.Release();
  late_.MakeDue();
  if (!linked_) late_.Clear();
  state_.CountAnew();
  orders_.Restart();
  const cloud::Link* const link = linked_ ? &linked_->link : nullptr;
  const bool is_new = reconnects_.exchange(false);
  if (is_new || !link) state_.NoteLinked();
  if (connection_.Renew(link, is_new)) Owe();
  state_.Enter(linked_ ? State::kBehind : State::kNotLinked, "");
  acted_changes_ = changes;
}

void Syncer::EndPoll() {
  ++poll_number_;
  if (polling_) settings_.network.Cancel(*polling_);
  polling_.reset();
}

// Planning

void Syncer::Plan() {
  if (settings_.clock.MonotonicMs() >= planned_ms_ + PlanEveryMs()) PlanNow();
}

int64_t Syncer::PlanEveryMs() const {
  return lane_.failures_in_a_row() >= kFailuresToReport ? kPlanOfflineEveryMs : kPlanEveryMs;
}

void Syncer::PlanNow() {
  // References of orders that were planned before would be left out.
  if (!restaurant_.HasReadAll(*linked_)) return;
  planned_ms_ = settings_.clock.MonotonicMs();
  // What is sent at once is put into the journal at once.
  const Makes makes =
      lane_.failures_in_a_row() == 0 && connection_.client() ? Makes::kNext : Makes::kCreation;
  LogFollower({.database = settings_.database,
               .clock = settings_.clock,
               .rules = Rules(),
               .makes = makes,
               .pass = *pass_},
              *linked_)
      .Follow();
}

// The exchange with the cloud

void Syncer::Exchange() {
  while (true) {
    pass_->Beat();
    TakeEvents();
    if (OwesPoll()) PollAtOnce();
    LookForFeatures();
    FollowEvents();
    // First, because orders refer to its records.
    if (restaurant_.DueInMs(*linked_) <= 0) {
      // A menu of an earlier time would undo what was pushed.
      PollAtOnce();
      restaurant_.Read(*linked_, *this);
      ReadLink();
      Plan();
    }
    if (orders_.DueInMs(*linked_) <= 0) {
      orders_.Read(*linked_, *this);
      ReadLink();
    }
    FollowEvents();  // from the cursor that the first reading has found
    if (client().pace().DueInMs(settings_.clock.MonotonicMs()) > 0) return;
    if (MustPoll() && turns_.NextOfAll(linked_->company)) {
      PollAtOnce();
      continue;
    }
    if (!SendNext()) {
      is_echoing_ = false;
      polls_at_ms_ = 0;
      FollowEvents();
      return;
    }
    Plan();
  }
}

void Syncer::ReadLink() {
  auto link = settings_.database.Read(
      [&](db::Snapshot& snapshot) { return FindLink(snapshot, linked_->company); });
  if (link) linked_->link = *std::move(link);
}

// Once a day, whenever the box was started or resumed meanwhile. A time that lies ahead is one of a
// clock that was wrong.
void Syncer::LookForFeatures() {
  const UtcMs now = settings_.clock.Now();
  const UtcMs found_at = linked_->link.features.found_at;
  if (found_at <= now && now < found_at + kFeaturesEveryMs) return;
  Features found = FindFeatures(*this, now);
  ReadLink();
  found.makers = linked_->link.features.makers;
  settings_.database.Write(
      [&](db::Tx& tx, const db::Stamp&) { PutFeatures(tx, linked_->company, found); });
  linked_->link.features = found;
}

SendRules Syncer::Rules() const {
  return RulesOf(settings_.options.cloud_rider_provider, linked_->link);
}

// Its request, which is in the journal then. Orders of which nothing differs any more are passed.
std::optional<Waiting> Syncer::NextToSend(bool is_present) {
  const auto next = [&] {
    const db::CompanyId company = linked_->company;
    return is_present ? turns_.NextPresent(company) : turns_.NextOfAll(company);
  };
  while (const auto order_id = next()) {
    auto waiting = settings_.database.Read([&](db::Snapshot& snapshot) {
      return RequestUnderWay(snapshot, linked_->company, *order_id, Rules());
    });
    if (waiting) return waiting;
    waiting = settings_.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
      return NextRequest(tx, linked_->company, *order_id, Rules(), stamp);
    });
    if (waiting) return waiting;
    pass_->Beat();
  }
  return std::nullopt;
}

// False where the cloud gave no usable answer: nothing is known of it.
bool Syncer::Send(const Waiting& waiting) {
  const bool is_late = late_.Contains(waiting.order_id);
  Sender sender({.database = settings_.database,
                 .clock = settings_.clock,
                 .rules = Rules(),
                 .platform_name = settings_.options.platform_name,
                 .ask =
                     [this, is_late](Request request) {
                       if (is_late) request.answer_ms = kLateAnswerMs;
                       WaitForPace();
                       return AskForStep(request);
                     }},
                linked_->company);
  if (!sender.Send(waiting)) return false;
  late_.Remove(waiting.order_id);
  return true;
}

// A step was not answered. Whether that is the order's trouble alone or the cloud's, another
// request tells.
void Syncer::NoteLate(const Waiting& waiting) {
  const std::string trouble = step_trouble_;
  Probe(trouble);
  const auto noted = late_.NoteFailure(waiting.order_id, trouble, Now());
  if (noted.failures == kFailuresToReport) {
    log::Warning(
        "the cloud does not answer the request for one order, but answers others",
        {{"order", waiting.order_id}, {"step", Name(waiting.step.kind)}, {"why", trouble}});
  }
  if (!noted.must_park || waiting.order_id.empty()) return;
  settings_.database.Write([&](db::Tx& tx, const db::Stamp&) {
    store::ParkUnanswered(tx, linked_->company, waiting.order_id, trouble);
  });
  late_.Remove(waiting.order_id);
}

// Throws Interrupted where the cloud does not answer another request either.
void Syncer::Probe(const std::string& trouble) {
  WaitForPace();
  if (AskAtOnce({.path = std::string(kProbePath)}).verdict != Verdict::kLater) return;
  Delay(trouble);
  throw Interrupted();
}

outbox::Moment Syncer::Now() const {
  const int64_t now_ms = settings_.clock.MonotonicMs();
  return {.now = settings_.clock.Now(),
          .monotonic_ms = now_ms,
          .counted_ms = now_ms,
          .random = RandomBelow(UINT64_MAX)};
}

// False where nothing waits.
bool Syncer::SendNext() {
  auto waiting = NextToSend(true);
  const bool is_present = waiting.has_value();
  if (!waiting) waiting = NextToSend(false);
  if (!waiting) return false;
  turns_.CountOrder(is_present);
  ++sent_since_poll_;
  if (!Send(*waiting)) NoteLate(*waiting);
  return true;
}

Reply Syncer::Ask(const Request& request) {
  for (int sent = 0; sent < kStepsBeforeRead; ++sent) {
    Plan();
    const auto waiting = OwesPoll() ? std::nullopt : NextToSend(true);
    if (!waiting) break;
    if (!Send(*waiting)) NoteLate(*waiting);
  }
  WaitForPace();
  turns_.CountOther();
  return AskAtOnce(request);
}

void Syncer::WaitForPace() {
  while (true) {
    const int64_t wait_ms = client().pace().DueInMs(settings_.clock.MonotonicMs());
    if (wait_ms <= 0) return;
    if (wait_ms > kPaceWaitMsMax) throw Interrupted();
    pass_->Beat();
    std::this_thread::sleep_for(std::chrono::milliseconds(std::min(wait_ms, kLookMs)));
  }
}

Reply Syncer::AskAtOnce(const Request& request) {
  pass_->Beat();
  Reply reply = client().Send(request, pass_->stop());
  pass_->Beat();  // ends the thread before a cancelled request counts as a failure
  Judge(reply);
  return reply;
}

// A step that gets no usable answer is judged by what another request gets; a cloud that is busy,
// or another server than it was, needs none.
Reply Syncer::AskForStep(const Request& request) {
  pass_->Beat();
  Reply reply = client().Send(request, pass_->stop());
  pass_->Beat();
  const bool is_of_cloud = reply.answer.status() == kTooManyRequests ||
                           reply.reachability == Reachability::kCertificate ||
                           reply.reachability == Reachability::kClock;
  step_trouble_ = reply.trouble;
  if (reply.verdict == Verdict::kLater) Owe();
  if (reply.verdict != Verdict::kLater || is_of_cloud) Judge(reply);
  return reply;
}

// Throws Interrupted where nothing more can be asked now.
void Syncer::Judge(const Reply& reply) {
  switch (reply.verdict) {
    case Verdict::kOk:
    case Verdict::kNotModified:
    case Verdict::kRefused:
      NoteHeard();
      return;
    case Verdict::kKeyRefused:
      Owe();
      Stop("key refused: " + reply.trouble);
      throw Interrupted();
    case Verdict::kScopeMissing:
      Owe();
      Stop("scope missing: " + reply.trouble);
      throw Interrupted();
    case Verdict::kLater:
      Owe();
      if (reply.reachability == Reachability::kUnusable) return;  // of this request alone
      Fail(reply);
      throw Interrupted();
  }
}

// The long poll of the cloud's events

void Syncer::FollowEvents() {
  if (polling_ || (is_echoing_ && sent_since_poll_ < kStepsBeforePoll)) return;
  const int64_t now_ms = settings_.clock.MonotonicMs();
  const auto request = orders_.EventsRequest(*linked_);
  if (!request || now_ms < polls_at_ms_ || client().pace().DueInMs(now_ms) > 0) return;
  const auto put = courier_.Inbox();
  polling_ = client().Start(*request, [put, number = ++poll_number_](net::Answer answer) {
    put({number, std::move(answer)});
  });
}

void Syncer::TakeEvents() {
  for (Polled& polled : courier_.TakeAnswers()) {
    if (polled.number == poll_number_) TakeEvents(client().Judge(std::move(polled.answer)));
  }
}

// Ends the poll under way, which may be answered by the cloud as it was.
void Syncer::Owe() {
  EndPoll();
  is_poll_owed_ = true;
}

bool Syncer::OwesPoll() const {
  return is_poll_owed_ && orders_.EventsRequest(*linked_, Poll::kOwed);
}

// Also where no poll was under way for a while: the cloud could have been exchanged since, and no
// failure has told it.
bool Syncer::MustPoll() const {
  if (OwesPoll()) return true;
  const bool is_watched =
      polling_ || is_echoing_ || settings_.clock.MonotonicMs() < polled_at_ms_ + kUnwatchedMs;
  return !is_watched && orders_.EventsRequest(*linked_, Poll::kOwed);
}

void Syncer::PollAtOnce() {
  const auto request = orders_.EventsRequest(*linked_, Poll::kOwed);
  if (!request) return;
  EndPoll();
  WaitForPace();
  pass_->Beat();
  const Reply reply = client().Send(*request, pass_->stop());
  pass_->Beat();
  if (IsOfTheFeed(reply)) Probe(reply.trouble);
  TakeEvents(reply);
}

void Syncer::TakeEvents(const Reply& reply) {
  polling_.reset();
  const bool is_of_the_feed = IsOfTheFeed(reply);
  if (!is_of_the_feed) Judge(reply);
  const Poll poll = is_poll_owed_ ? Poll::kOwed : Poll::kDue;
  is_poll_owed_ = is_of_the_feed && poll == Poll::kDue;
  const int64_t begun_ms = settings_.clock.MonotonicMs();
  polled_at_ms_ = begun_ms;
  is_echoing_ = orders_.TakeEvents(*linked_, reply, poll);
  sent_since_poll_ = 0;
  // The steps get as much time as a page of events takes: after an outage of both sides they would
  // wait for all of the cloud's events, at one step a page.
  const int64_t now_ms = settings_.clock.MonotonicMs();
  polls_at_ms_ = now_ms + (now_ms - begun_ms);
  ReadLink();
}

// States

void Syncer::NoteHeard() {
  lane_.NoteAnswered();
  NoteTraffic();  // a pass may be long, and its first answer tells the pace
  state_.NoteHeard();
  if (!has_failed_) state_.Enter(State::kInStep, "");
}

// A request that failed is tried again after a wait that grows; 429 names its own.
void Syncer::Fail(const Reply& reply) {
  Delay("");
  const bool is_busy = reply.reachability == Reachability::kReached && reply.answer.status() == 429;
  if (is_busy) state_.Enter(State::kBehind, "the cloud asks to wait: " + reply.trouble);
  if (is_busy || lane_.failures_in_a_row() < kFailuresToReport) return;
  state_.Enter(State::kOffline, Concat({Name(reply.reachability), ": ", reply.trouble}));
}

void Syncer::Delay(std::string_view why) {
  lane_.NoteUnanswered();
  const int failures = static_cast<int>(lane_.failures_in_a_row());
  const int64_t wait_ms = net::WaitWithFullJitter(kBackoff, failures, RandomBelow(UINT64_MAX));
  const int64_t now_ms = settings_.clock.MonotonicMs();
  lane_.Hold(now_ms + std::max(wait_ms, client().pace().DueInMs(now_ms)));
  if (!why.empty() && failures >= kFailuresToReport)
    state_.Enter(State::kOffline, std::string(why));
}

void Syncer::Stop(std::string reason) {
  lane_.Hold(settings_.clock.MonotonicMs() + kRefusedEveryMs);
  state_.Enter(State::kStopped, std::move(reason));
}

// What /readyz and the metrics show.
void Syncer::Publish() {
  const int64_t now_ms = settings_.clock.MonotonicMs();
  state_.Count(settings_.database, linked_->company);
  const int64_t pace_ms = connection_.client() ? client().pace().DueInMs(now_ms) : 0;
  const int64_t wait_ms =
      std::max(lane_.held_until_ms() - now_ms, pace_ms > kPaceWaitMsMax ? pace_ms : 0);
  state_.NotePass(
      {.scans = linked_->link.scanned_id.has_value(),
       .has_read_orders = orders_.HasRead(*linked_),
       .owes_poll = OwesPoll(),
       .next_at = wait_ms > 0 ? std::optional(settings_.clock.Now() + wait_ms) : std::nullopt});
  if (connection_.client()) NoteTraffic();
}

void Syncer::NoteTraffic() {
  state_.NoteTraffic(connection_.requests(), connection_.bytes(), client().pace().PerMinute());
}

// Nothing: a commit, or NoteChange(), begins the next pass.
std::optional<int64_t> Syncer::DueInMs() {
  const int64_t now_ms = settings_.clock.MonotonicMs();
  const bool is_still = linked_->link.paused_at || !connection_.client() ||
                        (settings_.hold && settings_.hold->IsHeld());
  const int64_t plan_ms = std::max<int64_t>(0, planned_ms_ + PlanEveryMs() - now_ms);
  const bool has_unplanned = settings_.database.Read([&](db::Snapshot& snapshot) {
    return events::ExtentOf(snapshot, linked_->company).last > linked_->link.planned_seq;
  });
  std::optional<int64_t> due_ms;
  const auto take = [&](int64_t ms) {
    due_ms = std::min(due_ms.value_or(ms), std::max<int64_t>(ms, 0));
  };
  if (has_unplanned && restaurant_.HasReadAll(*linked_)) take(plan_ms);
  if (is_still) return due_ms;
  if (lane_.IsHeld(now_ms)) {
    take(lane_.held_until_ms() - now_ms);
    return due_ms;
  }
  const int64_t pace_ms = client().pace().DueInMs(now_ms);
  take(std::max(pace_ms, orders_.DueInMs(*linked_)));
  take(std::max(pace_ms, restaurant_.DueInMs(*linked_)));
  const bool has_steps = progress().steps_waiting > 0;
  if (has_steps && turns_.NextOfAll(linked_->company)) take(pace_ms);
  if (has_steps && late_.DueInMs(now_ms)) take(std::max(pace_ms, *late_.DueInMs(now_ms)));
  if (!polling_ && orders_.EventsRequest(*linked_)) take(pace_ms);
  return due_ms;
}

}  // namespace comanda::cloud
