#include "clients/import.h"

#include <utility>

#include "base/text.h"
#include "clients/store.h"
#include "company/import_row.h"

namespace comanda::clients {
namespace {

// Of one client.
constexpr size_t kAddressesMax = 100;

std::vector<Address> ReadAddresses(json::ObjectReader& row, const std::string& client_id,
                                   company::RowIds& ids) {
  std::vector<Address> addresses;
  for (json::ObjectReader& item : row.Objects("addresses", kAddressesMax, true)) {
    Address& address = addresses.emplace_back();
    address.client_id = client_id;
    address.address = item.RequireText("address", company::kAddressRule).value_or("");
    address.id = ids.Take(item, "address",
                          address.address.empty() ? "" : client_id + ":" + Folded(address.address));
    address.area = item.Text("area", company::kNameRule);
    address.city = item.Text("city", company::kNameRule);
    address.reference = item.Text("reference", company::kAddressRule);
    address.complement = item.Text("complement", company::kAddressRule);
    company::Coordinates coordinates = company::ReadCoordinates(item);
    address.latitude = std::move(coordinates.latitude);
    address.longitude = std::move(coordinates.longitude);
    item.Finish();
  }
  return addresses;
}

Draft ReadDraft(json::ObjectReader& row, company::RowIds& ids, company::RowIds& address_ids) {
  Draft draft;
  draft.name = row.RequireText("name", company::kNameRule).value_or("");
  draft.email = company::ReadEmail(row);
  company::Phone phone = company::ReadPhone(row);
  draft.country_calling_code = std::move(phone.country_calling_code);
  draft.phone_number = std::move(phone.number);
  draft.document_type = row.Text("document_type", company::kNameRule);
  draft.document_number = row.Text("document_number", company::kNumberRule);
  draft.notes = row.Text("notes", company::kProseRule);
  if (draft.email) {
    draft.id = ids.Take(row, "email", "email:" + *draft.email);
  } else if (draft.phone_number) {
    draft.id = ids.Take(row, "phone_number",
                        "phone:" + draft.country_calling_code.value_or("") + *draft.phone_number);
  } else {
    draft.id = ids.Take(row, "name", draft.name.empty() ? "" : "name:" + Folded(draft.name));
  }
  draft.addresses = ReadAddresses(row, draft.id, address_ids);
  row.Finish();
  return draft;
}

}  // namespace

std::vector<Draft> ReadDrafts(json::ObjectReader& row, const std::string& company_uuid) {
  company::RowIds ids(company_uuid, "client");
  company::RowIds address_ids(company_uuid, "address");
  std::vector<Draft> drafts;
  for (json::ObjectReader& item : row.Objects("clients", company::kRowsMax, true)) {
    drafts.push_back(ReadDraft(item, ids, address_ids));
  }
  return drafts;
}

Imported Import(db::Tx& tx, db::CompanyId company, const std::vector<Draft>& drafts,
                const db::Stamp& stamp) {
  Imported imported;
  for (const Draft& draft : drafts) {
    company::UpsertResult outcome = Upsert(tx, company, draft, stamp);
    company::ImportCounts addresses;
    int position = 0;
    for (const Address& address : draft.addresses) {
      const company::UpsertResult written = Upsert(tx, company, address, position++);
      addresses.Count(written);
      imported.addresses.Count(written);
    }
    if (outcome == company::UpsertResult::kUnchanged && addresses.changed()) {
      Touch(tx, company, draft.id, stamp);
      outcome = company::UpsertResult::kUpdated;
    }
    imported.clients.Count(outcome);
  }
  return imported;
}

}  // namespace comanda::clients
