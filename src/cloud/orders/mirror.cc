#include "cloud/orders/mirror.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/problem.h"
#include "cloud/orders/shown_members.h"
#include "json/reader.h"
#include "json/writer.h"

namespace comanda::cloud {
namespace {

void WriteRows(json::Writer& out, const Rows& rows) {
  out.BeginObject();
  for (const auto& [id, row] : rows) {
    out.KeyOf(id).BeginObject();
    out.Key("cancelled").Boolean(row.is_cancelled);
    out.Key("cloud_id").Text(row.cloud_id);
    out.EndObject();
  }
  out.EndObject();
}

[[noreturn]] void ThrowDamaged() {
  throw Fault(Fault::Kind::kDamaged, "the mirror of an order is none");
}

// The members of a mirror. Each must be there.
class Members {
 public:
  explicit Members(json::Value object) : object_(object) {}

  json::Value operator[](std::string_view name) const {
    if (object_.kind() != json::Kind::kObject) ThrowDamaged();
    const std::optional<json::Value> found = object_.Find(name);
    if (!found) ThrowDamaged();
    return *found;
  }
  std::optional<json::Value> NonNull(std::string_view name) const {
    const json::Value value = (*this)[name];
    return value.is_null() ? std::nullopt : std::optional(value);
  }
  std::string_view Text(std::string_view name) const {
    const json::Value value = (*this)[name];
    if (value.kind() != json::Kind::kText) ThrowDamaged();
    return value.text();
  }
  std::optional<std::string> OptionalText(std::string_view name) const {
    if (!NonNull(name)) return std::nullopt;
    return std::string(Text(name));
  }
  int64_t Integer(std::string_view name) const {
    const json::Value value = (*this)[name];
    if (value.kind() != json::Kind::kNumber) ThrowDamaged();
    const std::string_view text = value.number_text();
    int64_t number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size()) ThrowDamaged();
    return number;
  }
  bool Boolean(std::string_view name) const {
    const json::Value value = (*this)[name];
    if (value.kind() != json::Kind::kBoolean) ThrowDamaged();
    return value.boolean();
  }
  Rows RowsNamed(std::string_view name) const {
    const json::Value value = (*this)[name];
    if (value.kind() != json::Kind::kObject) ThrowDamaged();
    Rows rows;
    for (const auto& [id, row] : value.members()) {
      const Members members(row);
      rows.emplace(id, Row{.is_cancelled = members.Boolean("cancelled"),
                           .cloud_id = std::string(members.Text("cloud_id"))});
    }
    return rows;
  }
  // The index of the text in a list of names.
  template <size_t kSize>
  size_t OneOf(std::string_view name, const std::array<std::string_view, kSize>& names) const {
    const auto found = std::ranges::find(names, Text(name));
    if (found == names.end()) ThrowDamaged();
    return static_cast<size_t>(found - names.begin());
  }

 private:
  json::Value object_;
};

Fields FieldsOf(const Members& members) {
  Fields fields{.comment = members.OptionalText("comment"),
                .order_title = members.OptionalText("order_title"),
                .delivery_comment = members.OptionalText("delivery_comment"),
                .scheduled_delivery_date = std::nullopt,
                .delivery_price = members.Integer("delivery_price"),
                .packaging_price = members.Integer("packaging_price")};
  if (members.NonNull("scheduled_delivery_date")) {
    fields.scheduled_delivery_date = members.Integer("scheduled_delivery_date");
  }
  return fields;
}

// An empty text is null, so that a missing member differs from it.
void WriteState(json::Writer& out, json::Name name, const std::optional<std::string>& state) {
  if (!state) return;
  out.Key(name).Text(state->empty() ? std::nullopt : state);
}

std::optional<std::string> ReadState(const ShownMembers& members, std::string_view name) {
  if (!members.Any(name)) return std::nullopt;
  return members.Text(name).value_or("");
}

void Write(json::Writer& out, const LastShown& shown) {
  out.BeginObject();
  out.Key("version").Integer(shown.version);
  out.Key("updated_at").Integer(shown.updated_at);
  if (!shown.etag.empty()) out.Key("etag").Text(shown.etag);
  WriteState(out, "rider", shown.rider);
  WriteState(out, "delivery_status", shown.delivery_status);
  out.Key("delivery_status_reason").Text(shown.delivery_status_reason);
  out.Key("cancel_reason").Text(shown.cancel_reason);
  out.Key("is_dated").Boolean(shown.is_dated);
  out.EndObject();
}

// A member that is missing has not been shown.
LastShown ShownOf(json::Value value) {
  const ShownMembers members(value);
  return {.version = members.Integer("version").value_or(0),
          .updated_at = members.Integer("updated_at").value_or(0),
          .etag = members.Text("etag").value_or(""),
          .rider = ReadState(members, "rider"),
          .delivery_status = ReadState(members, "delivery_status"),
          .delivery_status_reason = members.Text("delivery_status_reason"),
          .cancel_reason = members.Text("cancel_reason"),
          .is_dated = members.Boolean("is_dated").value_or(false)};
}

}  // namespace

