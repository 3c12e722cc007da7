#include "db/inspector.h"

#include <pthread.h>
#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "base/log.h"
#include "db/index_sweep.h"
#include "db/session.h"
#include "db/tables.h"

namespace comanda::db {
namespace {

using std::chrono::milliseconds;

constexpr size_t kSuspectsMax = 64;
constexpr int kProgressSteps = 10'000;  // well under a millisecond
constexpr int64_t kIdleShare = 4;       // pauses for each time of work
constexpr int64_t kPauseMaxMs = 2'000;
constexpr int64_t kWorkMs = 5;  // between two pauses, at least: small tables go without
constexpr milliseconds kTryAgainAfter{60'000};
constexpr int64_t kAloneEveryMs = 5'000;
constexpr int64_t kRebuiltAfterMs = 5'000;  // what the writer needs for most indexes
// How often a check gives way before it goes on to its end: of a file so large and so busy that it
// would never come to it.
constexpr int kGivesWayMax = 20;
constexpr int64_t kGivesWayForMs = 100;

// Waits for so long, or until it is told to stop.
void Wait(const std::stop_token& stop, int64_t ms) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, milliseconds(ms), [] { return false; });
}

std::vector<std::string> Texts(const Row& row) {
  std::vector<std::string> texts;
  for (const Value& value : row) {
    const auto* number = std::get_if<int64_t>(&value);
    const auto* text = std::get_if<std::string>(&value);
    texts.push_back(number ? std::to_string(*number) : text ? *text : "");
  }
  return texts;
}

// What the check finds again and again, each time on a new connection. Fault where the last one
// cannot run it.
template <typename Check>
Findings Confirmed(bool with_pauses, const std::stop_token& stop, Check&& check) {
  for (const int64_t pause_ms : {100, 1'000, 5'000}) {
    try {
      Findings findings = check();
      if (!findings.NeedsConfirming()) return findings;
    } catch (const Fault&) {  // judged by what the last one meets
    }
    if (stop.stop_requested()) return {};
    if (!with_pauses) break;
    Wait(stop, pause_ms);
  }
  return check();
}

}  // namespace

Inspector::Inspector(const Settings& settings, const Clock& clock, Actions actions)
    : settings_(settings),
      clock_(clock),
      actions_(std::move(actions)),
      file_(settings.FileName()) {}

Inspector::~Inspector() { Stop(); }

bool Inspector::LookBeforeServing(int64_t max_ms) {
  const End end{{}, clock_, clock_.MonotonicMs() + max_ms};
  bool has_found = false;
  try {
    std::unique_ptr<Connection> kept = Open(&end);
    const std::vector<std::string> tables = Tables(*kept);
    for (const std::string& table : tables) {
      const Findings findings = ExamineAtOnce(table, end, kept);
      if (end.IsReached()) {
        log::Info("the rest of the database is checked while it is served",
                  {{"file", file_}, {"from_table", table}});
        return has_found;
      }
      // A page that cannot be read now may be read later: the thread tries it for some seconds.
      if (!findings.pages.empty()) continue;
      // The rest of its table is looked at once the index is rebuilt.
      if (findings.malformed.empty()) looked_at_.insert(table);
      has_found = has_found || !findings.empty();
      Act(table, findings);
    }
    const bool is_whole = looked_at_.size() == tables.size() && CheckFreePages(*Open()).empty();
    if (!is_whole) return has_found;
    looked_at_.clear();
    ++rounds_;
  } catch (const std::exception& error) {  // the thread tries again
    log::Error("the database is not checked", {{"file", file_}, {"why", error.what()}});
  }
  return has_found;
}

void Inspector::Start() {
  thread_ = std::jthread([this](const std::stop_token& stop) { Loop({stop, clock_}); });
}

void Inspector::Stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

void Inspector::Suspect(const std::string& sql) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (suspects_.size() < kSuspectsMax) suspects_.insert(sql);
  } catch (const std::exception&) {  // no memory: the next one will be noted
  }
  wake_.notify_one();
}

Findings Inspector::LookOnce(std::stop_token stop) const {
  const End end{std::move(stop), clock_};
  Findings all;
  for (const std::string& table : Tables(*Open())) {
    if (end.IsReached()) return {};
    all.Add(Examine(table, Pace::kNow, end));
  }
  all.Add(Confirmed(false, end.stop, [this] { return CheckFreePages(*Open()); }));
  return end.IsReached() ? Findings{} : all;
}

