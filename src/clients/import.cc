#include "clients/import.h"

#include <utility>

#include "base/text.h"
#include "clients/store.h"
#include "company/import_row.h"

namespace comanda::clients {
namespace {

using company::Take;

// Of one client.
constexpr size_t kAddressesMax = 100;

void ReadFields(json::ObjectReader& row, Address& address) {
  company::TakeRequired(row, "address", company::kAddressRule, address.address);
  Take(row, "area", row.Text("area", company::kNameRule), address.area);
  Take(row, "city", row.Text("city", company::kNameRule), address.city);
  Take(row, "reference", row.Text("reference", company::kAddressRule), address.reference);
  Take(row, "complement", row.Text("complement", company::kAddressRule), address.complement);
  company::ReadCoordinates(row, address.latitude, address.longitude);
}

company::Person PersonOf(Client& client) {
  return {.name = client.name,
          .email = client.email,
          .country_calling_code = client.country_calling_code,
          .phone_number = client.phone_number};
}

void ReadFields(json::ObjectReader& row, Client& client) {
  company::ReadPerson(row, PersonOf(client));
  Take(row, "document_type", row.Text("document_type", company::kNameRule), client.document_type);
  Take(row, "document_number", row.Text("document_number", company::kNumberRule),
       client.document_number);
  Take(row, "notes", row.Text("notes", company::kProseRule), client.notes);
}

std::vector<Address> ReadAddresses(json::ObjectReader& row, const std::string& client_id,
                                   company::RowIds& ids) {
  std::vector<Address> addresses;
  for (json::ObjectReader& item : row.Objects("addresses", kAddressesMax, true)) {
    Address& address = addresses.emplace_back();
    address.client_id = client_id;
    ReadFields(item, address);
    address.id = ids.Take(item, "address",
                          address.address.empty() ? "" : client_id + ":" + Folded(address.address));
    item.Finish();
  }
  return addresses;
}

}  // namespace

std::vector<Draft> ReadFile(json::ObjectReader& row, const std::string& company_uuid) {
  company::RowIds ids(company_uuid, "client");
  company::RowIds address_ids(company_uuid, "address");
  std::vector<Draft> drafts;
  for (json::ObjectReader& item : row.Objects("clients", company::kRowsMax, true)) {
    Draft& draft = drafts.emplace_back();
    ReadFields(item, draft.client);
    draft.client.id = company::TakeId(item, ids, PersonOf(draft.client));
    draft.addresses = ReadAddresses(item, draft.client.id, address_ids);
    item.Finish();
  }
  return drafts;
}

void ReadShown(json::Value record, Client& client, json::Errors& errors) {
  json::ObjectReader row(record, "", errors, json::UnknownFields::kTolerated);
  ReadFields(row, client);
}

void ReadShown(json::Value record, Address& address, json::Errors& errors) {
  json::ObjectReader row(record, "", errors, json::UnknownFields::kTolerated);
  ReadFields(row, address);
}

Imported Import(db::Tx& tx, db::CompanyId company, const std::vector<Draft>& drafts,
                const db::Stamp& stamp) {
  Imported imported;
  for (const Draft& draft : drafts) {
    company::UpsertResult outcome = Upsert(tx, company, draft.client, stamp);
    company::ImportCounts addresses;
    int position = 0;
    for (const Address& address : draft.addresses) {
      const company::UpsertResult written = Upsert(tx, company, address, position++);
      addresses.Count(written);
      imported.addresses.Count(written);
    }
    if (outcome == company::UpsertResult::kUnchanged && addresses.changed()) {
      Touch(tx, company, draft.client.id, stamp);
      outcome = company::UpsertResult::kUpdated;
    }
    imported.clients.Count(outcome);
  }
  return imported;
}

}  // namespace comanda::clients
