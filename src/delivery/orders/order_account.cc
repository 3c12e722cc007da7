#include "delivery/orders/order_account.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "base/concat.h"
#include "base/log.h"
#include "base/problem.h"
#include "base/random.h"
#include "base/text.h"
#include "company/companies.h"
#include "delivery/orders/whole_order.h"
#include "events/feed.h"
#include "orders/lifecycle.h"

namespace comanda::delivery {
namespace {

constexpr int64_t kPassEveryMs = 1'000;
constexpr int64_t kIdleMs = 60'000;  // while there is no account to ask with
constexpr int64_t kPassMaxMs = 60'000;
// Of an order, one event of each kind is usual.
constexpr int64_t kEventsAtOnce = 100, kEventsOfOrder = std::ssize(kNewsNames);
constexpr int kLogAtOnce = 200;
constexpr size_t kWrittenAtOnce = 20;
constexpr int64_t kPositionStep = 500;
// Of an order, one command of each kind at most.
constexpr int64_t kCommandsAtOnce = 100, kCommandsOfOrder = std::ssize(kCommandNames);
// The last try is ten minutes after the first.
constexpr int64_t kDetailsTriesMax = 15, kPlainTextsTriesMax = 4;
constexpr int64_t kPollFailureMsMax = 5 * 60'000;
constexpr int64_t kLateMsMax = 60 * 60'000;
constexpr int64_t kForgetEveryMs = 60 * 60'000;
constexpr int64_t kDayMs = 24 * 60 * 60'000;
constexpr int64_t kSaidDays = 7, kOrderDays = 90;
// Answers that cannot be read, of an app that gives them once; of another one is kept: it gives
// them again.
constexpr int64_t kUnreadableKept = 50;
constexpr int kNoContent = 204;
constexpr size_t kProblemMax = 500;
constexpr size_t kAnswerBytesMax = 4 * 1024 * 1024;
constexpr SessionLimits kLimits = {
    .session_ms = 20'000, .connect_ms = 5'000, .call_ms = 10'000, .bytes_max = kAnswerBytesMax};

// The app may take it later: 408 and 425 say so, and any trouble of its own.
bool IsPassing(int status) { return status == 408 || status == 425 || status >= 500; }

std::string Cut(std::string text) {
  if (text.size() > kProblemMax) text.resize(kProblemMax);
  return Visible(text);
}

std::string DescribeRefusal(const Refusal& refusal) {
  return Cut(refusal.detail.empty() ? "the app's answer is no order" : refusal.detail);
}

// Nothing for an order whose rows are damaged, which the check of the database reports: the others
// go on.
std::optional<orders::Order> LoadUndamaged(db::Session& session, db::CompanyId company,
                                           std::string_view id) {
  try {
    return orders::Load(session, company, id);
  } catch (const Fault& fault) {
    if (fault.kind != Fault::Kind::kDamaged) throw;
    return std::nullopt;
  }
}

std::string Labels(const std::string& app, db::CompanyId company) {
  return Concat({R"(app=")", app, R"(",company=")", company.value, R"(")"});
}

std::function<double()> Value(const std::atomic<int64_t>& value) {
  return [&value] { return static_cast<double>(value.load()); };
}

}  // namespace

OrderAccount::OrderAccount(OrderAccountSettings settings, AccountKey key, Heartbeats& heartbeats,
                           metrics::Registry& registry)
    : settings_(std::move(settings)),
      key_(std::move(key)),
      parked_gauge_(registry, "comanda_delivery_parked",
                    "What an app told, or was told, that waits for a person.", Value(parked_),
                    Labels(key_.app, key_.company)),
      unaccepted_gauge_(registry, "comanda_delivery_unaccepted",
                        "Orders that the app waits for to be confirmed.", Value(unaccepted_),
                        Labels(key_.app, key_.company)),
      waiting_gauge_(registry, "comanda_delivery_waiting",
                     "What an app told, or is to be told, that is not done yet.", Value(waiting_),
                     Labels(key_.app, key_.company)),
      asked_gauge_(
          registry, "comanda_delivery_asked",
          "1 while the app answers when it is asked for orders, else 0.",
          [this] { return is_asked_ ? 1.0 : 0.0; }, Labels(key_.app, key_.company)),
      courier_({.name = Concat({"orders of ", key_.app, " ", key_.company.value}),
                .heartbeat_max_ms = kPassMaxMs},
               heartbeats, registry, [this](events::Worker::Pass& pass) { return Pass(pass); }) {}

void OrderAccount::NoteChange(Change change) {
  if (change == Change::kAccount) ++account_changes_;
  courier_.NoteChange();
}

events::Worker::Done OrderAccount::Pass(events::Worker::Pass& pass) {
  pass_ = &pass;
  TakeChange();
  const std::optional<PassStart> start = ReadPassStart();
  if (!start) {
    is_asked_ = false;
    courier_.Say("");
    return {};
  }
  if (const auto why = WhyNotAsked(start->company)) {
    is_asked_ = false;
    poll_trouble_ = *why;
    if (const auto pending = ReadPending()) Publish(*pending);
    return {.due_in_ms = kIdleMs};
  }
  for (const store::AnswerRow& answer : start->answers) ReadAnswer(answer);
  bool has_more = FollowLog(start->app);
  if (settings_.clock.MonotonicMs() >= std::max(next_poll_ms_, not_before_ms_)) {
    Poll(start->app);
  }
  std::optional<Pending> pending = ReadPending();
  if (!pending) return {.due_in_ms = 0};
  AcceptAll(*pending);
  const size_t applied = ApplyAll(*pending);
  has_more |= applied > 0 && pending->events.size() >= kEventsAtOnce;
  SendAll(*pending);
  WarnOfUnaccepted(*pending);
  ForgetOld();
  Publish(*pending);
  return {.due_in_ms = has_more ? 0 : kPassEveryMs};
}

void OrderAccount::TakeChange() {
  const int64_t changes = courier_.changes(), account_changes = account_changes_;
  if (std::exchange(seen_changes_, changes) != changes) {
    account_.reset();
    position_ = -1;
  }
  if (std::exchange(seen_account_changes_, account_changes) == account_changes) return;
  token_ = {};
  next_poll_ms_ = not_before_ms_ = 0;
  poll_failures_ = 0;
  event_times_.clear();
  details_.Reset();
  commands_.Reset();
  poll_trouble_.clear();
  foreign_trouble_.clear();
}

std::optional<OrderAccount::PassStart> OrderAccount::ReadPassStart() {
  return settings_.database.Read([&](db::Snapshot& snapshot) -> std::optional<PassStart> {
    const auto app = store::FindApp(snapshot, key_);
    if (!app || app->mode == Mode::kOff) return std::nullopt;
    return PassStart{.app = *app,
                     .company = company::Get(snapshot, key_.company),
                     .answers = store::FindAnswers(snapshot, key_)};
  });
}

std::optional<OrderAccount::Pending> OrderAccount::ReadPending() {
  // Those that have a time of their own, such as orders for later and what is late, take no place
  // from the others.
  const int64_t events_at_once =
      kEventsAtOnce + std::ssize(event_times_) + kEventsOfOrder * details_.CountLate();
  const int64_t commands_at_once = kCommandsAtOnce + kCommandsOfOrder * commands_.CountLate();
  return settings_.database.Read([&](db::Snapshot& snapshot) -> std::optional<Pending> {
    const auto app = store::FindApp(snapshot, key_);
    if (!app || app->mode == Mode::kOff) return std::nullopt;
    Pending pending{.app = *app,
                    .company = company::Get(snapshot, key_.company),
                    .events = store::FindWaiting(snapshot, key_, events_at_once),
                    .commands = store::FindCommands(snapshot, key_, commands_at_once),
                    .parked = store::CountParked(snapshot, key_)};
    if (app->mode == Mode::kPrimary) pending.unaccepted = store::FindUnaccepted(snapshot, key_);
    return pending;
  });
}

// Sets account_ and source_; or says why the app cannot be asked.
std::optional<std::string> OrderAccount::WhyNotAsked(const company::Company& company) {
  if (settings_.hold != nullptr && settings_.hold->IsHeld()) {
    return "nothing is asked: the data came from another machine (comanda resume)";
  }
  if (settings_.database.IsReadOnly()) {
    return "nothing is asked: the database of the box takes no writes";
  }
  if (account_) return std::nullopt;
  auto provider = settings_.catalogue.Find(key_.app);
  if (!provider || !provider->orders) return "this app cannot be asked for orders";
  source_ = &SourceOf(provider->orders->dialect);
  std::string why;
  account_ =
      FindAccount(settings_.options, company, std::move(provider), settings_.authorities(), &why);
  if (!account_) return Concat({"credentials: ", why});
  return std::nullopt;
}

// Calls

CallResult OrderAccount::Call(const OrderCall& call) {
  pass_->Beat();
  const Provider& provider = *account_->provider;
  const OrdersSource& orders = *provider.orders;
  Session session(*account_, orders.token ? orders.token : provider.token, token_,
                  settings_.network, settings_.clock, kLimits, pass_->stop());
  CallResult result = session.Send([&](const Variables& variables) {
    Request request =
        Filled({.method = call.method, .url = orders.base, .headers = orders.headers}, variables);
    request.url += call.path;
    request.headers.insert(request.headers.end(), call.headers.begin(), call.headers.end());
    request.body = call.json;
    if (!call.json.empty()) request.content_type = "application/json";
    if (orders.signature) Sign(*orders.signature, variables, request);
    return request;
  });
  if (result.not_before_ms) not_before_ms_ = *result.not_before_ms;
  return result;
}

CallResult OrderAccount::Call(CallLane& lane, const std::string& order, const OrderCall& call) {
  lane.Begin(order, settings_.clock.MonotonicMs());
  CallResult result = Call(call);  // what throws later leaves nothing under way
  const bool is_answered = result.end == CallEnd::kAnswered || result.end == CallEnd::kForbidden;
  lane.End(is_answered && is_asked_);
  return result;
}

bool OrderAccount::MustWait() const {
  const int64_t now_ms = settings_.clock.MonotonicMs();
  return now_ms < not_before_ms_ || now_ms >= next_poll_ms_;
}

template <typename Row, typename Send>
void OrderAccount::CallInTurn(const CallLane& lane, std::vector<Row> rows, const Send& send) {
  while (!MustWait()) {
    const std::vector<Row> of_order = lane.TakeNext(rows, settings_.clock.MonotonicMs());
    if (of_order.empty()) return;
    send(of_order);
  }
}

bool OrderAccount::IsOfAll(const CallResult& result) const {
  return result.end == CallEnd::kRefused || result.end == CallEnd::kRateLimited || !is_asked_;
}

bool OrderAccount::NoteLate(CallLane& lane, const std::string& order, int64_t attempts,
                            const CallResult& result, int64_t tries_max) const {
  return lane.NoteLate(order, result.words, attempts, settings_.clock) >= tries_max;
}

template <typename Row, typename Write>
void OrderAccount::WriteInParts(const std::vector<Row>& rows, const Write& write) {
  std::span<const Row> left(rows);
  while (!left.empty()) {
    const auto part = left.first(std::min(left.size(), kWrittenAtOnce));
    left = left.subspan(part.size());
    settings_.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
      for (const Row& row : part) write(tx, row, stamp);
    });
  }
}

