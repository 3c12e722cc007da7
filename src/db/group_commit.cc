#include "db/group_commit.h"

#include <algorithm>
#include <chrono>

#include "base/check.h"
#include "base/log.h"
#include "base/problem.h"

namespace comanda::db {
namespace {

constexpr int64_t kClockStepMaxMs = 5 * 60'000;
constexpr int kCarefulGroups = 100;

// Commits take less than the clock's millisecond.
int64_t MonotonicUs() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

}  // namespace

GroupCommit::Metrics::Metrics(metrics::Registry& registry, const std::string& labels)
    : commits(registry, "comanda_db_commits_total", "Transactions committed.", labels),
      commit_time(registry, "comanda_db_commit_seconds",
                  "From the start of a COMMIT to its being on disk.", labels) {}

GroupCommit::GroupCommit(const Settings& settings, ChangeCounters& counters, Upkeep& upkeep,
                         const Clock& clock, Heartbeat& heartbeat, metrics::Registry& metrics)
    : settings_(settings),
      counters_(counters),
      upkeep_(upkeep),
      clock_(clock),
      heartbeat_(heartbeat),
      metrics_(metrics, settings.MetricLabels()),
      file_(settings.FileName()) {}

void GroupCommit::Serve(const Group& group) {
  if (Refused(*group.front())) {
    for (Request* request : group) request->error = group.front()->error;
  } else if (!upkeep_.MayWrite()) {
    for (Request* request : group) {
      request->error = std::make_exception_ptr(upkeep_.WhyNot());
    }
  } else if (!TryTogether(group)) {
    for (Request* request : group) {
      TryAlone(*request);
      heartbeat_.Beat();
    }
  }
}

// True where the transaction was committed, or rolled back because the only job refused.
bool GroupCommit::TryTogether(const Group& group) {
  const bool alone = group.size() == 1;
  const bool savepoints = !alone && careful_groups_ > 0;
  if (savepoints) --careful_groups_;
  try {
    Begin();
    const Stamp stamp = NextStamp();
    for (Request* request : group) {
      RunJob(*request, stamp, savepoints);
      if (!request->error || savepoints || alone) continue;
      upkeep_.Rollback();
      careful_groups_ = kCarefulGroups;
      return TryTogether(group);
    }
    if (alone && group.front()->error) {
      Rollback();
    } else {
      Commit();
    }
    return true;
  } catch (const std::exception& failure) {
    log::Warning("group of jobs rolled back",
                 {{"file", file_}, {"jobs", group.size()}, {"cause", failure.what()}});
  }
  ReportSuspicion();
  // What is too much for the disk together may fit in part: running one by one finds out.
  const Trouble trouble = upkeep_.connection().trouble();
  upkeep_.Recover(trouble == Trouble::kFull ? Trouble::kPassing : trouble);
  if (trouble == Trouble::kFull) upkeep_.MakeSpace();
  return false;
}

// A job of a group whose transaction was lost.
void GroupCommit::TryAlone(Request& request) {
  if (Refused(request)) return;
  // It may have become so with the job before. After a failed write nothing is tried through the
  // same connection.
  if (upkeep_.IsReadOnly() && !upkeep_.MayWrite()) {
    request.error = std::make_exception_ptr(upkeep_.WhyNot());
    return;
  }
  if (TryOnce(request)) return;
  upkeep_.Recover(upkeep_.connection().trouble());
  if (request.error)
    Refused(request);  // where the file turned out to be damaged, that is the answer
}

// False where the transaction failed; the caller has the disk recover.
bool GroupCommit::TryOnce(Request& request) {
  try {
    Begin();
    RunJob(request, NextStamp(), false);
    if (request.error) {
      Rollback();
    } else {
      Commit();
    }
    return true;
  } catch (const std::exception&) {
    request.error = std::current_exception();
    request.on_commit.clear();
    ReportSuspicion();
    return false;
  }
}

// True where no jobs are taken any more; the request then says why.
bool GroupCommit::Refused(Request& request) const {
  try {
    upkeep_.RequireOpen();
    return false;
  } catch (const Fault&) {
    request.error = std::current_exception();
    return true;
  }
}

// Leaves the job's outcome in the request. Throws where the transaction is no longer what it was.
void GroupCommit::RunJob(Request& request, const Stamp& stamp, bool savepoint) {
  Connection& connection = upkeep_.connection();
  request.error = nullptr;
  request.on_commit.clear();
  if (savepoint) connection.Execute("SAVEPOINT job");
  try {
    Tx tx(connection, counters_);
    request.job(tx, stamp);
    request.on_commit = tx.TakePublications();
    if (savepoint) connection.Settle();  // what fails is this job's
  } catch (...) {
    request.error = std::current_exception();
    connection.Abandon();
  }
  CHECK(!connection.AnyRunning(), "no Rows outlives its job");
  const Trouble trouble = connection.trouble();
  if (!connection.InTransaction() || DiskFailed(trouble) || connection.MustRunAgain()) {
    throw connection.failure();
  }
  if (trouble == Trouble::kFull) {
    if (upkeep_.MakeSpace()) throw connection.failure();
    job_met_full_disk_ = true;
  }
  ReportSuspicion();
  connection.ClearTrouble();  // the job's own from here on
  if (!savepoint) return;
  if (request.error) connection.Execute("ROLLBACK TO job");
  connection.Execute("RELEASE job");
}

void GroupCommit::ReportSuspicion() const {
  if (settings_.suspect && upkeep_.connection().met_damage()) settings_.suspect();
}

void GroupCommit::Begin() {
  job_met_full_disk_ = false;
  upkeep_.Begin();
}

void GroupCommit::Commit() {
  const int64_t start_us = MonotonicUs();
  upkeep_.Commit();
  metrics_.commit_time.ObserveUs(MonotonicUs() - start_us);
  metrics_.commits.Add();
  if (job_met_full_disk_) upkeep_.BecomeFull();
}

void GroupCommit::Rollback() {
  upkeep_.Rollback();
  if (job_met_full_disk_) upkeep_.BecomeFull();
}

Stamp GroupCommit::NextStamp() {
  UtcMs now = clock_.Now();
  if (const UtcMs last = last_stamp_; now < last) {
    if (last - now <= kClockStepMaxMs) {
      now = last;
    } else {
      log::Warning("the clock was put back",
                   {{"from", FormatInstant(last)}, {"to", FormatInstant(now)}});
    }
  }
  last_stamp_ = now;
  return Stamp{now};
}

}  // namespace comanda::db
