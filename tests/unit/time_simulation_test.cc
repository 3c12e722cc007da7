// Histories of a box whose clock is wrong, beside a model of what must hold (contract sections 1,
// 3, 5, 6, 13; the rule of base/time/clock.h). Each history is made from a number: the clock is
// stepped, put right and kept by a time server, the box is stopped and killed and off for a while
// with a clock that goes on or does not, and between that requests are sent to the real rooms over
// a real database. The model knows the true time and what was promised; it is written from the
// contract.
//
//   COMANDA_SEED=N          the first history's number is N x 10,000,000; a failure prints its own
//   number COMANDA_HISTORIES=N     how many; 20,000 else, 1,000,000 with COMANDA_LONG
//   COMANDA_HISTORY=N       that one alone
//
// Not here, since they look at no Clock: long polls and idle connections wait by the kernel's
// monotonic clock (tests/fault/test_clock.py).

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "app/clock_watch.h"
#include "base/time/ends.h"
#include "base/id.h"
#include "base/log.h"
#include "base/time/settled_clock.h"
#include "company/api.h"
#include "events/api.h"
#include "events/log.h"
#include "events/marks.h"
#include "events/retention.h"
#include "http/idempotency.h"
#include "json/reader.h"
#include "keys/api.h"
#include "keys/keys.h"
#include "keys/pairing.h"
#include "keys/pairing_api.h"
#include "menu/api.h"
#include "menu/catalogue.h"
#include "menu/sold_out.h"
#include "ops/certificate_rule.h"
#include "orders/api.h"
#include "orders/orders.h"
#include "support/api.h"
#include "webhooks/api.h"
#include "webhooks/graces.h"
#include "webhooks/webhooks.h"

namespace comanda {
namespace {

constexpr int64_t kSecond = 1000;
constexpr int64_t kMinute = 60 * kSecond;
constexpr int64_t kHour = 60 * kMinute;
constexpr int64_t kDay = 24 * kHour;
constexpr int64_t kKept = 7 * kDay;
constexpr int64_t kSmallStep = 5 * kMinute;
constexpr int64_t kChoresEvery = 6 * kHour;  // each minute, truly: the model allows for it
constexpr int64_t kOffAtMost = kDay + kHour;
constexpr int kSchemaVersion = 7;
constexpr int kRatePerMinute = 5;
constexpr UtcMs kBuilt = 1'790'000'000'000;
constexpr UtcMs kBegin = 1'800'000'000'000;

// A history.

enum class Op : uint8_t {
  kPass,        // so long
  kStep,        // of the wall clock, by so much
  kSetRight,    // the wall clock shows the true time
  kTimeServer,  // 1: the system keeps the clock right from now on; 0: it no longer says so
  kRestart,     // off so long, with the clock as `how`
  kAdd,         // an item to the order, under a new Idempotency-Key: its answer points at an event
  kMakeKey,     // under a new Idempotency-Key: its answer has its body with it
  kRetry,       // the n-th of those two again, with the same key
  kExpiring,    // a key that ends after so long by the wall clock
  kRotate,      // another key, with so much grace
  kRevoke,      // the n-th key made
  kUse,         // the n-th key made
  kSchedule,    // an order planned for so long after the wall clock's time
  kRate,        // seven requests at once
  kGuess,       // 25 unknown keys
  kRotateHook,  // the secret of another webhook, with so much grace
  kSign,        // with the secrets of the n-th webhook
  kPair,        // a pairing code is made
  kRedeem,      // the n-th code
  kIdle,        // a key that ends when it was not used for so many days
  kSellOut,     // another dish, until so long after the wall clock's time
  kServe,       // the n-th of these dishes: is it sold out?
};
constexpr std::array<const char*, 22> kOpNames = {
    "pass",     "step",   "set right", "time server", "restart",  "add",  "make key", "retry",
    "expiring", "rotate", "revoke",    "use",         "schedule", "rate", "guess",    "rotate hook",
    "sign",     "pair",   "redeem",    "idle",        "sell out", "serve"};

// How the wall clock goes while the box is off; kKilled is added where it was not stopped.
enum How : int { kGoesOn = 0, kStandsStill = 1, kBeginsIn1970 = 2, kKilled = 10 };

struct Event {
  Op op;
  int64_t amount = 0;
  int how = 0;
};
using History = std::vector<Event>;

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() {  // splitmix64
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  int64_t Below(int64_t end) { return static_cast<int64_t>(Next() % static_cast<uint64_t>(end)); }
  template <size_t N>
  int64_t Of(const std::array<int64_t, N>& choices) {
    return choices[static_cast<size_t>(Below(N))];
  }

 private:
  uint64_t state_;
};

constexpr std::array<int64_t, 12> kPasses = {kSecond,    20 * kSecond, 70 * kSecond, 20 * kMinute,
                                             kHour,      2 * kHour,    10 * kHour,   26 * kHour,
                                             50 * kHour, kMinute,      4 * kDay,     9 * kDay};
constexpr std::array<int64_t, 12> kSteps = {10 * kSecond, 4 * kMinute, 6 * kMinute, kHour,
                                            5 * kHour,    23 * kHour,  25 * kHour,  3 * kDay,
                                            9 * kDay,     400 * kDay,  4000 * kDay, 2 * kMinute};
constexpr std::array<int64_t, 8> kOffs = {kSecond,    kMinute,  kHour,    10 * kHour,
                                          30 * kHour, 3 * kDay, 9 * kDay, 400 * kDay};
constexpr std::array<int64_t, 6> kTerms = {30 * kSecond, 10 * kMinute, kHour,
                                           5 * kHour,    2 * kDay,     30 * kDay};

Event RandomEvent(Random& random) {
  const int64_t n = random.Below(122);
  if (n < 24) return {Op::kPass, random.Of(kPasses) + random.Below(1000)};
  if (n < 36) return {Op::kStep, random.Of(kSteps) * (random.Below(2) == 0 ? 1 : -1)};
  if (n < 40) return {Op::kSetRight};
  if (n < 45) return {Op::kTimeServer, random.Below(3) != 0};
  if (n < 55) {
    const int64_t how = random.Below(10);
    return {Op::kRestart, random.Of(kOffs),
            (how < 6   ? kGoesOn
             : how < 9 ? kStandsStill
                       : kBeginsIn1970) +
                (random.Below(2) == 0 ? kKilled : 0)};
  }
  if (n < 62) return {Op::kAdd};
  if (n < 65) return {Op::kMakeKey};
  if (n < 75) return {Op::kRetry, random.Below(8)};
  if (n < 79) return {Op::kExpiring, random.Of(kTerms)};
  if (n < 83) return {Op::kRotate, random.Of(kTerms) * (random.Below(6) != 0)};
  if (n < 84) return {Op::kRevoke, random.Below(8)};
  if (n < 94) return {Op::kUse, random.Below(8)};
  if (n < 97) return {Op::kSchedule, random.Of(kTerms) * (random.Below(2) == 0 ? 1 : -1)};
  if (n < 100) return {random.Below(2) == 0 ? Op::kRate : Op::kGuess};
  if (n < 103) return {Op::kRotateHook, std::min(random.Of(kTerms), kDay)};
  if (n < 107) return {Op::kSign, random.Below(3)};
  if (n < 109) return {Op::kPair};
  if (n < 112) return {Op::kRedeem, random.Below(3)};
  if (n < 114) return {Op::kIdle, 1 + random.Below(3)};
  if (n < 117) return {Op::kSellOut, std::min(random.Of(kTerms), 7 * kDay)};
  return {Op::kServe, random.Below(3)};
}

History RandomHistory(uint64_t number) {
  Random random(number);
  History history(static_cast<size_t>(4 + random.Below(12)));
  for (Event& event : history) event = RandomEvent(random);
  return history;
}

std::string Told(const History& history) {
  std::ostringstream out;
  for (const Event& event : history) {
    out << "  " << kOpNames[static_cast<size_t>(event.op)] << ' ' << event.amount;
    if (event.how != 0) out << " how " << event.how;
    out << '\n';
  }
  return out.str();
}

// The program.

// What app/ makes of the rooms at a start, except the listening, on a database that stays open.
class Process {
 public:
  Process(testing::RestaurantDatabase& database, const bool& synchronised)
      : database_(database),
        clock(database.clock, [&synchronised] { return synchronised; }),
        marks(*database, clock, kSchemaVersion),
        watch_(clock, *database, marks),
        space_({.directory = database.directory.path(),
                .low_bytes = 0,
                .tight_bytes = 0,
                .orders_only_bytes = 0,
                .ballast_bytes = 0},
               registry_),
        dispatcher_(site_, {keys::Routes(), keys::PairingRoutes(), orders::Routes(),
                            events::Routes(), webhooks::Routes(), menu::Routes()}) {
    options_.errors_base = "https://comanda.example/problems";
    options_.key_prefix = "cmd";
    database->Read([&](db::Snapshot& snapshot) {
      database_->ContinueFrom(events::LastTime(snapshot));
      std::vector<std::string> damage;
      table.Load(keys::LoadAll(snapshot, clock, damage));
      gate.pairing_codes().Load(keys::LoadCodes(snapshot, clock));
      webhooks::LoadGraces(snapshot, graces);
    });
    gate.SetWriteDownEnds([this] { ends.WriteDown(); });
    Look();
    Chores();
  }