// The event log

bool OrderAccount::FollowLog(const AppRow& app) {
  if (position_ < 0) position_ = app.position;
  const events::Page page = settings_.database.Read([&](db::Snapshot& snapshot) {
    const events::Extent extent = events::ExtentOf(snapshot, key_.company);
    // Events that are purged were of last week: the app has ended those orders.
    position_ = std::clamp(position_, extent.oldest - 1, extent.last);
    return events::ReadPage(
        snapshot, key_.company, position_, kLogAtOnce,
        [](const events::StoredEvent& event) { return event.subject_type == "order"; });
  });
  std::vector<std::pair<std::string, CommandKind>> commands;
  std::vector<std::string> handed_over;
  for (const events::StoredEvent& event : page.events) {
    if (event.type == "ORDER_CREATED") NoteForeignOrder(event.subject_id);
    if (event.changes.find("status") == event.changes.npos) continue;
    settings_.database.Read([&](db::Snapshot& snapshot) {
      const auto external_id = store::FindExternalId(snapshot, key_, event.subject_id);
      if (!external_id) return;
      const auto row = store::FindOrder(snapshot, key_, *external_id);
      const auto order = LoadUndamaged(snapshot, key_.company, event.subject_id);
      if (!row || !order) return;
      const bool is_handed_over = order->status == orders::Status::kDelivered ||
                                  order->status == orders::Status::kFinalized;
      if (is_handed_over && row->pending > 0 && !source_->capabilities().tells_status) {
        handed_over.push_back(*external_id);
      }
      if (app.mode != Mode::kPrimary) return;
      for (const CommandKind kind : CommandsOf(*order, *row))
        commands.emplace_back(*external_id, kind);
    });
  }
  position_ = page.position;
  const bool has_news = !commands.empty() || !handed_over.empty();
  if (!has_news && position_ - app.position < kPositionStep) return !page.at_end;
  settings_.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    for (const auto& [external_id, kind] : commands) {
      store::AddCommand(tx, key_, external_id, kind, stamp.now);
    }
    for (const std::string& external_id : handed_over) {
      NoteHandedOver(tx, key_, external_id, stamp);
    }
    store::SetPosition(tx, key_, position_);
  });
  return !page.at_end;
}

