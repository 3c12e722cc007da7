#include "integrity/verification.h"

#include <utility>

#include "base/problem.h"
#include "keys/keys.h"
#include "webhooks/webhooks.h"

namespace comanda::integrity {
namespace {

// Some milliseconds each.
constexpr int64_t kOrdersAtOnce = 50;
constexpr int64_t kEventsAtOnce = 100;

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
  keys::LoadAll(session, SystemClock(), of_keys);
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

}  // namespace comanda::integrity
