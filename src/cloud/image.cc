#include "cloud/image.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/problem.h"
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
  throw Fault(Fault::Kind::kDamaged, "the image of an order of the cloud is none");
}

// The members of an image. Each must be there.
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

}  // namespace

std::string ToJson(const Image& image) {
  std::string text;
  json::Writer out(text);
  const Fields& fields = image.fields;
  out.BeginObject();
  out.Key("last_position").Integer(image.last_position);
  out.Key("is_placed").Boolean(image.is_placed);
  out.Key("comment").Text(fields.comment);
  out.Key("order_title").Text(fields.order_title);
  out.Key("delivery_comment").Text(fields.delivery_comment);
  out.Key("scheduled_delivery_date").Integer(fields.scheduled_delivery_date);
  out.Key("delivery_price").Integer(fields.delivery_price);
  out.Key("packaging_price").Integer(fields.packaging_price);
  WriteRows(out.Key("combos"), image.combos);
  WriteRows(out.Key("payments"), image.payments);
  WriteRows(out.Key("discounts"), image.discounts);
  out.Key("status").Text(Name(image.status));
  out.Key("rider").Text(image.rider);
  out.Key("delivery_status");
  if (image.delivery_status) {
    out.Text(Name(*image.delivery_status));
  } else {
    out.Null();
  }
  out.Key("delivery_status_reason").Text(image.delivery_status_reason);
  out.Key("delivery_status_by_rider").Boolean(image.delivery_status_by_rider);
  out.EndObject();
  return text;
}

Image ImageFromJson(std::string_view json) {
  const json::Document document = json::Document::ParseStored(json);
  const Members members(document.root());
  Image image;
  image.last_position = members.Integer("last_position");
  image.is_placed = members.Boolean("is_placed");
  image.fields = FieldsOf(members);
  image.combos = members.RowsNamed("combos");
  image.payments = members.RowsNamed("payments");
  image.discounts = members.RowsNamed("discounts");
  image.status = static_cast<orders::Status>(members.OneOf("status", orders::kStatusNames));
  image.rider = members.Text("rider");
  if (members.NonNull("delivery_status")) {
    image.delivery_status = static_cast<orders::DeliveryStatus>(
        members.OneOf("delivery_status", orders::kDeliveryStatusNames));
  }
  image.delivery_status_reason = members.OptionalText("delivery_status_reason");
  image.delivery_status_by_rider = members.Boolean("delivery_status_by_rider");
  return image;
}

}  // namespace comanda::cloud