// An order of this app that did not come this way: the cloud delivers them, too.
void OrderAccount::NoteForeignOrder(const std::string& order_id) {
  if (!foreign_trouble_.empty()) return;
  const bool is_foreign = settings_.database.Read([&](db::Snapshot& snapshot) {
    if (store::FindExternalId(snapshot, key_, order_id)) return false;
    const auto order = LoadUndamaged(snapshot, key_.company, order_id);
    return order && order->source == SourceNameOf(key_.app);
  });
  if (!is_foreign) return;
  foreign_trouble_ = "the cloud delivers orders of this app, too: each may come twice";
  log::Error("orders of a delivery app come twice",
             {{"app", key_.app}, {"order", order_id}, {"why", foreign_trouble_}});
}

// The commands that the app is to get, but for what it has told itself.
std::vector<CommandKind> OrderAccount::CommandsOf(const orders::Order& order,
                                                  const OrderRow& row) const {
  std::vector<CommandKind> commands;
  if (order.status == orders::Status::kCancelled) return commands;  // the app's own tool cancels
  const bool has_left =
      order.status >= orders::Status::kDelivered ||
      (order.delivery_status && *order.delivery_status >= orders::DeliveryStatus::kOnTheWay &&
       *order.delivery_status <= orders::DeliveryStatus::kDelivered);
  const auto add = [&](bool is_reached, CommandKind kind) {
    if (!is_reached || row.told >= NewsOf(kind)) return;
    if (CallFor(row, kind)) commands.push_back(kind);
  };
  add(order.status >= orders::Status::kPreparing, CommandKind::kConfirm);
  add(order.status >= orders::Status::kPreparing, CommandKind::kPrepare);
  add(order.status >= orders::Status::kReady, CommandKind::kReady);
  add(has_left, CommandKind::kDispatch);
  return commands;
}