Fields FieldsOf(const orders::Order& order) {
  return {.comment = order.comment,
          .order_title = order.order_title,
          .delivery_comment = order.delivery_comment,
          .scheduled_delivery_date = order.scheduled_delivery_date,
          .delivery_price = order.delivery_price,
          .packaging_price = order.packaging_price};
}

void SetFields(orders::Order& order, const Fields& fields) {
  order.comment = fields.comment;
  order.order_title = fields.order_title;
  order.delivery_comment = fields.delivery_comment;
  order.scheduled_delivery_date = fields.scheduled_delivery_date;
  order.delivery_price = fields.delivery_price;
  order.packaging_price = fields.packaging_price;
}

std::string ToJson(const Mirror& mirror) {
  std::string text;
  json::Writer out(text);
  const Fields& fields = mirror.fields;
  out.BeginObject();
  out.Key("last_position").Integer(mirror.last_position);
  if (mirror.epoch != 0) out.Key("epoch").Integer(mirror.epoch);
  out.Key("is_placed").Boolean(mirror.is_placed);
  if (mirror.is_to_read) out.Key("is_to_read").Boolean(true);
  if (mirror.compared_for != 0) out.Key("compared_for").Integer(mirror.compared_for);
  out.Key("comment").Text(fields.comment);
  out.Key("order_title").Text(fields.order_title);
  out.Key("delivery_comment").Text(fields.delivery_comment);
  out.Key("scheduled_delivery_date").Integer(fields.scheduled_delivery_date);
  out.Key("delivery_price").Integer(fields.delivery_price);
  out.Key("packaging_price").Integer(fields.packaging_price);
  WriteRows(out.Key("combos"), mirror.combos);
  WriteRows(out.Key("payments"), mirror.payments);
  WriteRows(out.Key("discounts"), mirror.discounts);
  out.Key("status").Text(Name(mirror.status));
  out.Key("rider").Text(mirror.rider);
  out.Key("delivery_status");
  if (mirror.delivery_status) {
    out.Text(Name(*mirror.delivery_status));
  } else {
    out.Null();
  }
  out.Key("delivery_status_reason").Text(mirror.delivery_status_reason);
  out.Key("delivery_status_by_rider").Boolean(mirror.delivery_status_by_rider);
  Write(out.Key("shown"), mirror.shown);
  if (!mirror.given_up.empty()) {
    out.Key("given_up").BeginArray();
    for (const std::string& identity : mirror.given_up) out.Text(identity);
    out.EndArray();
  }
  out.EndObject();
  return text;
}

Mirror MirrorFromJson(std::string_view json) {
  const json::Document document = json::Document::ParseStored(json);
  const Members members(document.root());
  Mirror mirror;
  mirror.last_position = members.Integer("last_position");
  if (document.root().Find("epoch")) mirror.epoch = members.Integer("epoch");
  mirror.is_placed = members.Boolean("is_placed");
  mirror.is_to_read = document.root().Find("is_to_read").has_value();
  if (document.root().Find("compared_for")) mirror.compared_for = members.Integer("compared_for");
  mirror.fields = FieldsOf(members);
  mirror.combos = members.RowsNamed("combos");
  mirror.payments = members.RowsNamed("payments");
  mirror.discounts = members.RowsNamed("discounts");
  mirror.status = static_cast<orders::Status>(members.OneOf("status", orders::kStatusNames));
  mirror.rider = members.Text("rider");
  if (members.NonNull("delivery_status")) {
    mirror.delivery_status = static_cast<orders::DeliveryStatus>(
        members.OneOf("delivery_status", orders::kDeliveryStatusNames));
  }
  mirror.delivery_status_reason = members.OptionalText("delivery_status_reason");
  mirror.delivery_status_by_rider = members.Boolean("delivery_status_by_rider");
  mirror.shown = ShownOf(members["shown"]);
  if (const auto given_up = document.root().Find("given_up")) {
    for (const json::Value identity : given_up->items()) mirror.given_up.emplace(identity.text());
  }
  return mirror;
}

}  // namespace comanda::cloud