  void Look() { watch_.Look(); }
  void Chores() {
    ends.WriteDown();
    keys::FlushLastUsed(*database_, table);
    keys::DeleteOldCodes(*database_, gate.pairing_codes(), clock);
    marks.MakeIfDue();
    const auto old = database_->Read(
        [&](db::Snapshot& snapshot) { return marks.LastBefore(snapshot, events::kKeptMs); });
    if (old) http::idempotency::Purge(*database_, *old);
    events::Purge(*database_, clock, marks, feed_,
                  {.holds_record = orders::HoldsRecord, .release_record = orders::ReleaseRecord});
  }
  void Stop() {
    keys::FlushLastUsed(*database_, table);
    marks.Renew();
  }

  testing::Answer Send(http::Method method, const std::string& path, std::string body,
                       const std::string& key, const std::string& idempotency_key = "",
                       const std::string& address = "10.0.0.9") {
    wire::InProcessExchange exchange(std::move(body));
    wire::Request& request = exchange.request;
    request.method = method;
    request.path = path;
    if (key.empty()) {
      // none
    } else if (key == "local") {
      request.headers.emplace_back("X-Company-Id", testing::kCompanyId);
    } else {
      request.headers.emplace_back("X-API-Key", key);
    }
    if (!idempotency_key.empty()) request.headers.emplace_back("Idempotency-Key", idempotency_key);
    request.client_address = address;
    request.request_id = "r1";
    request.local = key == "local";
    dispatcher_.Handle(exchange);
    return {std::move(exchange.response)};
  }

 private:
  testing::RestaurantDatabase& database_;
  metrics::Registry registry_;
  config::Options options_;

 public:
  SettledClock clock;
  events::Marks marks;
  auth::KeyTable table;
  auth::Gate gate{{.standard = {kRatePerMinute}, .lan = {1'000'000}}, table, clock};
  webhooks::Graces graces{clock};
  menu::SoldOutEnds sold_out_ends{*database_, clock};
  // The kinds of app/environment.cc and app/neighbours.cc.
  Ends ends{{{"keys", [this] { return keys::DueInMs(table, clock); },
              [this] { keys::WriteDownEnds(*database_, table, clock); }},
             {"codes", [this] { return keys::CodesDueInMs(gate.pairing_codes(), clock); },
              [this] { keys::WriteDownExpiredCodes(*database_, gate.pairing_codes(), clock); }},
             {"graces", [this] { return graces.DueInMs(); },
              [this] { webhooks::WriteDownEndedGraces(*database_, graces); }},
             {"sold out", [this] { return sold_out_ends.DueInMs(); },
              [this] { sold_out_ends.WriteDown(); }}}};

 private:
  app::ClockWatch watch_;
  events::Feed feed_;
  http::LongPolls long_polls_{1};
  http::AnswerCache answers_{64 * 1024};
  http::AnswerBudget answer_budget_;
  db::DiskSpace space_;
  http::Site site_{.mode = auth::Mode::kLive,
                   .options = options_,
                   .clock = clock,
                   .database = *database_,
                   .space = space_,
                   .gate = gate,
                   .metrics = registry_,
                   .readiness = {},
                   .long_polls = long_polls_,
                   .answers = answers_,
                   .answer_budget = answer_budget_,
                   .find_companies = company::FindNames,
                   .read_event_body = events::BodyOf,
                   .current_mark = [this] { return marks.current(); },
                   .graces = &graces};
  http::Dispatcher dispatcher_;
};

// The model.

// What the wall clock may be believed to show at the most: a step ahead counts when it has stood
// for 24 hours of running, or the system says that the clock is synchronised; the time off between
// two processes where it is at most a day.
class Belief {
 public:
  void Tick(int64_t ran_ms, UtcMs wall, bool synchronised) {
    ran_ += ran_ms;
    time_ += ran_ms;
    wall_ = wall;
    if (std::abs(wall - time_) <= kSmallStep) {
      time_ = wall;
      away_ = false;
    } else {
      const int64_t offset = wall - time_;
      if (!away_ || std::abs(offset - offset_) > kSmallStep) since_ = ran_;
      away_ = true;
      offset_ = offset;
      if (synchronised || ran_ - since_ >= kDay) {
        time_ = wall;
        away_ = false;
      }
    }
    latest_ = std::max(latest_, std::min(wall, time_ + kSmallStep));
  }
  void Restart(UtcMs wall, bool synchronised) {
    const auto soon = [&](UtcMs from) {
      return wall >= from - kSmallStep && wall - from <= kOffAtMost + kChoresEvery;
    };
    if (!synchronised && away_ && soon(wall_)) {
      time_ += std::max<int64_t>(wall - wall_, 0);
    } else if (synchronised || soon(time_)) {
      time_ = wall;
      away_ = false;
    } else {
      away_ = false;  // another step
    }
    Tick(0, wall, synchronised);
  }
  // The latest time that was ever believed.
  UtcMs latest() const { return latest_; }
  void Begin(UtcMs wall) { *this = {}, time_ = wall_ = latest_ = wall; }