std::optional<OrderCall> OrderAccount::CallFor(const OrderRow& row, CommandKind kind) const {
  return source_->Tell(account_->credentials, {.kind = kind,
                                               .external_id = row.external_id,
                                               .order_id = row.order_id,
                                               .is_delivered_here = row.is_delivered_here,
                                               .received_at = row.received_at});
}

bool OrderAccount::IsWatched(const AppRow& app) const {
  if (!settings_.database.health().writable) return false;
  return app.presence == Presence::kAlways || settings_.is_watched(key_.company);
}

// Orders that nobody would see are not confirmed.
void OrderAccount::AcceptAll(Pending& pending) {
  const bool accepts = pending.app.mode == Mode::kPrimary && pending.app.accept == Accept::kAuto &&
                       IsWatched(pending.app);
  const bool has_new = std::ranges::any_of(
      pending.unaccepted, [](const OrderRow& row) { return !row.is_being_confirmed; });
  if (!accepts || !has_new) return;
  WriteInParts(pending.unaccepted, [&](db::Tx& tx, const OrderRow& row, const db::Stamp& stamp) {
    store::AddCommand(tx, key_, row.external_id, CommandKind::kConfirm, stamp.now);
  });
  if (auto renewed = ReadPending()) pending = *std::move(renewed);
}

// Polling

void OrderAccount::Poll(const AppRow& app) {
  const bool is_present = app.mode == Mode::kPrimary && IsWatched(app);
  // Where another tool is in charge, nothing is taken from under it.
  const bool may_take = app.mode == Mode::kPrimary || !source_->capabilities().is_read_once;
  std::optional<std::string> why_not;
  if (may_have_missed_ || !may_take) {
    const auto missed = source_->PollMissed(account_->credentials);
    if (missed) why_not = PollOnce(*missed);
    may_have_missed_ = why_not.has_value();
  }
  if (!why_not && may_take) why_not = PollOnce(source_->Poll(account_->credentials, is_present));
  const int64_t now_ms = settings_.clock.MonotonicMs();
  const int64_t every_ms = source_->capabilities().poll_every_s * 1'000;
  is_asked_ = !why_not;
  if (!why_not) {
    poll_failures_ = 0;
    poll_trouble_.clear();
    details_.NoteAnswered();
    commands_.NoteAnswered();
    // A second more or less, so that boxes do not ask in step.
    next_poll_ms_ = now_ms + every_ms - 1'000 + static_cast<int64_t>(RandomBelow(2'000));
    return;
  }
  may_have_missed_ = true;
  details_.NoteDown();
  commands_.NoteDown();
  const std::string trouble = Concat({"cannot be asked for orders: ", *why_not});
  if (poll_trouble_ != trouble) {
    log::Warning("a delivery app cannot be asked for orders",
                 {{"app", key_.app}, {"why", *why_not}});
  }
  poll_trouble_ = trouble;
  // An app that is asked too rarely shows the store as closed: the first tries come at its pace.
  const int64_t slow_ms = every_ms * (int64_t{1} << std::min(std::max(poll_failures_ - 3, 0), 6));
  ++poll_failures_;
  next_poll_ms_ = now_ms + std::min(slow_ms, kPollFailureMsMax);
}

