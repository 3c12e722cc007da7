#include "cloud/restaurant_document.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/concat.h"
#include "base/decimal.h"
#include "base/id.h"
#include "base/money.h"
#include "base/text.h"
#include "company/hours.h"
#include "crypto/hash.h"
#include "menu/json.h"

namespace comanda::cloud {
namespace {

using json::Kind;
using json::Value;

std::optional<Value> Member(Value record, std::string_view name, Kind kind) {
  if (record.kind() != Kind::kObject) return std::nullopt;
  const std::optional<Value> value = record.Find(name);
  if (!value || value->kind() != kind) return std::nullopt;
  return value;
}

bool IsNull(Value record, std::string_view name) {
  return Member(record, name, Kind::kNull).has_value();
}

std::optional<std::string> ScaledText(std::optional<int64_t> units, int decimals) {
  if (!units) return std::nullopt;
  std::string text;
  AppendScaled(text, *units, decimals);
  return text;
}

// Writes the members of one row: the record's, else those of the row here.
class Row {
 public:
  Row(json::Writer& out, Value record) : out_(out), record_(record) {}

  // Null and an empty text clear the field.
  void Text(json::Name name, const std::optional<std::string>& box) {
    if (const auto value = Member(record_, name.text(), Kind::kText)) {
      if (!Trimmed(value->text()).empty()) out_.Key(name).Text(value->text());
    } else if (box && !IsNull(record_, name.text())) {
      out_.Key(name).Text(*box);
    }
  }
  // A field that cannot be cleared.
  void Kept(json::Name name, const std::optional<std::string>& box) {
    const std::string text = TextMember(record_, name.text());
    if (!text.empty()) {
      out_.Key(name).Text(text);
    } else if (box) {
      out_.Key(name).Text(*box);
    }
  }
  void Boolean(json::Name name, std::optional<bool> box) {
    const auto value = Member(record_, name.text(), Kind::kBoolean);
    if (value) box = value->boolean();
    if (box) out_.Key(name).Boolean(*box);
  }
  void Number(json::Name name, const std::optional<std::string>& box) {
    if (const auto value = Member(record_, name.text(), Kind::kNumber)) {
      out_.Key(name).Raw(value->number_text());
    } else if (box && !IsNull(record_, name.text())) {
      out_.Key(name).Raw(*box);
    }
  }
  void Integer(json::Name name, std::optional<int64_t> box) { Number(name, ScaledText(box, 0)); }