 private:
  int64_t ran_ = 0;
  UtcMs time_ = 0;
  UtcMs wall_ = 0;
  UtcMs latest_ = 0;
  bool away_ = false;
  int64_t offset_ = 0;
  int64_t since_ = 0;
};

struct Sent {
  bool is_key = false;
  std::string idempotency_key;
  UtcMs at = 0;        // true time
  int64_t ran_at = 0;  // running time
  int kills = 0;       // until then
};

struct KeyMade {
  std::string id;
  std::string text;
  std::optional<UtcMs> expires_at;  // by the wall clock
  std::optional<int64_t> grace_ms;  // given at
  UtcMs rotated_at = 0;             // true time
  UtcMs rotated_wall = 0;
  int rotated_in = 0;  // process
  bool is_revoked = false;
  bool has_ended = false;  // seen, or it must have been written down
  std::optional<int64_t> idle_ms;
  UtcMs used_at = 0;    // true time
  UtcMs used_wall = 0;  // with the stamp's 5 minutes at most
  int used_in = 0;      // process
};

// A dish that is sold out until a time of the wall clock.
struct DishMade {
  std::string id;
  UtcMs until = 0;
  bool has_ended = false;
};

// A webhook whose secret was rotated once.
struct HookMade {
  std::string id;
  int64_t grace_ms = 0;
  UtcMs rotated_at = 0;    // true time
  UtcMs rotated_wall = 0;  // with the stamp's 5 minutes at most
  int rotated_in = 0;      // process
  bool has_ended = false;
};

struct CodeMade {
  std::string text;
  UtcMs made_at = 0;  // true time
  int made_in = 0;    // process
  bool is_used = false;
  bool has_ended = false;
};

class Simulation {
 public:
  explicit Simulation(testing::RestaurantDatabase& database) : database_(database) {}

  // What went wrong; empty: nothing.
  std::string Run(const History& history) {
    Begin();
    for (size_t i = 0; i < history.size() && failure_.empty(); ++i) {
      Do(history[i]);
      if (failure_.empty()) CheckKept();
      if (!failure_.empty()) failure_ = "event " + std::to_string(i + 1) + ": " + failure_;
    }
    process_.reset();
    return failure_;
  }

 private:
  UtcMs wall() const { return database_.clock.Now(); }
  template <typename... Words>
  void Fail(const Words&... words) {
    if (!failure_.empty()) return;
    std::ostringstream out;
    (out << ... << words);
    failure_ = out.str();
  }

  // An empty restaurant, and a box that has been right so far.
  void Begin() {
    process_.reset();
    Empty();
    failure_.clear();
    synchronised_ = false;
    database_.clock.SetWall(kBegin);
    true_now_ = begin_ = kBegin;
    ran_ = 0;
    kills_ = starts_ = 0;
    sent_.clear();
    keys_.clear();
    hooks_.clear();
    codes_.clear();
    dishes_.clear();
    events_.clear();
    numbers_.clear();
    items_ = 0;
    last_stamp_ = highest_ = 0;
    trusted_ = false;
    authority_ = server_ = std::nullopt;
    belief_.Begin(kBegin);
    process_ = std::make_unique<Process>(database_, synchronised_);
    managing_ =
        Make(R"({"name":"boss","scopes":["api-keys:read","api-keys:write","orders:read",)"
             R"("orders:write","webhooks:write","menu:read","menu:write","kitchen:write"]})",
             "local");
    slow_ = Make(R"({"name":"slow","tier":"standard","scopes":["orders:read"]})", "local");
    StartOfProcess();
    order_ = PlaceOrder();
    Certificates();
  }

  void Empty() {
    database_->Write([](db::Tx& tx, const db::Stamp&) {
      tx.Run("DELETE FROM combo");
      tx.Run("DELETE FROM order_status");
      tx.Run("DELETE FROM orders");
      tx.Run("DELETE FROM order_facet");
      tx.Run("DELETE FROM event");
      tx.Run("DELETE FROM event_mark");
      tx.Run("DELETE FROM mark");
      tx.Run("DELETE FROM idempotency");
      tx.Run("DELETE FROM api_key");
      tx.Run("DELETE FROM audit");
      tx.Run("DELETE FROM pairing_code");
      tx.Run("DELETE FROM webhook");
      tx.Run("DELETE FROM product_record");
      tx.Run("DELETE FROM variant");
      tx.Run("DELETE FROM product");
      tx.Run("DELETE FROM category");
      tx.Run(
          "UPDATE company_counter SET checksum = NULL, log_start = event_seq + 1, "
          "records_dropped_to = event_seq, "
          "business_day = '', order_number = 0, number_checksum = NULL");
    });
  }

  KeyMade Make(const std::string& body, const std::string& by, const std::string& key = "") {
    const testing::Answer made =
        process_->Send(http::Method::kPost, "/auth/api-keys", body, by, key);
    if (made.status() != 201) Fail("no key was made: ", made.response.body);
    return {.id = made.Text("id"), .text = made.Text("key")};
  }

  std::string PlaceOrder(std::optional<UtcMs> scheduled = std::nullopt) {
    std::string body = R"({"service_type":"ONSITE")";
    if (scheduled) body += R"(,"scheduled_delivery_date":")" + FormatInstant(*scheduled) + '"';
    const testing::Answer answer = process_->Send(http::Method::kPost, "/v1/orders", body + "}",
                                                  managing_.text, NewId(true_now_));
    Authenticated();
    const bool is_past = scheduled && *scheduled < wall();
    if (answer.status() != (is_past ? 422 : 201)) {
      Fail("an order for ", scheduled ? FormatInstant(*scheduled) : "now", " at ",
           FormatInstant(wall()), ": ", answer.response.body.substr(0, 300));
    }
    if (answer.status() != 201) return "";
    CheckStampAndNumber(answer);
    events_.push_back({LastEvent(), true_now_});
    return answer.Text("id");
  }