std::optional<std::string> OrderAccount::PollOnce(const OrderCall& call) {
  const CallResult result = Call(call);
  if (!result.IsSuccess()) return result.words;
  const std::string& body = result.body();
  const bool is_empty =
      result.status == kNoContent || Trimmed(body).empty() || Trimmed(body) == "[]";
  if (is_empty) return std::nullopt;  // nothing is to be kept
  store::AnswerRow answer{.body = IsUtf8(body) ? body : Visible(body)};
  answer.number = settings_.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    return store::AddAnswer(tx, key_, stamp.now, answer.body);
  });
  ReadAnswer(answer);
  return std::nullopt;
}

void OrderAccount::ReadAnswer(const store::AnswerRow& answer) {
  std::optional<Report> report;
  std::string problem = "the answer is none that the app documents";
  try {
    const json::Document document = json::Document::Parse(answer.body);
    report = source_->Read(account_->credentials, document.root());
  } catch (const Refusal& refusal) {
    problem = DescribeRefusal(refusal);
  }
  if (!report) return ParkAnswer(answer.number, problem);
  WriteInParts(report->events, [&](db::Tx& tx, const AppEvent& event, const db::Stamp& stamp) {
    if (!store::AddEvent(tx, key_, event, stamp.now) || !event.details) return;
    if (store::FindOrder(tx, key_, event.external_id)) return;
    store::PutOrder(
        tx, key_,
        {.external_id = event.external_id, .received_at = stamp.now, .details = *event.details});
  });
  for (const std::string& element : report->left_out) ParkElement(element);
  settings_.database.Write(
      [&](db::Tx& tx, const db::Stamp&) { store::RemoveAnswer(tx, key_, answer.number); });
  if (!report->events.empty()) Acknowledge(report->events);
}

void OrderAccount::ParkAnswer(int64_t number, const std::string& problem) {
  log::Error("an answer of a delivery app cannot be read",
             {{"app", key_.app}, {"answer", number}, {"why", problem}});
  settings_.database.Write([&](db::Tx& tx, const db::Stamp&) {
    const int64_t kept = source_->capabilities().is_read_once ? kUnreadableKept : 1;
    store::RemoveUnreadable(tx, key_, number - kept + 1);
    store::ParkAnswer(tx, key_, number, problem);
  });
}

// An app that gives its events until they are acknowledged gives it with every answer.
void OrderAccount::ParkElement(const std::string& element) {
  const std::string body = Concat({"[", element, "]"});
  const std::string problem = "one event of the answer is none that the app documents";
  const bool is_known = settings_.database.Read(
      [&](db::Snapshot& snapshot) { return store::IsParked(snapshot, key_, body); });
  if (is_known) return;
  const int64_t number = settings_.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    const int64_t added = store::AddAnswer(tx, key_, stamp.now, body);
    store::RemoveUnreadable(tx, key_, added - kUnreadableKept + 1);
    store::ParkAnswer(tx, key_, added, problem);
    return added;
  });
  log::Error("an event of a delivery app cannot be read",
             {{"app", key_.app}, {"answer", number}, {"why", problem}});
}

// What is not acknowledged comes again, and is acknowledged then.
void OrderAccount::Acknowledge(const std::vector<AppEvent>& events) {
  for (const OrderCall& call : source_->Acknowledge(events)) {
    const CallResult result = Call(call);
    if (result.IsSuccess()) continue;
    log::Warning("a delivery app does not accept the acknowledgement of its events",
                 {{"app", key_.app}, {"why", result.words}});
    return;
  }
}

// Applying

