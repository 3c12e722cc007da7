#include "integrity/verification.h"

#include <utility>

#include "base/problem.h"
#include "db/sqlite/read_only.h"
#include "integrity/file.h"
#include "keys/keys.h"
#include "webhooks/webhooks.h"

namespace comanda::integrity {
namespace {

// Some milliseconds each.
constexpr int64_t kOrdersAtOnce = 50;
constexpr int64_t kEventsAtOnce = 100;

db::Watcher Open(const std::string& path, FileState state, const Clock& clock,
                 const db::Onlooker& onlooker) {
  return state == FileState::kFrozen ? db::Watcher::OfFrozen(path, clock)
                                     : db::Watcher(path, clock, "", onlooker.sharing());
}

}  // namespace

bool Verification::Next(db::Session& session, Part& part) {
  part = {};
  if (step_ == Step::kBegin) Begin(session);
  if (company_ == companies_.size()) return false;
  part.company = companies_[company_];
  try {
    DoStep(session, part);
  } catch (const Fault& fault) {
    // Not an order or an event, each of which is judged alone, but what all of them depend on.
    if (fault.kind != Fault::Kind::kDamaged) throw;
    part = {.company = part.company};
    Add(Kind::kRow, "company_counter", {fault.cause}, report_.damage);
    NextCompany();
  }
  return true;
}

void Verification::DoStep(db::Session& session, Part& part) {
  switch (step_) {
    case Step::kBegin:
    case Step::kOrders:
      NextOrders(session, part);
      break;
    case Step::kCounts:
      Add(Kind::kRow, "order_facet", orders::CheckCounts(session, part.company), report_.damage);
      step_ = Step::kLog;
      break;
    case Step::kLog:
      NextEvents(session);
      break;
  }
}

void Verification::NextCompany() {
  ++company_;
  order_ = {};
  event_ = {};
  step_ = Step::kOrders;
}

void Verification::Begin(db::Session& session) {
  companies_ = events::CompaniesWithEvents(session);
  for (const db::CompanyId company : companies_) {
    orders_in_all_ += orders::CountAll(session, company);
  }
  std::vector<std::string> of_keys;
  std::vector<std::string> of_webhooks;
  keys::LoadAll(session, of_keys);
  webhooks::Check(session, of_webhooks);
  Add(Kind::kRow, "api_key", std::move(of_keys), report_.damage);
  Add(Kind::kRow, "webhook", std::move(of_webhooks), report_.damage);
  step_ = Step::kOrders;
}

void Verification::NextOrders(db::Session& session, Part& part) {
  orders::OrdersPart found = orders::CheckOrders(session, part.company, order_, kOrdersAtOnce);
  report_.orders += found.orders;
  Add(Kind::kRow, "orders", std::move(found.damage), report_.damage);
  part.damaged_records = std::move(found.damaged_records);
  part.without_checksum = std::move(found.without_checksum);
  part.was_last_of_orders = found.at_end;
  order_ = std::move(found.position);
  if (found.at_end) step_ = Step::kCounts;
}

void Verification::NextEvents(db::Session& session) {
  events::LogPart found = events::CheckLog(session, companies_[company_], event_, kEventsAtOnce);
  report_.events += found.events;
  Add(Kind::kRow, "event", std::move(found.damage), report_.damage);
  event_ = found.position;
  if (found.at_end) NextCompany();
}

std::optional<Verification::Report> VerifyRows(const std::string& path, FileState state,
                                               int64_t schema_known, const Clock& clock) {
  const db::Onlooker onlooker(path);
  db::Watcher watcher = Open(path, state, clock, onlooker);
  if (watcher.SchemaVersion() != schema_known) return std::nullopt;
  Verification verification;
  Verification::Part part;
  const auto next = [&](db::Snapshot& snapshot) { return verification.Next(snapshot, part); };
  while (watcher.Read(next)) continue;
  onlooker.RequireStill();
  return verification.report();
}

Verification::Report VerifyPages(const std::string& path, FileState state, const Clock& clock) {
  Verification::Report report;
  const db::Onlooker onlooker(path);
  report.damage = MeaningOf(Open(path, state, clock, onlooker).CheckFile(), path);
  onlooker.RequireStill();
  return report;
}

bool IsOfAnOlderVersion(const std::string& path, FileState state, int64_t schema_known,
                        const Clock& clock) {
  const db::Onlooker onlooker(path);
  const bool is_older = Open(path, state, clock, onlooker).SchemaVersion() < schema_known;
  onlooker.RequireStill();
  return is_older;
}

Verification::Report VerifyDatabase(const std::string& path, FileState state, int64_t schema_known,
                                    const Clock& clock) {
  Findings of_file = VerifyPages(path, state, clock).damage;
  std::optional<Verification::Report> report;
  try {
    report = VerifyRows(path, state, schema_known, clock);
  } catch (const Fault& fault) {
    const bool is_malformed =
        fault.kind == Fault::Kind::kInternal || fault.kind == Fault::Kind::kUnread;
    if (!is_malformed || of_file.empty()) throw;
    report.emplace();
    of_file.push_back({.kind = of_file.front().kind,
                       .where = path,
                       .what = "orders and events cannot all be read"});
  }
  if (!report) {
    throw Fault(Fault::Kind::kInternal,
                path +
                    " is of another version of the program: start the server once, or verify "
                    "with the program that wrote it");
  }
  for (Finding& finding : of_file) report->damage.push_back(std::move(finding));
  return *std::move(report);
}

}  // namespace comanda::integrity