  // A stamp is the wall clock's time, or goes on from the last one for up to 5 minutes; a number
  // counts on within the business day that the stamp lies in.
  void CheckStampAndNumber(const testing::Answer& answer) {
    const UtcMs stamp = ParseInstant(answer.Text("created_at")).value_or(0);
    if (stamp < wall() || stamp > wall() + kSmallStep) {
      Fail("stamped ", FormatInstant(stamp), " at ", FormatInstant(wall()));
    }
    if (stamp < last_stamp_) {
      Fail("stamp ", FormatInstant(stamp), " after ", FormatInstant(last_stamp_));
    }
    last_stamp_ = stamp;
    const json::Document document = json::Document::Parse(answer.response.body);
    const std::string number(document.root().Find("data")->Find("order_number")->number_text());
    constexpr int64_t kLima = 5 * kHour;  // behind UTC
    int64_t& last = numbers_[(stamp - kLima - (stamp < kLima ? kDay - 1 : 0)) / kDay];
    if (number != std::to_string(++last)) Fail("order number ", number, " instead of ", last);
  }

  int64_t LastEvent() {
    return database_->Read(
        [](db::Snapshot& snapshot) { return events::ExtentOf(snapshot, testing::kCompany).last; });
  }

  void StartOfProcess() {
    ++starts_;
    started_at_ = true_now_;
    bucket_ms_ = kMinute;
    bucket_at_ = guesses_since_ = ran_;
    guesses_ = 0;
  }

  // -- events of a history

  void Do(const Event& event) {
    wall_before_ = wall();
    switch (event.op) {
      case Op::kPass:
        return Pass(event.amount);
      case Op::kStep:
        // As settimeofday(2): the kernel no longer says that it is synchronised.
        synchronised_ = false;
        database_.clock.SetWall(std::max<UtcMs>(wall() + event.amount, kDay));
        return Stepped();
      case Op::kSetRight:
        database_.clock.SetWall(true_now_);
        return Stepped();
      case Op::kTimeServer:
        synchronised_ = event.amount != 0;
        if (synchronised_) database_.clock.SetWall(true_now_);
        return Stepped();
      case Op::kRestart:
        return Restart(event.amount, event.how);
      case Op::kAdd:
      case Op::kMakeKey:
        sent_.push_back({.is_key = event.op == Op::kMakeKey, .idempotency_key = NewId(true_now_)});
        return SendFirst(sent_.back());
      case Op::kRetry:
        return Retry(event.amount);
      case Op::kExpiring:
        return MakeExpiring(event.amount);
      case Op::kRotate:
        return Rotate(event.amount);
      case Op::kRevoke:
        return Revoke(event.amount);
      case Op::kUse:
        return Use(event.amount);
      case Op::kSchedule:
        PlaceOrder(wall() + event.amount);
        return;
      case Op::kRate:
        return Rate();
      case Op::kGuess:
        return Guess();
      case Op::kRotateHook:
        return RotateHook(event.amount);
      case Op::kSign:
        return Sign(event.amount);
      case Op::kPair:
        return Pair();
      case Op::kRedeem:
        return Redeem(event.amount);
      case Op::kIdle:
        return MakeIdle(event.amount);
      case Op::kSellOut:
        return SellOut(event.amount);
      case Op::kServe:
        return Serve(event.amount);
    }
  }

  // A larger step back from what may have been stamped last is followed by whatever is written
  // next.
  void FollowStepBack() {
    highest_ = std::max(highest_, wall_before_);
    if (highest_ - wall() <= kSmallStep) return;
    last_stamp_ = 0;
    highest_ = wall();
  }

  void Stepped() {
    FollowStepBack();
    belief_.Tick(0, wall(), synchronised_);
    process_->Look();
    Certificates();
  }

  void Pass(int64_t ms) {
    const int64_t chores_every = std::clamp(ms / 8, kHour, kChoresEvery);
    int64_t to_chores = chores_every;
    while (ms > 0) {
      const int64_t due = process_->ends.DueInMs().value_or(ms) + 1;
      const int64_t part = std::min({ms, to_chores, due, kHour});
      database_.clock.Advance(part);
      true_now_ += part;
      ran_ += part;
      ms -= part;
      to_chores -= part;
      belief_.Tick(part, wall(), synchronised_);
      process_->Look();
      if (to_chores > 0 && part < due) continue;
      process_->Chores();
      WrittenDown();
      if (to_chores <= 0) to_chores = chores_every;
    }
    Certificates();
  }

  // What the chores must have written down.
  void WrittenDown() {
    for (KeyMade& key : keys_) {
      if (MustHaveEnded(key)) key.has_ended = true;
    }
    for (CodeMade& code : codes_) {
      if (MustHaveEnded(code)) code.has_ended = true;
    }
    for (DishMade& dish : dishes_) {
      if (MustHaveEnded(dish)) dish.has_ended = true;
    }
    for (HookMade& hook : hooks_) {
      if (MustHaveEnded(hook)) hook.has_ended = true;
      if (hook.has_ended && Read(hook).secrets.old) Fail("an old secret is still in its row");
    }
  }

  void Restart(int64_t off_ms, int how) {
    if (how < kKilled) {
      process_->Stop();
    } else {
      ++kills_;
    }
    process_.reset();
    const UtcMs before = wall_before_;
    database_.clock.Advance(off_ms);
    true_now_ += off_ms;
    const bool had_time_server = synchronised_;
    synchronised_ = false;
    if (how % kKilled == kStandsStill) database_.clock.SetWall(before);
    if (how % kKilled == kBeginsIn1970) database_.clock.SetWall(kDay);
    if (had_time_server && off_ms % 2 == 0 && off_ms > kMinute) {  // it answers before the start
      synchronised_ = true;
      database_.clock.SetWall(true_now_);
    }
    FollowStepBack();
    belief_.Restart(wall(), synchronised_);
    process_ = std::make_unique<Process>(database_, synchronised_);
    StartOfProcess();
    Certificates();
  }

  // -- answers

  testing::Answer Send(const Sent& sent) {
    if (sent.is_key) {
      return process_->Send(http::Method::kPost, "/auth/api-keys",
                            R"({"name":"n","scopes":["orders:read"]})", managing_.text,
                            sent.idempotency_key);
    }
    return process_->Send(
        http::Method::kPost, "/v1/orders/" + order_ + "/combos",
        R"({"combos":[{"product_name":"Jalea","quantity":1,"variant_price":20}]})", managing_.text,
        sent.idempotency_key);
  }