// Polls go first.
size_t OrderAccount::ApplyAll(const Pending& pending) {
  size_t applied = 0;
  std::vector<EventRow> unplaced;
  for (const EventRow& row : pending.events) {
    if (MustWait()) return applied;
    const int64_t begun_ms = settings_.clock.MonotonicMs();
    const auto time = event_times_.find(row.event.id);
    if (time != event_times_.end() && begun_ms < time->second) continue;
    const auto order = FindOrder(row);
    if (!order || order->order_id.empty()) {
      unplaced.push_back(row);
      continue;
    }
    ParkIfRefused(row, [&] { ApplyOne(pending.company, row, order->prepare_at, nullptr); });
    ++applied;
    pass_->Rest(settings_.clock.MonotonicMs() - begun_ms);
  }
  CallInTurn(details_, std::move(unplaced), [&](const std::vector<EventRow>& events) {
    const int64_t begun_ms = settings_.clock.MonotonicMs();
    ParkIfRefused(events.front(), [&] { PlaceOrder(pending.company, events); });
    applied += events.size();
    pass_->Rest(settings_.clock.MonotonicMs() - begun_ms);
  });
  return applied;
}

std::optional<OrderRow> OrderAccount::FindOrder(const EventRow& row) {
  return settings_.database.Read(
      [&](db::Snapshot& snapshot) { return store::FindOrder(snapshot, key_, OrderOf(row)); });
}

template <typename Work>
void OrderAccount::ParkIfRefused(const EventRow& row, const Work& work) {
  try {
    pass_->Beat();
    work();
  } catch (const Refusal& refusal) {
    Park(row, DescribeRefusal(refusal));
  } catch (const Fault& fault) {
    if (fault.kind != Fault::Kind::kDamaged) throw;
    Park(row, fault.cause);
  }
}

void OrderAccount::PlaceOrder(const company::Company& company,
                              const std::vector<EventRow>& events) {
  const EventRow& first = events.front();
  const auto known = FindOrder(first);
  const bool has_come = known && source_->capabilities().sends_orders_along;
  const auto details = has_come ? known->details : AskDetails(events);
  if (!details) return;
  const UtcMs received_at = known ? known->received_at : settings_.clock.Now();
  std::optional<Arrival> arrival;
  try {
    arrival = PrepareFrom(*details, company, first.event, received_at);
  } catch (const Refusal&) {
    KeepDetails(first.event, *details, received_at);
    throw;
  }
  ApplyOne(company, first, arrival->row.prepare_at, &*arrival);
  details_.RemoveLate(OrderOf(first));
  if (arrival->converted.adjustment != 0) {
    std::string amount;
    AppendScaled(amount, arrival->converted.adjustment, company.currency_decimals);
    log::Error("an order of a delivery app does not add up",
               {{"app", key_.app}, {"order", OrderOf(first)}, {"adjustment", amount}});
  }
  for (size_t i = 1; i < events.size(); ++i) {
    ParkIfRefused(events[i],
                  [&] { ApplyOne(company, events[i], arrival->row.prepare_at, nullptr); });
  }
}

void OrderAccount::ApplyOne(const company::Company& company, const EventRow& row,
                            std::optional<UtcMs> prepare_at, const Arrival* arrival) {
  const bool is_done = settings_.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    if (arrival != nullptr) PlaceArrival(tx, key_, company, *arrival, stamp);
    if (!Apply(tx, key_, row.event, stamp)) return false;
    store::SetApplied(tx, key_, row.event.id);
    return true;
  });
  event_times_.erase(row.event.id);
  if (is_done) return;
  const int64_t left_ms = prepare_at.value_or(0) - settings_.clock.Now();
  event_times_[row.event.id] =
      settings_.clock.MonotonicMs() + std::clamp(left_ms, kFirstWaitMs, kLastWaitMs);
}

Arrival OrderAccount::PrepareFrom(std::string_view details, const company::Company& company,
                                  const AppEvent& event, UtcMs received_at) const {
  Arrival arrival = Prepare(details, *source_, *account_->provider, company, received_at);
  if (arrival.row.external_id != event.external_id) {
    throw Refusal(Problem::kValidationFailed, "The app shows another order under this id.");
  }
  const int64_t late_ms = received_at - event.at;
  // The app counts from its own event; a clock that is far off says nothing of it.
  if (arrival.row.accept_by && late_ms > 0 && late_ms < kLateMsMax) {
    *arrival.row.accept_by -= late_ms;
  }
  return arrival;
}

void OrderAccount::KeepDetails(const AppEvent& event, const std::string& details,
                               UtcMs received_at) {
  settings_.database.Write([&](db::Tx& tx, const db::Stamp&) {
    const auto known = store::FindOrder(tx, key_, event.external_id);
    OrderRow order =
        known.value_or(OrderRow{.external_id = event.external_id, .received_at = received_at});
    order.details = IsUtf8(details) ? details : Visible(details);
    store::PutOrder(tx, key_, order);
  });
}

