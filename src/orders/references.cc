#include "orders/references.h"

#include <string>
#include <string_view>
#include <utility>

#include "aliases/aliases.h"
#include "clients/clients.h"
#include "company/companies.h"
#include "json/reader.h"
#include "json/writer.h"
#include "menu/menu.h"
#include "users/users.h"

namespace comanda::orders {
namespace {

// Snapshots

std::string Snapshot(const company::Table& table) {
  std::string text;
  json::Writer out(text);
  out.BeginObject();
  out.Key("id").Text(table.id);
  out.Key("name").Text(table.name);
  out.EndObject();
  return text;
}

// What `find` gives for the id that was sent, or for the id here of the record that has that id in
// the cloud.
template <typename Find>
auto FindByEitherId(db::Session& session, db::CompanyId company, aliases::Kind kind,
                    const std::string& id, Find find) {
  auto found = find(id);
  if (found) return found;
  const std::optional<std::string> box_id = aliases::FindBoxId(session, company, kind, id);
  return box_id ? find(*box_id) : found;
}

// Whether the id that was sent names the record with that id here.
bool IsIdOf(db::Session& session, db::CompanyId company, aliases::Kind kind,
            const std::string& sent, const std::string& box_id) {
  return sent == box_id || aliases::FindBoxId(session, company, kind, sent) == box_id;
}

void ReferToClient(db::Session& session, const OrderDraft& draft, Order& order,
                   json::Errors& errors) {
  if (!draft.client_id) return;
  const auto client = FindByEitherId(
      session, order.company, aliases::Kind::kClient, *draft.client_id,
      [&](const std::string& id) { return clients::Find(session, order.company, id); });
  if (!client) {
    errors.Add("client_id", FieldCode::kNotFound,
               "is no client of this company: send one of GET /v1/clients, or leave it out");
    return;
  }
  order.client_id = client->id;
  order.client = SnapshotOf(*client);
}

void ReferToTable(db::Session& session, const OrderDraft& draft, Order& order,
                  json::Errors& errors) {
  if (!draft.table_id) return;
  const auto table = FindByEitherId(
      session, order.company, aliases::Kind::kTable, *draft.table_id,
      [&](const std::string& id) { return company::FindTable(session, order.company, id); });
  if (!table) {
    errors.Add("table_id", FieldCode::kNotFound,
               "is no table of this company: send one of GET /v1/company/tables, or leave it out");
    return;
  }
  order.table_id = table->id;
  order.table = Snapshot(*table);
}

void ReferToAddress(db::Session& session, const OrderDraft& draft, Order& order,
                    json::Errors& errors) {
  if (!draft.address_id) return;
  const auto address = FindByEitherId(
      session, order.company, aliases::Kind::kAddress, *draft.address_id,
      [&](const std::string& id) { return clients::FindAddress(session, order.company, id); });
  if (!address) {
    errors.Add("address_id", FieldCode::kNotFound,
               "is no address of this company's clients: send one of GET /v1/clients/{id}");
    return;
  }
  if (draft.client_id && address->client_id != order.client_id.value_or(*draft.client_id)) {
    errors.Add("address_id", FieldCode::kNotFound,
               "is an address of another client: send one of the client that client_id names");
    return;
  }
  order.address_id = address->id;
  order.address = SnapshotOf(*address);
}

// The menu

// Links one line of a request to the menu.
class LineLinker {
 public:
  LineLinker(db::Session& session, db::CompanyId company, Combo& combo, size_t index,
             json::Errors& errors)
      : session_(session),
        company_(company),
        combo_(combo),
        path_("combos[" + std::to_string(index) + "]"),
        errors_(errors) {}

  // Whether the line's product counts its stock.
  bool Link() {
    const std::optional<menu::Item> item = FindItem();
    if (failed_) return false;
    if (item) {
      TakeOver(*item);
    } else if (combo_.product_name.empty()) {
      Fail("product_name", FieldCode::kRequired,
           "is required, because the sku is none of the menu's: send the name of the item");
    }
    for (size_t i = 0; i < combo_.modifiers.size(); ++i) LinkModifier(combo_.modifiers[i], i);
    return item && item->stock_enabled;
  }

 private:
  void Fail(const std::string& field, FieldCode code, std::string_view message) {
    errors_.Add(path_ + "." + field, code, std::string(message));
    failed_ = true;
  }

  // The variant decides; without one the product; without both the sku.
  std::optional<menu::Item> FindItem() {
    if (combo_.variant_id) return FindVariant();
    if (combo_.product_id && combo_.sku) return FindProductBySku();
    if (combo_.product_id) return FindProduct(*combo_.product_id);
    if (combo_.sku) return menu::FindSku(session_, company_, *combo_.sku);
    return std::nullopt;
  }