 private:
  json::Writer& out_;
  const Value record_;
};

// A pair of members that an import accepts together alone: the record's where it has both, none
// where it clears them, else those of the row here.
enum class Both : uint8_t { kRecord, kNone, kBox };
Both BothOf(Value record, std::string_view one, std::string_view other) {
  const auto has = [&](std::string_view name) {
    return Member(record, name, Kind::kNumber) || !TextMember(record, name).empty();
  };
  if (has(one) && has(other)) return Both::kRecord;
  return IsNull(record, one) && IsNull(record, other) ? Both::kNone : Both::kBox;
}

void WritePhone(json::Writer& out, Value record, const std::optional<std::string>& code,
                const std::optional<std::string>& number) {
  switch (BothOf(record, "country_calling_code", "phone_number")) {
    case Both::kNone:
      return;
    case Both::kRecord:
      out.Key("country_calling_code").Text(TextMember(record, "country_calling_code"));
      out.Key("phone_number").Text(TextMember(record, "phone_number"));
      return;
    case Both::kBox:
      if (!code || !number) return;
      out.Key("country_calling_code").Text(*code);
      out.Key("phone_number").Text(*number);
      return;
  }
}

void WriteCoordinates(json::Writer& out, Value record, const std::optional<std::string>& latitude,
                      const std::optional<std::string>& longitude) {
  const auto number = [&](json::Name name) {
    if (const auto value = Member(record, name.text(), Kind::kNumber)) {
      out.Key(name).Raw(value->number_text());
    } else {
      out.Key(name).Stored(TextMember(record, name.text()));
    }
  };
  switch (BothOf(record, "latitude", "longitude")) {
    case Both::kNone:
      return;
    case Both::kRecord:
      number("latitude");
      number("longitude");
      return;
    case Both::kBox:
      if (!latitude || !longitude) return;
      out.Key("latitude").Stored(*latitude);
      out.Key("longitude").Stored(*longitude);
      return;
  }
}

Value MemberOr(Value record, std::string_view name, Value otherwise) {
  return Member(record, name, Kind::kObject).value_or(otherwise);
}

// "12:30" of "12:30:00" too.
std::string TimeOfDay(Value block, std::string_view name) {
  constexpr size_t kLength = 5;
  return TextMember(block, name).substr(0, kLength);
}

// Takes over the members that are known, since an import refuses others.
void WriteHours(json::Writer& out, Value week) {
  out.BeginObject();
  for (const std::string_view weekday : company::kWeekdays) {
    const auto day = Member(week, weekday, Kind::kObject);
    if (!day) continue;
    out.KeyOf(weekday).BeginObject();
    Row(out, *day).Boolean("is_active", std::nullopt);
    out.Key("hours").BeginArray();
    for (const Value block : RowsOf(*day, "hours")) {
      out.BeginObject();
      out.Key("open").Text(TimeOfDay(block, "open"));
      out.Key("close").Text(TimeOfDay(block, "close"));
      out.EndObject();
    }
    out.EndArray().EndObject();
  }
  out.EndObject();
}

void WriteLocation(json::Writer& out, Value record, const company::Company& box) {
  out.BeginObject();
  Row row(out, record);
  row.Text("address", box.address);
  row.Text("area", box.area);
  row.Text("city", box.city);
  row.Text("state", box.state);
  row.Text("postal_code", box.postal_code);
  WriteCoordinates(out, record, box.latitude, box.longitude);
  out.EndObject();
}

// The fields of the company that the cloud decides about. A field of `left_out` is this box's.
void WriteProfile(json::Writer& out, const company::Company& box, Value record, Value nothing,
                  const std::set<std::string>& left_out) {
  const auto of = [&](std::string_view field) {
    return Row(out, left_out.contains(std::string(field)) ? nothing : record);
  };
  const auto of_cloud = [&](std::string_view field) {
    return !left_out.contains(std::string(field)) && Member(record, field, Kind::kObject);
  };
  of("name").Kept("name", box.name);
  of("description").Text("description", box.description);
  of("logo").Text("logo", box.logo);
  of("public_url").Text("public_url", box.public_url);
  of("phone").Text("phone", box.phone);
  of("language").Text("language", box.language);
  out.Key("location");
  WriteLocation(out, of_cloud("location") ? MemberOr(record, "location", nothing) : nothing, box);
  out.Key("business_hours");
  if (of_cloud("business_hours")) {
    WriteHours(out, MemberOr(record, "business_hours", nothing));
  } else {
    out.Stored(box.business_hours);
  }
}

std::string CurrencyOf(Value record) {
  const std::string currency = TextMember(record, "currency");
  return currency.empty() ? "USD" : currency;
}

// A name that a person can recognise the record by; empty where there is none.
std::string PersonName(Value record) {
  for (const std::string_view name : {"name", "full_name"}) {
    if (std::string text = TextMember(record, name); !text.empty()) return text;
  }
  const std::string both = TextMember(record, "first_name") + " " + TextMember(record, "last_name");
  if (const std::string_view trimmed = Trimmed(both); !trimmed.empty()) return std::string(trimmed);
  std::string email = TextMember(record, "email");
  return !email.empty() ? email : TextMember(record, "phone_number");
}

void WritePerson(json::Writer& out, Value record, std::string_view id, const std::string& name,
                 const std::optional<std::string>& email) {
  out.Key("id").Text(id);
  if (!name.empty()) out.Key("name").Text(name);
  Row(out, record).Text("email", email);
}

void WriteModifier(json::Writer& out, Value record, std::string_view id, int64_t position,
                   const menu::Modifier* box, int decimals) {
  out.BeginObject().Key("id").Text(id);
  Row row(out, record);
  row.Kept("name", box ? std::optional(box->name) : std::nullopt);
  row.Text("sku", box ? box->sku : std::nullopt);
  row.Number("price", box ? ScaledText(box->price, decimals) : std::nullopt);
  row.Number("original_price", box ? ScaledText(box->original_price, decimals) : std::nullopt);
  row.Integer("max_limit", box ? box->max_limit : std::nullopt);
  row.Boolean("visible", box ? std::optional(box->visible) : std::nullopt);
  row.Integer("position", box ? box->position : position);
  out.EndObject();
}

template <typename Rows>
auto FindRow(const Rows& rows, std::string_view id) -> decltype(&rows.front()) {
  const auto found = std::ranges::find_if(rows, [&](const auto& row) { return row.id == id; });
  return found == rows.end() ? nullptr : &*found;
}

// Hidden with everything else as it is here.
void WriteGoneModifier(json::Writer& out, const menu::Modifier& modifier, Value nothing,
                       int decimals) {
  menu::Modifier hidden = modifier;
  hidden.visible = false;
  WriteModifier(out, nothing, modifier.id, modifier.position, &hidden, decimals);
}

void WriteGroupFields(json::Writer& out, Value record, std::string_view id, int64_t position,
                      const menu::ModifierCategory* box) {
  out.Key("id").Text(id);
  Row row(out, record);
  row.Kept("name", box ? std::optional(box->name) : std::nullopt);
  const std::string type = TextMember(record, "type");
  if (type == "one" || type == "many") {
    out.Key("type").Text(type);
  } else if (box) {
    out.Key("type").Text(box->type);
  }
  row.Boolean("required", box ? std::optional(box->required) : std::nullopt);
  row.Integer("min_modifiers", box ? std::optional(box->min_modifiers) : std::nullopt);
  row.Integer("max_modifiers", box ? box->max_modifiers : std::nullopt);
  row.Boolean("is_active", box ? std::optional(box->is_active) : std::nullopt);
  row.Integer("position", box ? box->position : position);
}

class ProductWriter {
 public:
  ProductWriter(json::Writer& out, const ProductRows& rows, const ProductContext& context)
      : out_(out), rows_(rows), context_(context), box_(context.box), empty_(Empty()) {}

