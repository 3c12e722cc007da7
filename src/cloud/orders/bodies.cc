#include "cloud/orders/bodies.h"

#include "base/id.h"
#include "json/reader.h"
#include "json/writer.h"

namespace comanda::cloud {
namespace {

using aliases::Kind;

// The name that the order gives to a rider whom a caller named, and no user of the company
// (contract section 8).
constexpr std::string_view kApiProvider = "api";

std::string Object(const std::function<void(json::Writer&)>& write_members) {
  std::string text;
  json::Writer out(text);
  out.BeginObject();
  write_members(out);
  out.EndObject();
  return text;
}

void WriteText(json::Writer& out, json::Name name, const std::optional<std::string>& text) {
  if (text) out.Key(name).Text(*text);
}

void WriteReference(json::Writer& out, json::Name name, Kind kind,
                    const std::optional<std::string>& box_id, const Refer& refer) {
  WriteText(out, name, refer(name.text(), kind, box_id));
}

void WriteModifier(json::Writer& out, const orders::Modifier& modifier, int decimals,
                   const Refer& refer) {
  out.BeginObject();
  WriteReference(out, "modifier_id", Kind::kModifier, modifier.modifier_id, refer);
  WriteText(out, "group_name", modifier.group_name);
  out.Key("name").Text(modifier.name);
  out.Key("quantity").Integer(modifier.unit_quantity);
  out.Key("price").Scaled(modifier.unit_price, decimals);
  out.Key("original_price").Scaled(modifier.original_unit_price, decimals);
  out.EndObject();
}

void WriteCombo(json::Writer& out, const orders::Combo& combo, int decimals, const Refer& refer) {
  const auto product_id = refer("product_id", Kind::kProduct, combo.product_id);
  const auto variant_id = refer("variant_id", Kind::kVariant, combo.variant_id);
  out.BeginObject();
  WriteText(out, "product_id", product_id);
  WriteText(out, "variant_id", variant_id);
  // The ids say which item of the menu it is. A sku beside them could only contradict them.
  if (!variant_id) WriteText(out, "sku", combo.sku);
  out.Key("product_name").Text(combo.product_name);
  WriteText(out, "variant_name", combo.variant_name);
  out.Key("quantity").Scaled(combo.quantity, orders::kQuantityDecimals);
  out.Key("variant_price").Scaled(combo.variant_unit_price, decimals);
  out.Key("variant_original_price").Scaled(combo.variant_original_unit_price, decimals);
  WriteText(out, "comment", combo.comment);
  if (!combo.modifiers.empty()) {
    out.Key("modifiers").BeginArray();
    for (const orders::Modifier& modifier : combo.modifiers) {
      WriteModifier(out, modifier, decimals, refer);
    }
    out.EndArray();
  }
  out.EndObject();
}

void WriteTextChange(json::Writer& out, json::Name name, const std::optional<std::string>& from,
                     const std::optional<std::string>& to) {
  if (from != to) out.Key(name).Text(to);
}

}  // namespace

std::string PlaceBody(const orders::Order& order, const Fields& fields, const Refer& refer) {
  return Object([&](json::Writer& out) {
    out.Key("service_type").Text(Name(order.service_type));
    WriteReference(out, "client_id", Kind::kClient, order.client_id, refer);
    WriteReference(out, "table_id", Kind::kTable, order.table_id, refer);
    WriteReference(out, "address_id", Kind::kAddress, order.address_id, refer);
    WriteText(out, "comment", fields.comment);
    WriteText(out, "order_title", fields.order_title);
    WriteText(out, "delivery_comment", fields.delivery_comment);
    if (fields.scheduled_delivery_date) {
      out.Key("scheduled_delivery_date").Instant(*fields.scheduled_delivery_date);
    }
    const auto money = [&](json::Name name, Minor amount) {
      if (amount != 0) out.Key(name).Scaled(amount, order.currency_decimals);
    };
    money("delivery_price", fields.delivery_price);
    money("packaging_price", fields.packaging_price);
  });
}

std::optional<std::string> FieldsBody(const Fields& from, const Fields& to,
                                      const std::optional<std::string>& comment, int decimals) {
  std::string body = Object([&](json::Writer& out) {
    WriteText(out, "comment", comment);
    WriteTextChange(out, "order_title", from.order_title, to.order_title);
    WriteTextChange(out, "delivery_comment", from.delivery_comment, to.delivery_comment);
    if (from.scheduled_delivery_date != to.scheduled_delivery_date) {
      out.Key("scheduled_delivery_date").Instant(to.scheduled_delivery_date);
    }
    if (from.delivery_price != to.delivery_price) {
      out.Key("delivery_price").Scaled(to.delivery_price, decimals);
    }
    if (from.packaging_price != to.packaging_price) {
      out.Key("packaging_price").Scaled(to.packaging_price, decimals);
    }
  });
  if (body == "{}") return std::nullopt;
  return body;
}

bool HasCommentAlone(std::string_view fields_body) {
  const json::Document document = json::Document::ParseStored(fields_body);
  const auto members = document.root().members();
  return members.size() == 1 && members.front().first == "comment";
}

std::string CombosBody(std::span<const orders::Combo* const> combos, int decimals,
                       const Refer& refer) {
  return Object([&](json::Writer& out) {
    out.Key("combos").BeginArray();
    for (size_t i = 0; i < combos.size(); ++i) {
      const std::string path = "combos[" + std::to_string(i) + "].";
      WriteCombo(out, *combos[i], decimals,
                 [&](std::string_view field, Kind kind, const std::optional<std::string>& box_id) {
                   return refer(path + std::string(field), kind, box_id);
                 });
    }
    out.EndArray();
  });
}

std::string DiscountBody(const orders::Discount& discount, int decimals) {
  const bool is_percentage = discount.type == orders::DiscountType::kPercentage;
  return Object([&](json::Writer& out) {
    out.Key("type").Text(Name(discount.type));
    out.Key("value").Scaled(discount.value, is_percentage ? orders::kPercentageDecimals : decimals);
    WriteText(out, "reason", discount.reason);
  });
}

std::string PaymentBody(const orders::Payment& payment, int decimals, const Refer& refer) {
  return Object([&](json::Writer& out) {
    const auto method = refer("payment_method_id", Kind::kPaymentMethod, payment.method.id);
    if (method) {
      out.Key("payment_method_id").Text(*method);
    } else {
      out.Key("payment_method_code").Text(payment.method.code);
    }
    out.Key("amount").Scaled(payment.amount, decimals);
    if (payment.tip_amount != 0) out.Key("tip_amount").Scaled(payment.tip_amount, decimals);
    if (payment.received_amount) {
      out.Key("received_amount").Scaled(*payment.received_amount, decimals);
    }
    WriteText(out, "reference", payment.reference);
    WriteText(out, "comment", payment.comment);
  });
}

std::string StatusBody(orders::Status status) {
  return Object([&](json::Writer& out) { out.Key("status").Text(Name(status)); });
}

std::optional<std::string> RiderBody(const orders::Rider& rider, std::string_view provider_there,
                                     const Refer& refer) {
  const bool is_user = rider.provider != kApiProvider;
  std::optional<std::string> user_id = rider.user_id;  // as JSON
  if (is_user) {
    if (!rider.user_id) return std::nullopt;
    const json::Document document = json::Document::ParseStored(*rider.user_id);
    const json::Value id = document.root();
    if (id.kind() != json::Kind::kText) return std::nullopt;
    const auto there = refer("rider", Kind::kUser, ParseId(id.text()));
    if (!there) return std::nullopt;
    json::AppendQuoted(user_id.emplace(), *there);
  }
  return Object([&](json::Writer& out) {
    out.Key("provider").Text(is_user ? provider_there : kApiProvider);
    if (user_id) out.Key("user_id").Raw(*user_id);
    // The cloud knows its own users.
    if (is_user) return;
    WriteText(out, "name", rider.name);
    WriteText(out, "phone_number", rider.phone_number);
    WriteText(out, "country_calling_code", rider.country_calling_code);
  });
}

std::string DeliveryBody(orders::DeliveryStatus status, const std::optional<std::string>& reason) {
  return Object([&](json::Writer& out) {
    out.Key("delivery_status").Text(Name(status));
    if (status == orders::DeliveryStatus::kNotDelivered) WriteText(out, "reason", reason);
  });
}

std::string CancelBody(const std::optional<std::string>& reason) {
  return Object([&](json::Writer& out) { out.Key("reason").Text(reason.value_or("-")); });
}

}  // namespace comanda::cloud