  std::optional<menu::Item> FindProduct(const std::string& product_id) {
    std::optional<menu::Item> item = FindByEitherId(
        session_, company_, aliases::Kind::kProduct, product_id,
        [&](const std::string& id) { return menu::FindProduct(session_, company_, id); });
    if (!item) {
      Fail("product_id", FieldCode::kNotFound,
           "is no product of the menu: send one of GET /v1/menu, or leave it out and send "
           "product_name");
    }
    return item;
  }

  // The sku selects one of the product's variants. If no variant has it, the line is linked to the
  // product and keeps the sku.
  std::optional<menu::Item> FindProductBySku() {
    std::optional<menu::Item> item = menu::FindSku(session_, company_, *combo_.sku);
    if (item && IsProductSent(item->product_id)) return item;
    keeps_sku_ = true;
    return FindProduct(*combo_.product_id);
  }

  std::optional<menu::Item> FindVariant() {
    std::optional<menu::Item> item = FindByEitherId(
        session_, company_, aliases::Kind::kVariant, *combo_.variant_id,
        [&](const std::string& id) { return menu::FindVariant(session_, company_, id); });
    const bool other_product = item && combo_.product_id && !IsProductSent(item->product_id);
    if (combo_.product_id && (!item || other_product)) FindProduct(*combo_.product_id);
    if (!item) {
      Fail("variant_id", FieldCode::kNotFound,
           "is no variant of the menu: send one of GET /v1/menu");
    } else if (other_product) {
      Fail("variant_id", FieldCode::kNotFound,
           "is a variant of another product: send one of the product that product_id names");
    }
    return item;
  }

  bool IsProductSent(const std::string& product_id) {
    return IsIdOf(session_, company_, aliases::Kind::kProduct, *combo_.product_id, product_id);
  }

  void TakeOver(const menu::Item& item) {
    combo_.product_id = item.product_id;
    combo_.variant_id = item.variant_id;
    combo_.product_category_name = item.category_name;
    combo_.kitchen_id = item.kitchen_id;
    if (combo_.product_name.empty()) combo_.product_name = item.product_name;
    if (!combo_.variant_name) combo_.variant_name = item.variant_name;
    if (item.variant_id && !keeps_sku_) combo_.sku = item.sku;
  }

  void LinkModifier(Modifier& modifier, size_t index) {
    if (!modifier.modifier_id) return;
    const std::string field = "modifiers[" + std::to_string(index) + "].modifier_id";
    if (!combo_.product_id) {
      Fail(field, FieldCode::kNotAllowed,
           "needs a line that links to the menu: leave it out and send the modifier's name");
      return;
    }
    const auto known =
        FindByEitherId(session_, company_, aliases::Kind::kModifier, *modifier.modifier_id,
                       [&](const std::string& id) {
                         return menu::FindModifier(session_, company_, *combo_.product_id, id);
                       });
    if (!known) {
      Fail(field, FieldCode::kNotFound,
           "is no modifier of this product: send one of GET /v1/menu, or leave it out and send the "
           "modifier's name");
      return;
    }
    modifier.modifier_id = known->id;
    modifier.group_name = menu::FindModifierGroup(session_, company_, known->id);
    if (modifier.name.empty()) modifier.name = known->name;
  }