void Inspector::Loop(const End& end) {
  ::pthread_setname_np(::pthread_self(), ("check " + file_).c_str());
  int64_t next_ms = clock_.MonotonicMs() + (rounds_ > 0 ? kEveryMs : 0);
  while (!end.IsReached()) {
    std::set<std::string> statements;
    {
      std::unique_lock lock(mutex_);
      const int64_t wait_ms = std::clamp<int64_t>(next_ms - clock_.MonotonicMs(), 0, kEveryMs);
      wake_.wait_for(lock, end.stop, milliseconds(wait_ms), [this] { return !suspects_.empty(); });
      statements.swap(suspects_);
    }
    if (end.IsReached()) return;
    if (settings_.is_alone && settings_.is_alone()) {
      next_ms = clock_.MonotonicMs() + kAloneEveryMs;
      continue;
    }
    try {
      LookAtSuspects(statements, end);
      if (clock_.MonotonicMs() < next_ms) continue;
      LookAtAll(end);
      next_ms = clock_.MonotonicMs() + kEveryMs;
    } catch (const std::exception& error) {
      log::Error("the database is not checked", {{"file", file_}, {"why", error.what()}});
      next_ms = clock_.MonotonicMs() + kTryAgainAfter.count();
    }
  }
}

void Inspector::LookAtAll(const End& end) {
  for (const std::string& table : Tables(*Open())) {
    if (looked_at_.contains(table)) continue;
    const bool is_urgent = rounds_ == 0 && std::ranges::find(settings_.check_first, table) !=
                                               settings_.check_first.end();
    LookAt(table, is_urgent ? Pace::kFull : Pace::kIdle, end);
    // What requests have met does not wait for the end.
    LookAtNewSuspects(end);
    if (end.IsReached()) return;
  }
  Act("", Confirmed(true, end.stop, [this] { return CheckFreePages(*Open()); }));
  looked_at_.clear();
  ++rounds_;
}

void Inspector::LookAtNewSuspects(const End& end) {
  std::set<std::string> statements;
  {
    const std::lock_guard lock(mutex_);
    statements.swap(suspects_);
  }
  LookAtSuspects(statements, end);
}

void Inspector::LookAtSuspects(const std::set<std::string>& statements, const End& end) {
  std::set<std::string> tables;
  for (const std::string& sql : statements) tables.merge(TablesTouched(*Open(), sql));
  for (const std::string& table : tables) {
    const auto looked = looked_at_ms_.find(table);
    const int64_t now = clock_.MonotonicMs();
    if (looked != looked_at_ms_.end() && now - looked->second < kSuspectEveryMs) continue;
    looked_at_ms_[table] = now;
    log::Warning("a statement met what may be damage: checking its table",
                 {{"file", file_}, {"table", table}});
    LookAt(table, Pace::kFull, end);
  }
}

void Inspector::LookAt(const std::string& table, Pace pace, const End& end) {
  const Findings findings = Examine(table, pace, end);
  if (end.IsReached()) return;
  Act(table, findings);
  if (findings.malformed.empty()) return;
  // Whether it was the index that was malformed, or the table.
  Wait(end.stop, kRebuiltAfterMs);
  const Findings left = Examine(table, Pace::kFull, end);
  if (!end.IsReached()) Act(table, left);
}

// In one transaction, which is as fast as it goes: nobody writes yet. `kept` is the connection for
// all tables, and another one afterwards if something was suspicious: only what new connections
// find again is damage.
Findings Inspector::ExamineAtOnce(const std::string& name, const End& end,
                                  std::unique_ptr<Connection>& kept) const {
  try {
    const Table table = DescribeTable(*kept, name);
    try {
      Findings findings = IntegrityCheck(*kept, table);
      if (!findings.NeedsConfirming()) return findings;
    } catch (const Fault&) {  // judged by what the others meet
    }
    kept = Open(&end);
    return Confirmed(false, end.stop, [&] {
      return end.IsReached() ? Findings() : IntegrityCheck(*Open(&end), table);
    });
  } catch (const Fault&) {
    if (end.IsReached()) return {};
    throw;
  }
}