  void SendFirst(Sent& sent) {
    const testing::Answer answer = Send(sent);
    Authenticated();
    if (answer.status() != (sent.is_key ? 201 : 200) ||
        !answer.Header("Idempotency-Replayed").empty()) {
      Fail("a first request: ", answer.response.body.substr(0, 300));
    }
    NoteSent(sent);
  }

  void NoteSent(Sent& sent) {
    sent.at = true_now_;
    sent.ran_at = ran_;
    sent.kills = kills_;
    if (sent.is_key) return;
    ++items_;
    events_.push_back({LastEvent(), true_now_});
  }

  void Retry(int64_t n) {
    if (sent_.empty()) return;
    Sent& sent = sent_[static_cast<size_t>(n) % sent_.size()];
    const testing::Answer answer = Send(sent);
    Authenticated();
    if (answer.status() >= 300) return Fail("a retry: ", answer.response.body.substr(0, 300));
    const bool is_replay = answer.Header("Idempotency-Replayed") == "true";
    const int64_t age = true_now_ - sent.at;
    if (!is_replay && age < kKept) {
      Fail("carried out twice, ", age / kHour, " hours after the first");
    }
    // A kill loses the time since the last mark.
    const int64_t counted = ran_ - sent.ran_at - (kills_ - sent.kills) * (kChoresEvery + kHour);
    if (is_replay && counted > kKept + 2 * kChoresEvery + 2 * kHour + starts_ * kHour) {
      Fail("still kept after ", counted / kHour, " hours");
    }
    if (!is_replay) NoteSent(sent);
  }

  // -- keys

