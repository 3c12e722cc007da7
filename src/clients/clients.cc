#include "clients/clients.h"

#include "base/text.h"
#include "clients/store.h"
#include "events/log.h"

namespace comanda::clients {

std::optional<std::string> Client::Phone() const {
  if (!country_calling_code || !phone_number) return std::nullopt;
  return "+" + Digits(*country_calling_code) + Digits(*phone_number);
}

std::optional<Client> Find(db::Session& session, db::CompanyId company, std::string_view id) {
  return Select(session, company, id);
}

std::optional<Address> FindAddress(db::Session& session, db::CompanyId company,
                                   std::string_view id) {
  return SelectAddress(session, company, id);
}

std::vector<Address> AddressesOf(db::Session& session, db::CompanyId company,
                                 std::string_view client_id) {
  return SelectAddresses(session, company, client_id);
}

void NoteOrder(db::Tx& tx, db::CompanyId company, std::string_view client_id, UtcMs at,
               const db::Stamp& stamp) {
  CountOrder(tx, company, client_id, at, stamp.now);
  // The count is part of the client's record, so lists of clients have changed.
  events::RaiseCounter(tx, company, events::Counter::kOther);
}

void MakeSearchable(db::Database& database, const std::function<void()>& progress) {
  constexpr int kClientsAJob = 50;  // tills wait for a job: some milliseconds
  const auto pending = [&] {
    return database.Read([](db::Snapshot& snapshot) { return AnyUnsearchable(snapshot); });
  };
  while (pending()) {
    database.Write([](db::Tx& tx, const db::Stamp&) { IndexUnsearchable(tx, kClientsAJob); });
    progress();
  }
}

}  // namespace comanda::clients