  void Write() {
    out_.BeginObject().Key("id").Text(rows_.id);
    WriteFields();
    WriteVariants();
    WriteGroups();
    out_.EndObject();
  }

 private:
  static json::Document Empty() { return json::Document::Parse("{}"); }

  void WriteFields() {
    const Value record = rows_.record;
    Row row(out_, record);
    row.Kept("name", box_ ? std::optional(box_->name) : std::nullopt);
    row.Kept("slug", box_ ? std::optional(box_->slug) : std::nullopt);
    row.Text("description", box_ ? box_->description : std::nullopt);
    row.Text("image_url", box_ ? box_->image_url : std::nullopt);
    WriteImages();
    row.Boolean("visible", box_ ? std::optional(box_->visible) : std::nullopt);
    row.Boolean("stock_enabled", box_ ? std::optional(box_->stock_enabled) : std::nullopt);
    row.Text("messages_for_customers", box_ ? box_->messages_for_customers : std::nullopt);
    const auto station = ParseId(TextMember(record, "kitchen_id"));
    const bool is_known = station && (!context_.stations || context_.stations->contains(*station));
    if (is_known) {
      out_.Key("kitchen_id").Text(*station);
    } else if (box_ && box_->kitchen_id) {
      out_.Key("kitchen_id").Text(*box_->kitchen_id);
    }
    row.Integer("position", box_ ? box_->position : context_.position);
  }

  void WriteImages() {
    if (const auto images = Member(rows_.record, "images", Kind::kArray)) {
      out_.Key("images").BeginArray();
      for (const Value image : images->items()) {
        if (image.kind() == Kind::kText && !image.text().empty()) out_.Text(image.text());
      }
      out_.EndArray();
    } else if (box_) {
      out_.Key("images").Stored(box_->images);
    }
  }

  void WriteVariants() {
    out_.Key("variants").BeginArray();
    int64_t position = 0;
    for (const auto& [record, id] : rows_.variants) {
      WriteVariant(record, id, position++, box_ ? FindRow(box_->variants, id) : nullptr);
    }
    out_.EndArray();
  }