  void MakeExpiring(int64_t term_ms) {
    const UtcMs end = wall() + term_ms;
    KeyMade key = Make(R"({"name":"e","tier":"lan","scopes":["orders:read"],"expires_at":")" +
                           FormatInstant(end) + "\"}",
                       managing_.text);
    Authenticated();
    key.expires_at = end;
    keys_.push_back(std::move(key));
    const testing::Answer past =
        process_->Send(http::Method::kPost, "/auth/api-keys",
                       R"({"name":"e","tier":"lan","scopes":["orders:read"],"expires_at":")" +
                           FormatInstant(wall()) + "\"}",
                       managing_.text);
    if (past.status() != 422) Fail("a key was made that has expired");
  }

  void MakeIdle(int64_t days) {
    KeyMade key = Make(R"({"name":"i","tier":"lan","scopes":["orders:read"],"idle_days":)" +
                           std::to_string(days) + "}",
                       managing_.text);
    Authenticated();
    key.idle_ms = days * kDay;
    key.used_at = true_now_;
    key.used_wall = wall();
    key.used_in = starts_;
    keys_.push_back(std::move(key));
  }

  void Rotate(int64_t grace_ms) {
    KeyMade key = Make(R"({"name":"r","tier":"lan","scopes":["orders:read"]})", managing_.text);
    Authenticated();
    const testing::Answer answer = process_->Send(
        http::Method::kPost, "/auth/api-keys/" + key.id + "/rotate",
        R"({"grace_seconds":)" + std::to_string(grace_ms / kSecond) + "}", managing_.text);
    if (answer.status() != 200) Fail("a rotation: ", answer.response.body);
    key.grace_ms = grace_ms;
    key.rotated_at = true_now_;
    key.rotated_wall = wall();
    key.rotated_in = starts_;
    key.has_ended = grace_ms == 0;
    keys_.push_back(key);
    KeyMade fresh{.id = answer.Text("id"), .text = answer.Text("key")};
    if (TryKey(fresh) != "200") Fail("the new key of a rotation does not work");
  }

  void Revoke(int64_t n) {
    if (keys_.empty()) return;
    KeyMade& key = keys_[static_cast<size_t>(n) % keys_.size()];
    const testing::Answer answer =
        process_->Send(http::Method::kDelete, "/auth/api-keys/" + key.id, "", managing_.text);
    Authenticated();
    if (answer.status() != 200) Fail("a revocation: ", answer.response.body);
    key.is_revoked = key.has_ended = true;
  }

  std::string TryKey(const KeyMade& key) {
    const testing::Answer answer = process_->Send(http::Method::kGet, "/v1/orders", "", key.text);
    return answer.status() == 200 ? "200" : answer.code();
  }

  bool MustHaveEnded(const KeyMade& key) const {
    if (key.has_ended) return true;
    if (key.grace_ms && key.rotated_in == starts_) {
      return true_now_ - key.rotated_at >= *key.grace_ms;
    }
    if (key.idle_ms && key.used_in == starts_) return true_now_ - key.used_at >= *key.idle_ms;
    // The rest may end late where the clock is doubtful, never where it is known to be right.
    if (!synchronised_) return false;
    return key.expires_at && *key.expires_at <= wall();
  }

  bool MayHaveEnded(const KeyMade& key) const {
    if (MustHaveEnded(key)) return true;
    if (key.expires_at && *key.expires_at <= belief_.latest()) return true;
    // A process that was killed before it wrote a mark is unknown to the next one, which then takes
    // its time for time off. That the wall clock is right is known here alone.
    if (key.expires_at && *key.expires_at <= std::min(true_now_, wall())) return true;
    if (key.idle_ms && key.used_in != starts_) {
      // A kill loses a use that was not written down yet.
      if (kills_ > 0 || true_now_ - key.used_at >= *key.idle_ms) return true;
      if (key.used_wall + *key.idle_ms <= belief_.latest() + (true_now_ - started_at_)) return true;
    }
    if (!key.grace_ms || key.rotated_in == starts_) return false;
    return true_now_ - key.rotated_at >= *key.grace_ms ||
           key.rotated_wall + *key.grace_ms <= belief_.latest();
  }

  void Use(int64_t n) {
    if (keys_.empty()) return;
    KeyMade& key = keys_[static_cast<size_t>(n) % keys_.size()];
    const std::string answer = TryKey(key);
    Authenticated();
    if (answer == "200") {
      if (MustHaveEnded(key)) Fail("key ", n, " works, but it has ended");
      key.used_at = true_now_;
      key.used_wall = wall();
      key.used_in = starts_;
      return;
    }
    if (answer != "key_revoked" && answer != "key_expired") Fail("key ", n, ": ", answer);
    if (!MayHaveEnded(key)) {
      Fail("key ", n, " is ", answer, " too early: ", (true_now_ - key.rotated_at) / kSecond,
           " s of its grace, wall ", FormatInstant(wall()));
    }
    key.has_ended = true;
  }

  // -- webhooks

  void RotateHook(int64_t grace_ms) {
    const testing::Answer made =
        process_->Send(http::Method::kPost, "/v1/webhooks", R"({"webhook_url":"https://1.1.1.1/"})",
                       managing_.text);
    Authenticated();
    if (made.status() != 201) return Fail("no webhook was made: ", made.response.body);
    HookMade hook{.id = made.Text("id"),
                  .grace_ms = grace_ms,
                  .rotated_at = true_now_,
                  .rotated_wall = wall(),
                  .rotated_in = starts_};
    const testing::Answer rotated = process_->Send(
        http::Method::kPatch, "/v1/webhooks/" + hook.id,
        R"({"rotate_secret":true,"grace_seconds":)" + std::to_string(grace_ms / kSecond) + "}",
        managing_.text);
    if (rotated.status() != 200) Fail("a rotation: ", rotated.response.body);
    hooks_.push_back(std::move(hook));
  }

  webhooks::Subscription Read(const HookMade& hook) {
    return database_->Read([&](db::Snapshot& snapshot) {
      return webhooks::Get(snapshot, testing::kCompany, hook.id);
    });
  }

  bool MustHaveEnded(const HookMade& hook) const {
    if (hook.has_ended) return true;
    if (hook.rotated_in == starts_) return true_now_ - hook.rotated_at >= hook.grace_ms;
    // What is left at a start is a day at most.
    return true_now_ - started_at_ >= kDay;
  }

  bool MayHaveEnded(const HookMade& hook) const {
    if (MustHaveEnded(hook) || true_now_ - hook.rotated_at >= hook.grace_ms) return true;
    return hook.rotated_in != starts_ && hook.rotated_wall + hook.grace_ms <= belief_.latest();
  }

  void Sign(int64_t n) {
    if (hooks_.empty()) return;
    HookMade& hook = hooks_[static_cast<size_t>(n) % hooks_.size()];
    const webhooks::Subscription row = Read(hook);
    const bool both_sign = row.secrets.old && process_->graces.Lasts(testing::kCompany, row);
    if (both_sign && MustHaveEnded(hook)) Fail("the old secret of webhook ", n, " signs again");
    if (!both_sign && !MayHaveEnded(hook)) {
      Fail("the old secret of webhook ", n, " ended after ",
           (true_now_ - hook.rotated_at) / kSecond, " s of its grace");
    }
    if (!both_sign) hook.has_ended = true;
  }

  // -- dishes

  testing::Answer SayOfDish(http::Method method, const std::string& id, const std::string& body) {
    return process_->Send(method, "/v1/menu/products/" + id + "/sold-out", body, managing_.text);
  }

  void SellOut(int64_t term_ms) {
    const testing::Answer made =
        process_->Send(http::Method::kPost, "/v1/menu/products",
                       R"({"name":"Causa","category_name":"Causas","price":20})", managing_.text);
    Authenticated();
    if (made.status() != 201) return Fail("no dish was made: ", made.response.body);
    DishMade dish{.id = made.Text("id"), .until = wall() + term_ms};
    const testing::Answer said =
        SayOfDish(http::Method::kPut, dish.id, R"({"until":")" + FormatInstant(dish.until) + "\"}");
    if (said.status() != 200) return Fail("not sold out: ", said.response.body);
    dishes_.push_back(std::move(dish));
  }

  bool MustHaveEnded(const DishMade& dish) const {
    return dish.has_ended || (synchronised_ && dish.until <= wall());
  }

  bool MayHaveEnded(const DishMade& dish) const {
    return MustHaveEnded(dish) || dish.until <= belief_.latest() ||
           dish.until <= std::min(true_now_, wall());
  }

  // A sold-out mark that has ended never comes back, whatever the clock does.
  void Serve(int64_t n) {
    if (dishes_.empty()) return;
    DishMade& dish = dishes_[static_cast<size_t>(n) % dishes_.size()];
    process_->ends.WriteDown();  // as its thread does when the next end is due
    const bool is_sold_out = database_->Read([&](db::Snapshot& snapshot) {
      return menu::GetProduct(snapshot, testing::kCompany, dish.id).sold_out.has_value();
    });
    if (is_sold_out && MustHaveEnded(dish)) Fail("dish ", n, " is sold out again, or still");
    if (!is_sold_out && !MayHaveEnded(dish)) {
      Fail("dish ", n, " is on sale before ", FormatInstant(dish.until), ", wall ",
           FormatInstant(wall()));
    }
    if (!is_sold_out) dish.has_ended = true;
  }

  // -- pairing codes

  void Pair() {
    CodeMade code{.made_at = true_now_, .made_in = starts_};
    const testing::Answer made =
        process_->Send(http::Method::kPost, "/control/pairing-codes",
                       R"({"name":"till","scopes":["orders:read"]})", "local");
    if (made.status() != 201) Fail("no code was made: ", made.response.body);
    code.text = made.Text("code");
    codes_.push_back(std::move(code));
  }

  bool MustHaveEnded(const CodeMade& code) const {
    if (code.has_ended || code.is_used) return true;
    const UtcMs since = code.made_in == starts_ ? code.made_at : started_at_;
    return true_now_ - since >= keys::kCodeLifeMs;
  }

  // What is left of a code of a former process depends on what that one believed of the clock.
  bool MayHaveEnded(const CodeMade& code) const {
    return MustHaveEnded(code) || code.made_in != starts_;
  }

  void Redeem(int64_t n) {
    if (codes_.empty()) return;
    CodeMade& code = codes_[static_cast<size_t>(n) % codes_.size()];
    const testing::Answer answer =
        process_->Send(http::Method::kPost, "/auth/pair", R"({"code":")" + code.text + R"("})", "",
                       "", "10.0.0.8");
    const bool is_taken = answer.status() == 201;
    if (!is_taken && answer.status() != 404) Fail("a code: ", answer.response.body);
    if (is_taken && MustHaveEnded(code)) Fail("code ", n, " is accepted, but it has ended");
    if (!is_taken && !MayHaveEnded(code)) {
      Fail("code ", n, " is refused after ", (true_now_ - code.made_at) / kSecond, " s");
    }
    code.is_used = code.is_used || is_taken;
    code.has_ended = true;
  }

  // -- what lasts while the process runs

  void Rate() {
    bucket_ms_ = std::min(kMinute, bucket_ms_ + ran_ - bucket_at_);
    bucket_at_ = ran_;
    constexpr int64_t kCost = kMinute / kRatePerMinute;
    for (int i = 0; i < kRatePerMinute + 2; ++i) {
      const bool allowed = TryKey(slow_) == "200";
      if (allowed != (bucket_ms_ >= kCost)) {
        Fail("request ", i, ": ", allowed, " with ", bucket_ms_, " ms in the bucket");
      }
      if (allowed) bucket_ms_ -= kCost;
    }
  }

  void Guess() {
    if (guesses_ == 0 || ran_ - guesses_since_ >= kMinute) {
      guesses_since_ = ran_;
      guesses_ = 0;
    }
    for (int i = 0; i < 25; ++i) {
      const testing::Answer answer = process_->Send(http::Method::kGet, "/v1/orders", "",
                                                    auth::MakeKey("cmd", auth::Mode::kLive));
      const int expected = guesses_ < 20 ? 401 : 429;
      if (answer.status() != expected) Fail("guess ", i, ": ", answer.status());
      ++guesses_;
    }
  }

  // -- what is kept

  void CheckKept() {
    const int64_t oldest = database_->Read([](db::Snapshot& snapshot) {
      return events::ExtentOf(snapshot, testing::kCompany).oldest;
    });
    for (const auto& [seq, at] : events_) {
      if (seq >= oldest) break;
      if (true_now_ - at < kKept) {
        return Fail("event ", seq, " was purged after ", (true_now_ - at) / kHour, " hours");
      }
    }
    const bool copy_is_old = database_->Read(
        [&](db::Snapshot& snapshot) { return process_->marks.IsUpgradedFor(snapshot, kKept); });
    if (copy_is_old && true_now_ - begin_ < kKept) Fail("the copy before an upgrade is not old");
  }

  // -- certificates

  void Authenticated() {
    if (authority_ && authority_->Holds(wall())) trusted_ = true;
  }

  // As ops/certificates.cc does what the rule says.
  void Certificates() {
    const ops::CertificateTimes times{
        .wall = wall(), .settled = process_->clock.RetentionNow(), .built = kBuilt};
    const ops::CertificateDecision decision =
        ops::DecideCertificates({.authority = authority_,
                                 .can_sign = authority_.has_value(),
                                 .trusted = trusted_,
                                 .server = server_,
                                 .fits = server_.has_value()},
                                times);
    if (decision.action == ops::CertificateAction::kRemakeAuthority) {
      if (trusted_) Fail("an authority was replaced that devices trust");
      authority_ = decision.authority;
    }
    if (decision.action == ops::CertificateAction::kRemakeAuthority ||
        decision.action == ops::CertificateAction::kRemakeServer) {
      server_ = decision.server;
    }
    if (wall() < kBuilt || !authority_ || !authority_->Holds(wall())) return;
    if (!server_ || !server_->Holds(wall())) {
      Fail("the server certificate is not valid at ", FormatInstant(wall()));
    }
  }

  testing::RestaurantDatabase& database_;
  std::unique_ptr<Process> process_;
  std::string failure_;
  bool synchronised_ = false;
  UtcMs true_now_ = 0;
  UtcMs begin_ = 0;
  int64_t ran_ = 0;  // time that processes ran
  int kills_ = 0;
  int starts_ = 0;
  UtcMs started_at_ = 0;  // true time
  Belief belief_;
  KeyMade managing_, slow_;
  std::string order_;
  std::vector<Sent> sent_;
  std::vector<KeyMade> keys_;
  std::vector<HookMade> hooks_;
  std::vector<CodeMade> codes_;
  std::vector<DishMade> dishes_;
  std::vector<std::pair<int64_t, UtcMs>> events_;  // number, true time
  std::map<int64_t, int64_t> numbers_;             // the last of each business day
  int items_ = 0;
  UtcMs last_stamp_ = 0;   // of an order
  UtcMs highest_ = 0;      // of anything, at the most
  UtcMs wall_before_ = 0;  // this event of the history
  int64_t bucket_ms_ = 0, bucket_at_ = 0;
  int64_t guesses_since_ = 0;
  int guesses_ = 0;
  bool trusted_ = false;
  std::optional<crypto::Validity> authority_, server_;
};

