#include "company/companies.h"

#include <utility>

#include "base/problem.h"
#include "company/store.h"
#include "events/log.h"
#include "events/types.h"

namespace comanda::company {

namespace {

// Companies are never deleted.
template <typename T>
T Required(std::optional<T> found, db::CompanyId company) {
  if (found) return *std::move(found);
  throw Fault(Fault::Kind::kDamaged, "company " + std::to_string(company.value) + " is gone");
}

}  // namespace

Company Get(db::Session& session, db::CompanyId company) {
  return Required(Select(session, company), company);
}

std::string UuidOf(db::Session& session, db::CompanyId company) {
  return Required(SelectUuid(session, company), company);
}

std::shared_ptr<const Company> GetCached(db::Database& database, db::CompanyId company) {
  // Changes of the currency or the zone are visible in the menu, so they raise the catalogue's
  // counter, and with it invalidate this cache.
  constexpr auto kCounter = static_cast<size_t>(events::Counter::kCatalogue);
  return database.Kept<Company>(
      company, kCounter, [&](db::Snapshot& snapshot) { return Get(snapshot, company); },
      db::Readers::kOrders);
}

std::optional<Company> FindByUuid(db::Session& session, std::string_view id) {
  return SelectByUuid(session, id);
}

std::vector<Company> All(db::Session& session) { return SelectAll(session); }

Zone FindZone(const Company& company) {
  std::optional<Zone> zone = Zone::Find(company.timezone);
  if (zone) return *std::move(zone);
  return Zone::Fixed(company.timezone, company.utc_offset_s.value_or(0));
}

std::optional<PaymentMethod> FindPaymentMethod(db::Session& session, db::CompanyId company,
                                               std::string_view id) {
  return SelectPaymentMethod(session, company, id);
}

std::optional<PaymentMethod> FindPaymentMethodByCode(db::Session& session, db::CompanyId company,
                                                     std::string_view code) {
  return SelectPaymentMethodByCode(session, company, code);
}

void EnsurePaymentMethod(db::Tx& tx, db::CompanyId company, const PaymentMethod& method) {
  if (SelectPaymentMethodByCode(tx, company, method.code)) return;
  Upsert(tx, company, method);
}

std::vector<std::string> PaymentMethodCodes(db::Session& session, db::CompanyId company) {
  return SelectPaymentMethodCodes(session, company);
}

std::optional<Table> FindTable(db::Session& session, db::CompanyId company, std::string_view id) {
  return SelectTable(session, company, id);
}

Days BusinessDays(const Company& company) {
  return {.zone = FindZone(company), .starts_at = company.day_starts_at};
}

OrderNumber TakeOrderNumber(events::HeldCounters& counters, const Company& company, UtcMs now,
                            const LastNumberBetween& last_between) {
  const Days days = BusinessDays(company);
  const Day day = days.Of(now);
  OrderNumber taken{.business_day = FormatDay(day)};
  if (const auto next = counters.NextOrderNumber(taken.business_day)) {
    taken.number = *next;
    return taken;
  }
  taken.number = last_between(days.BeginOf(day), days.EndOf(day)) + 1;
  counters.StartOrderNumbers(taken.business_day, taken.number);
  return taken;
}

}  // namespace comanda::company