std::optional<std::string> OrderAccount::AskDetails(const std::vector<EventRow>& events) {
  const EventRow& first = events.front();
  const std::string& order = OrderOf(first);
  const CallResult result = Call(details_, order, source_->Details(account_->credentials, order));
  if (result.IsSuccess()) return AskPlainTexts(first, result.body());
  if (IsOfAll(result)) {
    details_.NoteDown();
    return std::nullopt;
  }
  // An event may come before its order.
  const bool is_unknown = result.end == CallEnd::kAnswered && !IsPassing(result.status);
  const int64_t tries_max = is_unknown ? kDetailsTriesMax : kTriesMax;
  if (!NoteLate(details_, order, first.attempts, result, tries_max)) {
    CountAttempt(first);
    return std::nullopt;
  }
  const std::string problem = Concat(
      {is_unknown ? "the app shows no such order: " : "not shown for a day: ", result.words});
  for (const EventRow& row : events) Park(row, problem);
  return std::nullopt;
}

std::optional<std::string> OrderAccount::AskPlainTexts(const EventRow& row, std::string details) {
  const json::Document document = json::Document::Parse(details);
  const auto call = source_->AskPlainTexts(document.root());
  if (!call) return details;
  const CallResult result = Call(details_, OrderOf(row), *call);
  const auto answer = result.IsSuccess() ? result.reply.Find("") : std::nullopt;
  std::string plain = answer ? source_->WithPlainTexts(document.root(), *answer) : details;
  const bool is_plain = !source_->AskPlainTexts(json::Document::Parse(plain).root());
  if (is_plain) return plain;
  if (!NoteLate(details_, OrderOf(row), row.attempts, result, kPlainTextsTriesMax)) {
    CountAttempt(row);
    return std::nullopt;
  }
  // The kitchen waits for the order, and the ticket can do without them.
  log::Error("a delivery app does not decrypt the personal data of its order",
             {{"app", key_.app},
              {"order", OrderOf(row)},
              {"why", result.IsSuccess() ? "parts stay encrypted" : result.words}});
  return plain;
}

void OrderAccount::CountAttempt(const EventRow& row) {
  settings_.database.Write(
      [&](db::Tx& tx, const db::Stamp&) { store::CountAttempt(tx, key_, row.event.id); });
}

void OrderAccount::Park(const EventRow& row, const std::string& problem) {
  const AppEvent& event = row.event;
  log::Error("an order of a delivery app is parked", {{"app", key_.app},
                                                      {"order", event.external_id},
                                                      {"event", event.id},
                                                      {"news", Name(event.news)},
                                                      {"why", problem}});
  settings_.database.Write(
      [&](db::Tx& tx, const db::Stamp&) { store::ParkEvent(tx, key_, event.id, problem); });
  event_times_.erase(event.id);
  details_.RemoveLate(event.external_id);
}

// Commands

// One command of an order in a pass: an app may answer before it has carried the last one out.
void OrderAccount::SendAll(const Pending& pending) {
  if (pending.app.mode != Mode::kPrimary) return;
  std::vector<CommandRow> commands = pending.commands;
  std::ranges::stable_sort(commands, {}, &CommandRow::kind);
  CallInTurn(commands_, std::move(commands),
             [&](const std::vector<CommandRow>& of_order) { SendOne(of_order.front()); });
}

void OrderAccount::SendOne(const CommandRow& row) {
  const auto order = settings_.database.Read(
      [&](db::Snapshot& snapshot) { return store::FindOrder(snapshot, key_, row.external_id); });
  const auto call = order ? CallFor(*order, row.kind) : std::nullopt;
  // What the app has told itself meanwhile needs no command.
  const bool is_needed = call && order->told < NewsOf(row.kind);
  if (!is_needed) {
    return EndCommand(row, [&](db::Tx& tx, const db::Stamp&) {
      store::SetDone(tx, key_, row.external_id, row.kind);
    });
  }
  const CallResult result = Call(commands_, row.external_id, *call);
  const bool is_done = result.IsSuccess() || (result.end == CallEnd::kAnswered &&
                                              source_->IsDoneAlready(result.status, result.body()));
  if (is_done) {
    return EndCommand(row, [&](db::Tx& tx, const db::Stamp& stamp) {
      store::SetDone(tx, key_, row.external_id, row.kind);
      if (row.kind != CommandKind::kConfirm) return;
      NoteConfirmed(tx, key_, row.external_id, source_->capabilities().tells_status, stamp);
    });
  }
  if (result.end == CallEnd::kAnswered && !IsPassing(result.status)) {
    return ParkCommand(row, result.words);
  }
  if (IsOfAll(result)) return commands_.NoteDown();
  if (NoteLate(commands_, row.external_id, row.attempts, result, kTriesMax)) {
    return ParkCommand(row, Concat({"not taken for a day: ", result.words}));
  }
  settings_.database.Write([&](db::Tx& tx, const db::Stamp&) {
    store::CountAttempt(tx, key_, row.external_id, row.kind);
  });
}