// Tests.

int64_t Number(const char* name, int64_t otherwise) {
  const char* text = ::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

class TimeSimulation : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    log::SetLevel(log::Level::kError);
    // The power is not cut here: memory is as good as a disk.
    if (::access("/dev/shm", W_OK) == 0) ::setenv("TMPDIR", "/dev/shm", 1);
  }
};

TEST_F(TimeSimulation, HoldsInTheHistoriesThatWentWrongOnce) {
  const std::vector<std::pair<const char*, History>> corpus = {
      {"off for nine days without a time server, a retry 50 hours later",
       {{Op::kRestart, 9 * kDay, kGoesOn},
        {Op::kAdd},
        {Op::kMakeKey},
        {Op::kPass, 26 * kHour},
        {Op::kRetry, 0},
        {Op::kPass, 24 * kHour},
        {Op::kRetry, 0},
        {Op::kRetry, 1}}},
      {"killed in its first minute, by a clock of 1970: a key that truly ended meanwhile",
       {{Op::kExpiring, 10 * kMinute},
        {Op::kRestart, 10 * kHour, kBeginsIn1970},
        {Op::kSetRight},
        {Op::kRestart, kMinute, kGoesOn + kKilled},
        {Op::kUse, 0}}},
      {"off for nine days, selling for four with the clock of then, then put right",
       {{Op::kRestart, kHour, kStandsStill + kKilled},
        {Op::kTimeServer, 1},
        {Op::kStep, 4 * kMinute},
        {Op::kRestart, 9 * kDay, kStandsStill + kKilled},
        {Op::kAdd},
        {Op::kMakeKey},
        {Op::kPass, 50 * kHour},
        {Op::kTimeServer, 1},
        {Op::kPass, 50 * kHour},
        {Op::kSetRight},
        {Op::kPass, kHour},
        {Op::kRetry, 0},
        {Op::kRetry, 1}}},
      {"nine days behind while it sells, then put right",
       {{Op::kRestart, 9 * kDay, kStandsStill},
        {Op::kAdd},
        {Op::kMakeKey},
        {Op::kPass, kHour},
        {Op::kSetRight},
        {Op::kPass, 50 * kHour},
        {Op::kRetry, 0},
        {Op::kRetry, 1}}},
      {"nine days behind, put right by a time server, and a restart",
       {{Op::kRestart, 9 * kDay, kStandsStill},
        {Op::kAdd},
        {Op::kTimeServer, 1},
        {Op::kRestart, kMinute, kGoesOn},
        {Op::kPass, 50 * kHour},
        {Op::kRetry, 0}}},
      {"a first start 400 days ahead, put right",
       {{Op::kStep, 400 * kDay},
        {Op::kRestart, kSecond, kGoesOn},
        {Op::kAdd},
        {Op::kSetRight},
        {Op::kPass, kHour},
        {Op::kRestart, kSecond, kGoesOn}}},
      {"700 days behind",
       {{Op::kStep, -700 * kDay},
        {Op::kRestart, kSecond, kGoesOn},
        {Op::kAdd},
        {Op::kSetRight},
        {Op::kRestart, kSecond, kGoesOn}}},
      {"a key rotated away, and the clock goes back an hour",
       {{Op::kRotate, 10 * kMinute},
        {Op::kPass, 11 * kMinute},
        {Op::kUse, 0},
        {Op::kStep, -kHour},
        {Op::kUse, 0},
        {Op::kRestart, kSecond, kGoesOn | kKilled},
        {Op::kUse, 0}}},
      {"the same with a key that nobody used",
       {{Op::kRotate, 10 * kMinute},
        {Op::kPass, 11 * kMinute},
        {Op::kStep, -kHour},
        {Op::kUse, 0},
        {Op::kRestart, kSecond, kKilled},
        {Op::kUse, 0}}},
      {"three days off: a rotation with an hour's grace, yesterday, a key that ends",
       {{Op::kRestart, 3 * kDay, kGoesOn},
        {Op::kRotate, kHour},
        {Op::kUse, 0},
        {Op::kSchedule, -kDay},
        {Op::kExpiring, kHour},
        {Op::kPass, 59 * kMinute},
        {Op::kUse, 0},
        {Op::kPass, kMinute},
        {Op::kUse, 0}}},
      {"a key is revoked in its grace after the clock was put right",
       {{Op::kStep, -6 * kDay},
        {Op::kRotate, kHour},
        {Op::kSetRight},
        {Op::kRevoke, 0},
        {Op::kUse, 0}}},
      {"the clock jumps again while the box is off",
       {{Op::kExpiring, 30 * kDay},
        {Op::kStep, -400 * kDay},
        {Op::kPass, 26 * kHour},
        {Op::kStep, 4000 * kDay},
        {Op::kPass, kHour},
        {Op::kRestart, kDay, kGoesOn},
        {Op::kUse, 0}}},
      {"a clock that jumps a year ahead expires no key before it has stood a day",
       {{Op::kExpiring, 30 * kDay},
        {Op::kStep, 400 * kDay},
        {Op::kUse, 0},
        {Op::kPass, kHour},
        {Op::kUse, 0},
        {Op::kRestart, kMinute, kGoesOn},
        {Op::kPass, 20 * kHour},
        {Op::kUse, 0}}},
      {"the grace of a webhook's secret ends, and the clock goes back an hour",
       {{Op::kRotateHook, 10 * kMinute},
        {Op::kSign, 0},
        {Op::kPass, 11 * kMinute},
        {Op::kSign, 0},
        {Op::kStep, -kHour},
        {Op::kSign, 0},
        {Op::kRestart, kSecond, kGoesOn | kKilled},
        {Op::kSign, 0}}},
      {"the grace of a webhook's secret through steps ahead and back",
       {{Op::kRotateHook, 5 * kHour},
        {Op::kStep, 400 * kDay},
        {Op::kSign, 0},
        {Op::kPass, 4 * kHour},
        {Op::kStep, -800 * kDay},
        {Op::kSign, 0},
        {Op::kPass, kHour},
        {Op::kSign, 0}}},
      {"a pairing code ends, and the clock goes back an hour",
       {{Op::kPair},
        {Op::kPass, 11 * kMinute},
        {Op::kStep, -kHour},
        {Op::kRedeem, 0},
        {Op::kRestart, kSecond, kGoesOn | kKilled},
        {Op::kRedeem, 0}}},
      {"a pairing code while the clock jumps, and after it was used",
       {{Op::kPair},
        {Op::kStep, 400 * kDay},
        {Op::kRedeem, 0},
        {Op::kStep, -800 * kDay},
        {Op::kRedeem, 0},
        {Op::kRestart, kSecond, kGoesOn},
        {Op::kRedeem, 0}}},
      {"a dish is sold out until an instant, over a step ahead, off over the end, and a step back",
       {{Op::kSellOut, 5 * kHour},
        {Op::kStep, 400 * kDay},
        {Op::kServe, 0},
        {Op::kSetRight},
        {Op::kServe, 0},
        {Op::kRestart, 10 * kHour, kGoesOn},
        {Op::kServe, 0},
        {Op::kStep, -9 * kHour},
        {Op::kServe, 0},
        {Op::kRestart, kMinute, kGoesOn | kKilled},
        {Op::kServe, 0}}},
      {"a key that was not used for a day, over steps of the clock",
       {{Op::kIdle, 1},
        {Op::kStep, 400 * kDay},
        {Op::kUse, 0},
        {Op::kStep, -400 * kDay},
        {Op::kPass, 23 * kHour},
        {Op::kUse, 0},
        {Op::kPass, 25 * kHour},
        {Op::kStep, -3 * kDay},
        {Op::kUse, 0},
        {Op::kRestart, kMinute, kGoesOn | kKilled},
        {Op::kUse, 0}}},
      {"a grace while a time server puts the clock right",
       {{Op::kRestart, 9 * kDay, kStandsStill},
        {Op::kRotate, kHour},
        {Op::kTimeServer, 1},
        {Op::kUse, 0},
        {Op::kPass, 59 * kMinute},
        {Op::kUse, 0},
        {Op::kPass, kMinute},
        {Op::kUse, 0}}},
  };
  testing::RestaurantDatabase database;
  Simulation simulation(database);
  for (const auto& [name, history] : corpus) {
    EXPECT_EQ(simulation.Run(history), "") << name << '\n' << Told(history);
  }
}