  db::Session& session_;
  db::CompanyId company_;
  Combo& combo_;
  std::string path_;
  json::Errors& errors_;
  bool keeps_sku_ = false;
  bool failed_ = false;
};

// Payment methods

constexpr uint32_t ServiceTypeBit(ServiceType type) { return 1u << static_cast<unsigned>(type); }

std::string AcceptedCodes(db::Session& session, db::CompanyId company) {
  std::string codes;
  for (const std::string& code : company::PaymentMethodCodes(session, company)) {
    if (!codes.empty()) codes += ", ";
    codes += code;
  }
  return codes.empty() ? "none, because the company has no payment method" : codes;
}

Refusal UnknownMethod(db::Session& session, db::CompanyId company, std::string field) {
  return Invalid(
      std::move(field), FieldCode::kNotFound,
      "is no payment method of this company; its codes are " + AcceptedCodes(session, company));
}

company::PaymentMethod FindMethodOf(db::Session& session, db::CompanyId company,
                                    const PaymentDraft& draft) {
  if (!draft.method_id) {
    auto method = company::FindPaymentMethodByCode(session, company, *draft.method_code);
    if (!method) throw UnknownMethod(session, company, "payment_method_code");
    return *std::move(method);
  }
  auto method = FindByEitherId(
      session, company, aliases::Kind::kPaymentMethod, *draft.method_id,
      [&](const std::string& id) { return company::FindPaymentMethod(session, company, id); });
  if (!method) throw UnknownMethod(session, company, "payment_method_id");
  if (draft.method_code && *draft.method_code != method->code) {
    throw Invalid("payment_method_code", FieldCode::kNotAllowed,
                  "names another method than payment_method_id, whose code is " + method->code +
                      ": send one of the two");
  }
  return *std::move(method);
}

std::string EnabledFor(uint32_t service_types) {
  std::string names;
  for (size_t i = 0; i < kServiceTypeNames.size(); ++i) {
    if ((service_types & ServiceTypeBit(static_cast<ServiceType>(i))) == 0) continue;
    if (!names.empty()) names += ", ";
    names += kServiceTypeNames[i];
  }
  return names.empty() ? "no service type" : names + " orders only";
}

// Riders

// The user; nothing if there is an error, which is added.
std::optional<users::User> FindStaffRider(db::Session& session, db::CompanyId company,
                                          const RiderDraft& draft, json::Errors& errors) {
  const auto find = [&](const std::string& id) { return users::Find(session, company, id); };
  auto user = draft.user_uuid
                  ? FindByEitherId(session, company, aliases::Kind::kUser, *draft.user_uuid, find)
                  : std::nullopt;
  if (user && user->active && user->role == "rider") return user;
  errors.Add("user_id", FieldCode::kNotFound,
             "is no active user with the role rider: send an id of "
             "GET /v1/users?filter[role]=rider&filter[active]=true");
  return std::nullopt;
}

Rider FindPlatformRider(db::Session& session, const RiderDraft& draft, const Order& order) {
  json::Errors errors;
  const auto user = FindStaffRider(session, order.company, draft, errors);
  if (order.service_type != ServiceType::kDelivery) {
    errors.Add("service_type", FieldCode::kNotAllowed,
               "is " + std::string(Name(order.service_type)) +
                   ": the company's own riders take DELIVERY orders only");
  }
  if (order.status == Status::kPending) {
    errors.Add("status", FieldCode::kNotAllowed,
               "is PENDING: move the order to PREPARING before assigning one of the company's own "
               "riders");
  }
  errors.ThrowIfAny();
  Rider rider;
  rider.provider = draft.rider.provider;
  json::AppendQuoted(rider.user_id.emplace(), user->id);
  rider.name = user->name;
  rider.phone_number = user->phone_number;
  rider.country_calling_code = user->country_calling_code;
  return rider;
}

}  // namespace

std::string SnapshotOf(const clients::Client& client) {
  std::string text;
  json::Writer out(text);
  out.BeginObject();
  out.Key("id").Text(client.id.empty() ? std::nullopt : std::optional(client.id));
  out.Key("name").Text(client.name);
  out.Key("phone").Text(client.Phone());
  out.Key("country_calling_code").Text(client.country_calling_code);
  out.Key("phone_number").Text(client.phone_number);
  out.Key("email").Text(client.email);
  out.EndObject();
  return text;
}

std::string SnapshotOf(const clients::Address& address) {
  std::string text;
  json::Writer out(text);
  out.BeginObject();
  out.Key("id").Text(address.id.empty() ? std::nullopt : std::optional(address.id));
  out.Key("address").Text(address.address);
  out.Key("area").Text(address.area);
  out.Key("city").Text(address.city);
  out.Key("reference").Text(address.reference);
  out.Key("complement").Text(address.complement);
  out.Key("latitude").Stored(address.latitude.value_or("null"));
  out.Key("longitude").Stored(address.longitude.value_or("null"));
  out.EndObject();
  return text;
}

void ResolveClientAndTable(db::Session& session, const OrderDraft& draft, Order& order) {
  json::Errors errors;
  ReferToClient(session, draft, order, errors);
  ReferToTable(session, draft, order, errors);
  ReferToAddress(session, draft, order, errors);
  errors.ThrowIfAny();
}

std::vector<Combo*> LinkToMenu(db::Session& session, db::CompanyId company,
                               std::vector<Combo>& combos) {
  json::Errors errors;
  std::vector<Combo*> counted;
  for (size_t i = 0; i < combos.size(); ++i) {
    const bool is_counted = LineLinker(session, company, combos[i], i, errors).Link();
    if (is_counted) counted.push_back(&combos[i]);
  }
  errors.ThrowIfAny();
  return counted;
}

PaidWith FindMethod(db::Session& session, db::CompanyId company, const PaymentDraft& draft,
                    ServiceType service_type) {
  company::PaymentMethod method = FindMethodOf(session, company, draft);
  const std::string field = draft.method_id ? "payment_method_id" : "payment_method_code";
  if (!method.active) {
    throw Invalid(field, FieldCode::kNotAllowed,
                  "is a method that is not in use any more; the codes in use are " +
                      AcceptedCodes(session, company));
  }
  const bool is_enabled =
      draft.is_by_channel || (method.service_types & ServiceTypeBit(service_type)) != 0;
  if (!is_enabled) {
    throw Invalid(field, FieldCode::kNotAllowed,
                  "is a method for " + EnabledFor(method.service_types) + "; this order is " +
                      std::string(Name(service_type)));
  }
  return {std::move(method.id), std::move(method.code), std::move(method.description)};
}

Rider FindRider(db::Session& session, const RiderDraft& draft, const Order& order) {
  switch (draft.kind) {
    case RiderProvider::kApi:
      return draft.rider;
    case RiderProvider::kPlatform:
      return FindPlatformRider(session, draft, order);
  }
  return draft.rider;
}

}  // namespace comanda::orders
