#include "db/inspector.h"

#include <pthread.h>
#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "base/log.h"
#include "db/index_sweep.h"
#include "db/tables.h"

namespace comanda::db {
namespace {

using std::chrono::milliseconds;

constexpr size_t kSuspectsMax = 64;
constexpr int kProgressSteps = 10'000;  // well under a millisecond
constexpr int64_t kIdleShare = 4;       // pauses for each time of work
constexpr int64_t kPauseMaxMs = 2'000;
constexpr milliseconds kTryAgainAfter{60'000};

// Waits for so long, or until it is told to stop.
void Wait(std::stop_token stop, int64_t ms) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, std::move(stop), milliseconds(ms), [] { return false; });
}

int OnProgress(void* stop) noexcept {
  return static_cast<std::stop_token*>(stop)->stop_requested() ? 1 : 0;
}

// What the check finds again and again, each time on a new connection. Fault where the last one
// cannot run it.
template <typename Check>
Findings Confirmed(bool with_pauses, std::stop_token stop, Check&& check) {
  for (const int64_t pause_ms : {100, 1'000, 5'000}) {
    try {
      Findings findings = check();
      if (findings.pages.empty() && findings.rows.empty()) return findings;
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

void Inspector::Start() {
  thread_ = std::jthread([this](std::stop_token stop) { Loop(std::move(stop)); });
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
  Findings all;
  for (const std::string& table : TableNames(*Open())) {
    if (stop.stop_requested()) return {};
    all.Add(Examine(table, Pace::kNow, stop));
  }
  all.Add(Confirmed(false, stop, [this] { return CheckFreePages(*Open()); }));
  return stop.stop_requested() ? Findings{} : all;
}

void Inspector::Loop(std::stop_token stop) {
  ::pthread_setname_np(::pthread_self(), ("check " + file_).c_str());
  int64_t next_ms = clock_.MonotonicMs();
  while (!stop.stop_requested()) {
    std::set<std::string> statements;
    {
      std::unique_lock lock(mutex_);
      const int64_t wait_ms = std::clamp<int64_t>(next_ms - clock_.MonotonicMs(), 0, kEveryMs);
      wake_.wait_for(lock, stop, milliseconds(wait_ms), [this] { return !suspects_.empty(); });
      statements.swap(suspects_);
    }
    if (stop.stop_requested()) return;
    try {
      if (!statements.empty()) LookAtSuspects(std::move(statements), stop);
      if (clock_.MonotonicMs() < next_ms) continue;
      LookAtAll(stop);
      next_ms = clock_.MonotonicMs() + kEveryMs;
    } catch (const std::exception& error) {
      log::Error("the database is not checked", {{"file", file_}, {"why", error.what()}});
      next_ms = clock_.MonotonicMs() + kTryAgainAfter.count();
    }
  }
}

void Inspector::LookAtAll(std::stop_token stop) {
  const int64_t start_ms = clock_.MonotonicMs();
  for (const std::string& table : TableNames(*Open())) {
    LookAt(table, Pace::kIdle, stop);
    // What requests have met does not wait for the end.
    std::set<std::string> statements;
    {
      const std::lock_guard lock(mutex_);
      statements.swap(suspects_);
    }
    if (!statements.empty()) LookAtSuspects(std::move(statements), stop);
    if (stop.stop_requested()) return;
  }
  Act(Confirmed(true, stop, [this] { return CheckFreePages(*Open()); }));
  log::Info("the database was checked",
            {{"file", file_}, {"seconds", (clock_.MonotonicMs() - start_ms) / 1000}});
}

void Inspector::LookAtSuspects(std::set<std::string> statements, std::stop_token stop) {
  std::set<std::string> tables;
  for (const std::string& sql : statements) tables.merge(TablesTouched(*Open(), sql));
  for (const std::string& table : tables) {
    const auto looked = looked_at_ms_.find(table);
    const int64_t now = clock_.MonotonicMs();
    if (looked != looked_at_ms_.end() && now - looked->second < kSuspectEveryMs) continue;
    looked_at_ms_[table] = now;
    log::Warning("a statement met what may be damage: checking its table",
                 {{"file", file_}, {"table", table}});
    LookAt(table, Pace::kFull, stop);
  }
}

void Inspector::LookAt(const std::string& table, Pace pace, std::stop_token stop) {
  const Findings findings = Examine(table, pace, stop);
  if (!stop.stop_requested()) Act(findings);
}

Findings Inspector::Examine(const std::string& name, Pace pace, std::stop_token stop) const {
  const auto open = [&] {
    auto connection = Open();
    sqlite3_progress_handler(connection->handle(), kProgressSteps, &OnProgress, &stop);
    return connection;
  };
  const bool pauses = pace != Pace::kNow;
  int64_t worked_from_ms = clock_.MonotonicMs();
  const auto pause = [&] {
    if (pace == Pace::kIdle) {
      const int64_t worked_ms = clock_.MonotonicMs() - worked_from_ms;
      Wait(stop, std::clamp<int64_t>(worked_ms * kIdleShare, 1, kPauseMaxMs));
      worked_from_ms = clock_.MonotonicMs();
    }
    return !stop.stop_requested();
  };
  try {
    const Table table = DescribeTable(*open(), name);
    Findings findings = Confirmed(pauses, stop, [&] { return QuickCheck(*open(), table); });
    // Of a malformed tree nothing more is to be said, and an index must not be rebuilt beside it.
    if (findings.pages.empty() && pause()) {
      findings.Add(Confirmed(pauses, stop, [&] { return IndexSweep(open, pause).Run(table); }));
    }
    return findings;
  } catch (const Fault&) {
    if (stop.stop_requested()) return {};
    throw;
  }
}

void Inspector::Act(const Findings& findings) {
  for (const std::string& row : findings.rows) actions_.note_row(row);
  for (const std::string& index : findings.indexes) actions_.rebuild(index);
  if (!findings.pages.empty()) actions_.refuse_writes(findings.pages);
}

std::unique_ptr<Connection> Inspector::Open() const {
  return std::make_unique<Connection>(settings_.path, Connection::Role::kService, settings_.vfs,
                                      clock_);
}

}  // namespace comanda::db