TEST_F(TimeSimulation, HoldsInRandomHistories) {
  constexpr int64_t kOfASeed = 10'000'000;
  constexpr int64_t kOfADatabase = 5'000;
  const int64_t one = Number("COMANDA_HISTORY", -1);
  const int64_t seed = Number("COMANDA_SEED", 1);
  const int64_t first = one >= 0 ? one : seed % 100'000'000 * kOfASeed;
  const int64_t count =
      one >= 0 ? 1 : Number("COMANDA_HISTORIES", ::getenv("COMANDA_LONG") ? 1'000'000 : 20'000);
  std::printf("%lld histories from number %lld on\n", static_cast<long long>(count),
              static_cast<long long>(first));
  std::unique_ptr<testing::RestaurantDatabase> database;
  std::unique_ptr<Simulation> simulation;
  for (int64_t i = 0; i < count; ++i) {
    if (i % kOfADatabase == 0) {
      simulation.reset();
      database = std::make_unique<testing::RestaurantDatabase>();
      simulation = std::make_unique<Simulation>(*database);
    }
    const History history = RandomHistory(static_cast<uint64_t>(first + i));
    const std::string failure = simulation->Run(history);
    ASSERT_EQ(failure, "") << "COMANDA_HISTORY=" << first + i << '\n' << Told(history);
  }
}

}  // namespace
}  // namespace comanda