template <typename Write>
void OrderAccount::EndCommand(const CommandRow& row, const Write& write) {
  settings_.database.Write(write);
  commands_.RemoveLate(row.external_id);
}

void OrderAccount::ParkCommand(const CommandRow& row, const std::string& problem) {
  log::Error(
      "a delivery app refuses a request",
      {{"app", key_.app}, {"order", row.external_id}, {"step", Name(row.kind)}, {"why", problem}});
  EndCommand(row, [&](db::Tx& tx, const db::Stamp&) {
    store::ParkCommand(tx, key_, row.external_id, row.kind, problem);
  });
}

// Warnings

// At half and at three quarters of the app's time.
void OrderAccount::WarnOfUnaccepted(const Pending& pending) {
  const UtcMs now = settings_.clock.Now();
  const int64_t whole_ms = source_->capabilities().accept_within_s * 1'000;
  for (const OrderRow& row : pending.unaccepted) {
    if (!row.accept_by) continue;
    const int64_t left_ms = *row.accept_by - now;
    const int stage = left_ms * 4 <= whole_ms ? 2 : left_ms * 2 <= whole_ms ? 1 : 0;
    if (stage == 0 || !warned_.emplace(row.external_id, stage).second) continue;
    log::Error("an order of a delivery app is not accepted",
               {{"app", key_.app}, {"order", row.order_id}, {"seconds_left", left_ms / 1'000}});
  }
  std::erase_if(warned_, [&](const auto& warned) {
    return std::ranges::find(pending.unaccepted, warned.first, &OrderRow::external_id) ==
           pending.unaccepted.end();
  });
}

void OrderAccount::ForgetOld() {
  const int64_t now_ms = settings_.clock.MonotonicMs();
  if (forgot_ms_ != 0 && now_ms - forgot_ms_ < kForgetEveryMs) return;
  forgot_ms_ = now_ms;
  const UtcMs now = settings_.clock.RetentionNow();
  settings_.database.Write([&](db::Tx& tx, const db::Stamp&) {
    store::Forget(tx, key_, now - kSaidDays * kDayMs, now - kOrderDays * kDayMs);
  });
}

// "2 late, such as 4711 (status 503)"
std::string OrderAccount::DescribeLate(const Pending& pending) const {
  const auto has_failed = [](const auto& row) { return row.attempts > 0; };
  const auto count = std::ranges::count_if(pending.events, has_failed) +
                     std::ranges::count_if(pending.commands, has_failed);
  if (count == 0) return "";
  std::optional<outbox::Late> late = details_.FindFirstLate();
  if (!late) late = commands_.FindFirstLate();
  const std::string example =
      late ? Concat({", such as ", late->key, " (", late->trouble, ")"}) : "";
  return Concat({count, " late", example});
}

void OrderAccount::Publish(const Pending& pending) {
  std::string state = Concat({key_.app, " ", Name(pending.app.mode)});
  const auto add = [&](std::string_view text) {
    state += Concat({state.find(": ") == state.npos ? ": " : "; ", text});
  };
  if (!poll_trouble_.empty()) add(poll_trouble_);
  if (!foreign_trouble_.empty()) add(foreign_trouble_);
  if (!pending.unaccepted.empty()) {
    add(Concat({pending.unaccepted.size(), " not accepted"}));
  }
  if (const std::string late = DescribeLate(pending); !late.empty()) add(late);
  if (pending.parked > 0) {
    add(Concat({pending.parked, " parked (comanda provider parked ", key_.app, ")"}));
  }
  parked_ = pending.parked;
  unaccepted_ = static_cast<int64_t>(pending.unaccepted.size());
  waiting_ = static_cast<int64_t>(pending.events.size() + pending.commands.size());
  courier_.Say(std::move(state));
}

}  // namespace comanda::delivery
