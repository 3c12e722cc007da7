#include "app/verification.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "app/embedded.h"
#include "base/problem.h"
#include "db/sqlite/read_only.h"
#include "keys/keys.h"
#include "webhooks/webhooks.h"

namespace comanda::app {
namespace {

// Some milliseconds each.
constexpr int64_t kOrdersAtOnce = 50;
constexpr int64_t kEventsAtOnce = 100;

void AppendLines(std::string_view lines, std::vector<std::string>& to) {
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    if (end > 0) to.emplace_back(lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
}

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
    Add({fault.cause});
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
      Add(orders::CheckCounts(session, part.company));
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
  std::vector<std::string> damage;
  keys::LoadAll(session, damage);
  webhooks::Check(session, damage);
  Add(std::move(damage));
  step_ = Step::kOrders;
}

void Verification::NextOrders(db::Session& session, Part& part) {
  orders::OrdersPart found = orders::CheckOrders(session, part.company, order_, kOrdersAtOnce);
  report_.orders += found.orders;
  Add(std::move(found.damage));
  part.damaged_records = std::move(found.damaged_records);
  part.without_checksum = std::move(found.without_checksum);
  part.was_last_of_orders = found.at_end;
  order_ = std::move(found.position);
  if (found.at_end) step_ = Step::kCounts;
}

void Verification::NextEvents(db::Session& session) {
  events::LogPart found = events::CheckLog(session, companies_[company_], event_, kEventsAtOnce);
  report_.events += found.events;
  Add(std::move(found.damage));
  event_ = found.position;
  if (found.at_end) NextCompany();
}

void Verification::Add(std::vector<std::string> damage) {
  report_.damage.insert(report_.damage.end(), std::make_move_iterator(damage.begin()),
                        std::make_move_iterator(damage.end()));
}

std::optional<Verification::Report> VerifyRows(const std::string& path, FileState state,
                                               const Clock& clock) {
  const db::Onlooker onlooker(path);
  db::Watcher watcher = Open(path, state, clock, onlooker);
  if (watcher.SchemaVersion() != SchemaKnown()) return std::nullopt;
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
  AppendLines(Open(path, state, clock, onlooker).IntegrityCheck(), report.damage);
  onlooker.RequireStill();
  return report;
}

bool IsOfAnOlderVersion(const std::string& path, FileState state, const Clock& clock) {
  const db::Onlooker onlooker(path);
  const bool is_older = Open(path, state, clock, onlooker).SchemaVersion() < SchemaKnown();
  onlooker.RequireStill();
  return is_older;
}

Verification::Report VerifyDatabase(const std::string& path, FileState state, const Clock& clock) {
  std::optional<Verification::Report> report = VerifyRows(path, state, clock);
  if (!report) {
    throw Fault(Fault::Kind::kInternal,
                path +
                    " is of another version of the program: start the server once, or verify "
                    "with the program that wrote it");
  }
  for (std::string& line : VerifyPages(path, state, clock).damage) {
    report->damage.push_back(std::move(line));
  }
  return *std::move(report);
}

}  // namespace comanda::app