Findings Inspector::Examine(const std::string& name, Pace pace, const End& end) const {
  const auto open = [&] { return Open(&end); };
  const bool pauses = pace != Pace::kNow;
  int64_t worked_from_ms = clock_.MonotonicMs();
  const auto pause = [&] {
    const int64_t worked_ms = clock_.MonotonicMs() - worked_from_ms;
    if (pace == Pace::kIdle && worked_ms >= kWorkMs) {
      Wait(end.stop, std::min(worked_ms * kIdleShare, kPauseMaxMs));
      worked_from_ms = clock_.MonotonicMs();
    }
    return !end.IsReached();
  };
  try {
    const Table table = DescribeTable(*open(), name);
    const auto check_whole = [&](auto&& check) {
      return Confirmed(pauses, end.stop, [&] {
        return GivingWay(end, [&](Connection& connection) { return check(connection, table); });
      });
    };
    Findings findings = check_whole(&QuickCheck);
    // Whose pages those are, can be told from the indexes.
    if (!findings.pages.empty()) findings = check_whole(&IntegrityCheck);
    // Of a malformed tree nothing more is to be said, and an index must not be rebuilt beside it.
    if (findings.pages.empty() && findings.malformed.empty() && pause()) {
      findings.Add(Confirmed(pauses, end.stop, [&] { return IndexSweep(open, pause).Run(table); }));
    }
    return findings;
  } catch (const Fault&) {
    if (end.IsReached()) return {};
    throw;
  }
}

// check(Connection&), which reads a whole table. When the log waits, it ends and begins again.
template <typename Check>
Findings Inspector::GivingWay(const End& end, Check&& check) const {
  for (int i = 0; i < kGivesWayMax && settings_.log_waits; ++i) {
    Reading reading{end, settings_.log_waits};
    const auto connection = Open();
    sqlite3_progress_handler(connection->handle(), kProgressSteps, &Inspector::OnProgressOfReading,
                             &reading);
    try {
      Findings findings = check(*connection);
      if (!reading.has_given_way) return findings;
    } catch (const Fault&) {
      if (!reading.has_given_way) throw;
    }
    Wait(end.stop, kGivesWayForMs);
    if (end.IsReached()) return {};
  }
  return check(*Open(&end));
}

void Inspector::Act(const std::string& table, const Findings& findings) {
  for (const std::string& row : findings.rows) actions_.note_row(row);
  if (!findings.pages.empty()) {
    actions_.refuse_writes(findings.pages, findings.is_unread);
    return;  // no index is rebuilt beside a malformed tree
  }
  for (const std::string& index : findings.indexes) {
    if (!findings.malformed.contains(index) &&
        KnowsMoreThanRows(table, index, findings.indexes.size() == 1)) {
      actions_.note_row("the index " + index + " is kept: what it disagrees with are damaged rows");
    } else {
      actions_.rebuild(index);
    }
  }
}

// A row whose key is damaged disagrees with every index; where that of the primary key is the only
// one, the row is not found because the index is wrong.
bool Inspector::KnowsMoreThanRows(const std::string& table, const std::string& index,
                                  bool is_only_one) const {
  if (!settings_.is_sound) return false;
  const auto connection = Open();
  const Table described = DescribeTable(*connection, table);
  const Index* found = described.Find(index);
  if (!found || found->has_expression || described.primary_key.empty()) return false;
  if (found->is_primary_key && is_only_one) return false;
  Session session(*connection);
  const std::vector<Row> rows = RowsWithoutEntry(*connection, described, *found);
  return !rows.empty() && std::ranges::none_of(rows, [&](const Row& row) {
    return settings_.is_sound(session, table, Texts(row));
  });
}

// Those to be looked at first, then the others by name.
std::vector<std::string> Inspector::Tables(Connection& connection) const {
  std::vector<std::string> tables = TableNames(connection);
  auto next = tables.begin();
  for (const std::string& first : settings_.check_first) {
    const auto found = std::find(next, tables.end(), first);
    if (found == tables.end()) continue;
    std::rotate(next, found, found + 1);
    ++next;
  }
  return tables;
}

// A statement under way is interrupted at the end.
std::unique_ptr<Connection> Inspector::Open(const End* end) const {
  auto connection = std::make_unique<Connection>(settings_.path, Connection::Role::kService,
                                                 settings_.vfs, clock_);
  if (end) {
    sqlite3_progress_handler(connection->handle(), kProgressSteps, &Inspector::OnProgress,
                             const_cast<End*>(end));
  }
  return connection;
}

int Inspector::OnProgress(void* end) noexcept {
  return static_cast<const End*>(end)->IsReached() ? 1 : 0;
}

int Inspector::OnProgressOfReading(void* reading) noexcept {
  auto& one = *static_cast<Reading*>(reading);
  one.has_given_way = one.has_given_way || one.log_waits();
  return one.has_given_way || one.end.IsReached() ? 1 : 0;
}

}  // namespace comanda::db
