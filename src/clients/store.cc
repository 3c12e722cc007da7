#include "clients/store.h"

#include "base/text.h"

namespace comanda::clients {

std::optional<Client> Select(db::Session& session, db::CompanyId company, std::string_view id) {
  const auto row = session.One(
      "SELECT id, name, email, country_calling_code, phone_number FROM client"
      " WHERE company_id = $1 AND id = $2",
      company, id);
  if (!row) return std::nullopt;
  Client client;
  client.id = row->Text(0);
  client.name = row->Text(1);
  client.email = row->OptionalText(2);
  client.country_calling_code = row->OptionalText(3);
  client.phone_number = row->OptionalText(4);
  return client;
}

std::optional<Address> SelectAddress(db::Session& session, db::CompanyId company,
                                     std::string_view id) {
  const auto row = session.One(
      "SELECT id, client_id, address, area, city, reference, complement, latitude, longitude"
      " FROM address WHERE company_id = $1 AND id = $2",
      company, id);
  if (!row) return std::nullopt;
  Address address;
  address.id = row->Text(0);
  address.client_id = row->Text(1);
  address.address = row->Text(2);
  address.area = row->OptionalText(3);
  address.city = row->OptionalText(4);
  address.reference = row->OptionalText(5);
  address.complement = row->OptionalText(6);
  address.latitude = row->OptionalText(7);
  address.longitude = row->OptionalText(8);
  return address;
}

void CountOrder(db::Tx& tx, db::CompanyId company, std::string_view client_id, UtcMs at) {
  tx.Run(
      "UPDATE client SET orders_count = orders_count + 1, last_order_at = $3, updated_at = $3"
      " WHERE company_id = $1 AND id = $2",
      company, client_id, at);
}

company::Outcome Upsert(db::Tx& tx, db::CompanyId company, const Draft& draft,
                        const db::Stamp& stamp) {
  const bool existed = Select(tx, company, draft.id).has_value();
  const int64_t written = tx.Run(
      "INSERT INTO client (company_id, id, name, name_folded, email, country_calling_code,"
      " phone_number, document_type, document_number, notes, created_at, updated_at, created_seq)"
      " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11,"
      " (SELECT coalesce(max(created_seq), 0) + 1 FROM client WHERE company_id = $1))"
      " ON CONFLICT (company_id, id) DO UPDATE SET name = excluded.name,"
      " name_folded = excluded.name_folded, email = excluded.email,"
      " country_calling_code = excluded.country_calling_code, phone_number = excluded.phone_number,"
      " document_type = excluded.document_type, document_number = excluded.document_number,"
      " notes = excluded.notes, updated_at = excluded.updated_at"
      " WHERE (client.name, client.name_folded, client.email, client.country_calling_code,"
      " client.phone_number, client.document_type, client.document_number, client.notes)"
      " IS DISTINCT FROM (excluded.name, excluded.name_folded, excluded.email,"
      " excluded.country_calling_code, excluded.phone_number, excluded.document_type,"
      " excluded.document_number, excluded.notes)",
      company, draft.id, draft.name, Folded(draft.name), draft.email, draft.country_calling_code,
      draft.phone_number, draft.document_type, draft.document_number, draft.notes, stamp.now);
  return company::OutcomeOf(existed, written);
}

company::Outcome Upsert(db::Tx& tx, db::CompanyId company, const Address& address, int position) {
  const bool existed = SelectAddress(tx, company, address.id).has_value();
  const int64_t written = tx.Run(
      "INSERT INTO address (company_id, id, client_id, address, area, city, reference, complement,"
      " latitude, longitude, position) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)"
      " ON CONFLICT (company_id, id) DO UPDATE SET client_id = excluded.client_id,"
      " address = excluded.address, area = excluded.area, city = excluded.city,"
      " reference = excluded.reference, complement = excluded.complement,"
      " latitude = excluded.latitude, longitude = excluded.longitude, position = excluded.position"
      " WHERE (address.client_id, address.address, address.area, address.city, address.reference,"
      " address.complement, address.latitude, address.longitude, address.position)"
      " IS DISTINCT FROM (excluded.client_id, excluded.address, excluded.area, excluded.city,"
      " excluded.reference, excluded.complement, excluded.latitude, excluded.longitude,"
      " excluded.position)",
      company, address.id, address.client_id, address.address, address.area, address.city,
      address.reference, address.complement, address.latitude, address.longitude, position);
  return company::OutcomeOf(existed, written);
}

void Touch(db::Tx& tx, db::CompanyId company, std::string_view client_id, const db::Stamp& stamp) {
  tx.Run("UPDATE client SET updated_at = $3 WHERE company_id = $1 AND id = $2", company, client_id,
         stamp.now);
}

}  // namespace comanda::clients
