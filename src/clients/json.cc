#include "clients/json.h"

#include "json/writer.h"

namespace comanda::clients {
namespace {

void WriteAddress(json::Writer& writer, const Address& address) {
  writer.BeginObject();
  writer.Key("id").Text(address.id);
  writer.Key("address").Text(address.address);
  writer.Key("area").Text(address.area);
  writer.Key("city").Text(address.city);
  writer.Key("reference").Text(address.reference);
  writer.Key("complement").Text(address.complement);
  writer.Key("latitude").Stored(address.latitude.value_or("null"));
  writer.Key("longitude").Stored(address.longitude.value_or("null"));
  writer.EndObject();
}

}  // namespace

std::string Render(const Client& client, const std::vector<Address>& addresses) {
  std::string record;
  json::Writer writer(record);
  writer.BeginObject();
  writer.Key("id").Text(client.id);
  writer.Key("name").Text(client.name);
  writer.Key("email").Text(client.email);
  writer.Key("country_calling_code").Text(client.country_calling_code);
  writer.Key("phone_number").Text(client.phone_number);
  writer.Key("phone").Text(client.Phone());
  writer.Key("document_type").Text(client.document_type);
  writer.Key("document_number").Text(client.document_number);
  writer.Key("notes").Text(client.notes);
  writer.Key("addresses").BeginArray();
  for (const Address& address : addresses) WriteAddress(writer, address);
  writer.EndArray();
  writer.Key("orders_count").Integer(client.orders_count);
  writer.Key("last_order_at").Instant(client.last_order_at);
  writer.Key("created_at").Instant(client.created_at);
  writer.Key("updated_at").Instant(client.updated_at);
  writer.EndObject();
  return record;
}

}  // namespace comanda::clients