  void WriteVariant(Value record, std::string_view id, int64_t position, const menu::Variant* box) {
    const int decimals = context_.decimals;
    const auto money = [&](std::optional<Minor> amount) { return ScaledText(amount, decimals); };
    const auto count = [&](std::optional<int64_t> units) {
      return ScaledText(units, menu::kStockDecimals);
    };
    const bool is_product = record.offset() == rows_.record.offset();
    out_.BeginObject().Key("id").Text(id);
    Row row(out_, record);
    if (is_product) {
      out_.Key("name").Text(box ? box->name : std::string(menu::kOnlyVariant));
    } else {
      row.Kept("name", box ? std::optional(box->name) : std::nullopt);
    }
    row.Text("sku", box ? box->sku : std::nullopt);
    row.Number("price", box ? money(box->price) : std::nullopt);
    row.Number("original_price", box ? money(box->original_price) : std::nullopt);
    row.Number("packaging_price", box ? money(box->packaging_price) : std::nullopt);
    row.Number("cost", box ? money(box->cost) : std::nullopt);
    row.Number("stock_threshold", box ? count(box->stock_threshold) : std::nullopt);
    Row(out_, is_product ? empty_.root() : record)
        .Integer("position", box ? box->position : position);
    out_.EndObject();
  }

  void WriteGroups() {
    out_.Key("modifier_categories").BeginArray();
    int64_t position = 0;
    for (const ModifierCategoryRow& group : rows_.modifier_categories) {
      const menu::ModifierCategory* box =
          box_ ? FindRow(box_->modifier_categories, group.id) : nullptr;
      out_.BeginObject();
      WriteGroupFields(out_, group.record, group.id, position++, box);
      out_.Key("modifiers").BeginArray();
      int64_t place = 0;
      for (const auto& [record, id] : group.modifiers) {
        WriteModifier(out_, record, id, place++, box ? FindRow(box->modifiers, id) : nullptr,
                      context_.decimals);
      }
      if (box) WriteGoneModifiers(*box);
      out_.EndArray().EndObject();
    }
    if (box_) WriteGoneGroups();
    out_.EndArray();
  }

  void WriteGoneModifiers(const menu::ModifierCategory& group) {
    for (const menu::Modifier& modifier : group.modifiers) {
      if (!rows_.gone.contains(modifier.id)) continue;
      WriteGoneModifier(out_, modifier, empty_.root(), context_.decimals);
    }
  }

  void WriteGoneGroups() {
    for (const menu::ModifierCategory& group : box_->modifier_categories) {
      if (!rows_.gone.contains(group.id)) continue;
      menu::ModifierCategory hidden = group;
      hidden.is_active = false;
      out_.BeginObject();
      WriteGroupFields(out_, empty_.root(), group.id, group.position, &hidden);
      out_.EndObject();
    }
  }

