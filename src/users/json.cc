#include "users/json.h"

#include "json/writer.h"

namespace comanda::users {

std::string Render(const User& user) {
  std::string record;
  json::Writer writer(record);
  writer.BeginObject();
  writer.Key("id").Text(user.id);
  writer.Key("name").Text(user.name);
  writer.Key("email").Text(user.email);
  writer.Key("country_calling_code").Text(user.country_calling_code);
  writer.Key("phone_number").Text(user.phone_number);
  writer.Key("role").Text(user.role);
  writer.Key("active").Boolean(user.active);
  writer.Key("created_at").Instant(user.created_at);
  writer.Key("updated_at").Instant(user.updated_at);
  writer.EndObject();
  return record;
}

}  // namespace comanda::users