  json::Writer& out_;
  const ProductRows& rows_;
  const ProductContext& context_;
  const menu::Product* const box_;
  const json::Document empty_;
};

KeyedRow Keyed(Value record, std::vector<std::vector<std::string>> keys) {
  std::string id = IdOf(record);
  return {.id = ParseId(id).value_or(id), .keys = std::move(keys)};
}

}  // namespace

std::string TextMember(Value record, std::string_view name) {
  const auto value = Member(record, name, Kind::kText);
  return value ? std::string(Trimmed(value->text())) : "";
}

std::string IdOf(Value record) {
  if (record.kind() != Kind::kObject) return "";
  const std::optional<Value> id = record.Find("id");
  if (id && id->kind() == Kind::kNumber) return std::string(id->number_text());
  return TextMember(record, "id");
}

std::vector<Value> RowsOf(Value record, std::string_view list) {
  const auto array = Member(record, list, Kind::kArray);
  if (!array) return {};
  std::vector<Value> rows = array->items();
  std::erase_if(rows, [](Value row) { return row.kind() != Kind::kObject; });
  return rows;
}

KeyedRow KeysOfPaymentMethod(Value record) {
  return Keyed(record, {CodeKey(TextMember(record, "code"))});
}

KeyedRow KeysOfTable(Value record) { return Keyed(record, {NameKey(TextMember(record, "name"))}); }

KeyedRow KeysOfPerson(Value record) {
  return Keyed(record, {EmailKey(TextMember(record, "email")),
                        PhoneKey(TextMember(record, "country_calling_code"),
                                 TextMember(record, "phone_number")),
                        NameKey(PersonName(record))});
}

KeyedRow KeysOfAddress(Value record) {
  return Keyed(record, {NameKey(TextMember(record, "address"))});
}

KeyedRow KeysOfModifier(Value record) { return KeysOfTable(record); }

KeyedRow KeysOfVariant(Value record) {
  return Keyed(record, {SkuKey(TextMember(record, "sku")), NameKey(TextMember(record, "name"))});
}

KeyedRow KeysOfProduct(Value record, Value category) {
  std::vector<std::string> skus;
  for (const auto& [variant, id] : RowsUnderCloudIds(record).variants) {
    std::ranges::move(SkuKey(TextMember(variant, "sku")), std::back_inserter(skus));
  }
  const std::string name = TextMember(record, "name");
  return Keyed(record,
               {std::move(skus), NameKey(TextMember(category, "name"), name), NameKey(name)});
}

std::string Document(const company::Company& company, const Value* record,
                     const std::set<std::string>& left_out,
                     const std::function<void(json::Writer&)>& write_lists) {
  const json::Document empty = json::Document::Parse("{}");
  std::string text;
  json::Writer out(text);
  out.BeginObject().Key("companies").BeginArray().BeginObject();
  out.Key("id").Text(company.id);
  out.Key("country_code").Text(company.country_code);
  out.Key("timezone").Text(company.timezone);
  out.Key("currency").Text(company.currency);
  const std::string day_start = record ? TimeOfDay(*record, "day_starts_at") : "";
  const bool is_told = company::ParseTimeOfDay(day_start) && !left_out.contains("day_starts_at");
  out.Key("day_starts_at")
      .Text(is_told ? day_start : company::FormatTimeOfDay(company.day_starts_at));
  WriteProfile(out, company, record ? *record : empty.root(), empty.root(), left_out);
  write_lists(out);
  out.EndObject().EndArray().EndObject();
  return text;
}

std::optional<std::string> NewCompanyDocument(Value record, std::string_view country_code,
                                              std::string_view timezone) {
  company::Company company;
  company.id = ParseId(IdOf(record)).value_or("");
  const std::string location_country = [&] {
    const auto location = Member(record, "location", Kind::kObject);
    return location ? TextMember(*location, "country_code") : "";
  }();
  company.country_code = country_code;
  for (const std::string& told : {TextMember(record, "country_code"), location_country}) {
    if (company.country_code.empty()) company.country_code = told;
  }
  company.timezone = timezone.empty() ? TextMember(record, "timezone") : std::string(timezone);
  company.name = TextMember(record, "name");
  company.currency = CurrencyOf(record);
  company.business_hours = "{}";
  if (company.country_code.empty() || company.timezone.empty() || company.name.empty()) {
    return std::nullopt;
  }
  if (company.id.empty()) {
    // As an import file without an id, which derives it from country and name.
    std::string text = Document(company, &record, {}, [](json::Writer&) {});
    constexpr std::string_view kNoId = R"("id":"",)";
    return text.erase(text.find(kNoId), kNoId.size());
  }
  return Document(company, &record, {}, [](json::Writer&) {});
}

void WritePaymentMethod(json::Writer& out, Value record, std::string_view id,
                        const company::PaymentMethod* box) {
  out.BeginObject().Key("id").Text(id);
  Row row(out, record);
  row.Kept("code", box ? std::optional(box->code) : std::nullopt);
  row.Kept("description", box ? std::optional(box->description) : std::nullopt);
  const auto listed = Member(record, "service_types", Kind::kArray);
  if (listed || box) {
    out.Key("service_types").BeginArray();
    for (size_t i = 0; i < company::kServiceTypes.size(); ++i) {
      const std::string_view type = company::kServiceTypes[i];
      const bool accepts = !listed ? (box->service_types & (1u << i)) != 0
                                   : std::ranges::any_of(listed->items(), [&](Value item) {
                                       return item.kind() == Kind::kText && item.text() == type;
                                     });
      if (accepts) out.Text(type);
    }
    out.EndArray();
  }
  // The list has active ones alone.
  out.Key("active").Boolean(true).EndObject();
}

void WriteTable(json::Writer& out, Value record, std::string_view id, const company::Table* box) {
  out.BeginObject().Key("id").Text(id);
  Row row(out, record);
  row.Kept("name", box ? std::optional(box->name) : std::nullopt);
  row.Text("area", box ? box->area : std::nullopt);
  row.Boolean("active", true);
  out.EndObject();
}

void WriteUser(json::Writer& out, Value record, std::string_view id, const users::User* box) {
  out.BeginObject();
  std::string name = PersonName(record);
  if (name.empty())
    name = box ? box->name : Concat({TextMember(record, "role"), " ", IdOf(record)});
  WritePerson(out, record, id, name, box ? box->email : std::nullopt);
  WritePhone(out, record, box ? box->country_calling_code : std::nullopt,
             box ? box->phone_number : std::nullopt);
  Row row(out, record);
  row.Kept("role", box ? std::optional(box->role) : std::nullopt);
  row.Boolean("active", box ? std::optional(box->active) : std::nullopt);
  out.EndObject();
}

void WriteClient(json::Writer& out, Value record, std::string_view id, const clients::Client* box,
                 std::span<const AddressRow> addresses) {
  out.BeginObject();
  std::string name = PersonName(record);
  if (name.empty() && box) name = box->name;
  WritePerson(out, record, id, name, box ? box->email : std::nullopt);
  WritePhone(out, record, box ? box->country_calling_code : std::nullopt,
             box ? box->phone_number : std::nullopt);
  Row row(out, record);
  row.Text("document_type", box ? box->document_type : std::nullopt);
  row.Text("document_number", box ? box->document_number : std::nullopt);
  row.Text("notes", box ? box->notes : std::nullopt);
  out.Key("addresses").BeginArray();
  for (const AddressRow& address : addresses) {
    const clients::Address* old = address.box ? &*address.box : nullptr;
    out.BeginObject().Key("id").Text(address.id);
    Row fields(out, address.record);
    fields.Kept("address", old ? std::optional(old->address) : std::nullopt);
    fields.Text("area", old ? old->area : std::nullopt);
    fields.Text("city", old ? old->city : std::nullopt);
    fields.Text("reference", old ? old->reference : std::nullopt);
    fields.Text("complement", old ? old->complement : std::nullopt);
    WriteCoordinates(out, address.record, old ? old->latitude : std::nullopt,
                     old ? old->longitude : std::nullopt);
    out.EndObject();
  }
  out.EndArray().EndObject();
}

void WriteInactive(json::Writer& out, const company::PaymentMethod& box) {
  out.BeginObject();
  out.Key("id").Text(box.id);
  out.Key("code").Text(box.code);
  out.Key("description").Text(box.description);
  out.Key("service_types").BeginArray();
  for (size_t i = 0; i < company::kServiceTypes.size(); ++i) {
    if (box.service_types & (1u << i)) out.Text(company::kServiceTypes[i]);
  }
  out.EndArray();
  out.Key("active").Boolean(false).EndObject();
}

void WriteInactive(json::Writer& out, const company::Table& box) {
  out.BeginObject();
  out.Key("id").Text(box.id);
  out.Key("name").Text(box.name);
  if (box.area) out.Key("area").Text(*box.area);
  out.Key("active").Boolean(false).EndObject();
}

void WriteCategory(json::Writer& out, Value record, std::string_view id, int64_t position,
                   const menu::Category* box) {
  out.Key("id").Text(id);
  Row row(out, record);
  row.Kept("name", box ? std::optional(box->name) : std::nullopt);
  row.Kept("slug", box ? std::optional(box->slug) : std::nullopt);
  row.Text("description", box ? box->description : std::nullopt);
  row.Text("image_url", box ? box->image_url : std::nullopt);
  row.Boolean("visible", box ? std::optional(box->visible) : std::nullopt);
  row.Integer("position", box ? box->position : position);
}

ProductRows RowsUnderCloudIds(Value record) {
  ProductRows rows{.record = record, .id = IdOf(record)};
  for (const Value variant : RowsOf(record, "variants")) {
    rows.variants.emplace_back(variant, IdOf(variant));
  }
  if (rows.variants.empty() && Member(record, "price", Kind::kNumber)) {
    rows.variants.emplace_back(record, "");
  }
  for (const Value group : RowsOf(record, "modifier_categories")) {
    ModifierCategoryRow& row = rows.modifier_categories.emplace_back(
        ModifierCategoryRow{.record = group, .id = IdOf(group), .modifiers = {}});
    for (const Value modifier : RowsOf(group, "modifiers")) {
      row.modifiers.emplace_back(modifier, IdOf(modifier));
    }
  }
  return rows;
}

void WriteProduct(json::Writer& out, const ProductRows& rows, const ProductContext& context) {
  ProductWriter(out, rows, context).Write();
}

std::string Fingerprint(Value product) {
  std::string text;
  json::Writer out(text);
  WriteProduct(out, RowsUnderCloudIds(product), {});
  return crypto::Sha256Hex(text);
}

}  // namespace comanda::cloud
