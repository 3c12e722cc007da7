#include "cloud/orders/refusal.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/problem.h"
#include "cloud/orders/shown_members.h"
#include "json/writer.h"
#include "orders/lifecycle.h"
#include "orders/order.h"

namespace comanda::cloud {
namespace {

constexpr int kNotFound = 404;
constexpr int kPreconditionFailed = 412;
constexpr int kInvalid = 422;
constexpr std::string_view kKeyReused = "idempotency_key_reused";

// An order is as good without them: names, prices and texts stay.
constexpr std::array<std::string_view, 7> kDispensable = {"client_id",
                                                          "table_id",
                                                          "address_id",
                                                          "product_id",
                                                          "variant_id",
                                                          "modifier_id",
                                                          "scheduled_delivery_date"};

// The last part of "combos[0].modifiers[1].modifier_id", or of a problem's type.
std::string_view LastPart(std::string_view text, char separator) {
  const size_t at = text.rfind(separator);
  return at == text.npos ? text : text.substr(at + 1);
}

std::optional<json::Document> Parsed(std::string_view text) {
  try {
    return json::Document::Parse(text);
  } catch (const comanda::Refusal&) {  // no problem document: it says nothing
    return std::nullopt;
  }
}

std::string_view TextOf(json::Value object, std::string_view name) {
  if (object.kind() != json::Kind::kObject) return "";
  const std::optional<json::Value> value = object.Find(name);
  return value && value->kind() == json::Kind::kText ? value->text() : "";
}

std::string_view CodeOf(json::Value problem) {
  const std::string_view code = TextOf(problem, "code");
  return code.empty() ? LastPart(TextOf(problem, "type"), '/') : code;
}

std::vector<std::string> FieldsOf(json::Value problem) {
  std::vector<std::string> fields;
  if (problem.kind() != json::Kind::kObject) return fields;
  const std::optional<json::Value> errors = problem.Find("errors");
  if (!errors || errors->kind() != json::Kind::kArray) return fields;
  for (const json::Value error : errors->items()) fields.emplace_back(TextOf(error, "field"));
  return fields;
}

bool IsDispensable(std::string_view field) {
  return std::ranges::find(kDispensable, LastPart(field, '.')) != kDispensable.end();
}

// Copies a value without the members of those paths.
class Copier {
 public:
  Copier(json::Writer& out, const std::vector<std::string>& left_out,
         const std::map<std::string, std::string>& skus)
      : out_(out), left_out_(left_out), skus_(skus) {}

  void Copy(json::Value value, const std::string& path) {
    switch (value.kind()) {
      case json::Kind::kNull:
        out_.Null();
        return;
      case json::Kind::kBoolean:
        out_.Boolean(value.boolean());
        return;
      case json::Kind::kNumber:
        out_.Raw(value.number_text());
        return;
      case json::Kind::kText:
        out_.Text(value.text());
        return;
      case json::Kind::kArray:
        CopyItems(value, path);
        return;
      case json::Kind::kObject:
        CopyMembers(value, path);
        return;
    }
  }

 private:
  void CopyItems(json::Value array, const std::string& path) {
    out_.BeginArray();
    size_t index = 0;
    for (const json::Value item : array.items()) {
      Copy(item, path + "[" + std::to_string(index++) + "]");
    }
    out_.EndArray();
  }

  void CopyMembers(json::Value object, const std::string& path) {
    out_.BeginObject();
    for (const auto& [name, value] : object.members()) {
      const std::string member = path.empty() ? std::string(name) : path + "." + std::string(name);
      if (std::ranges::find(left_out_, member) != left_out_.end()) {
        const auto sku = skus_.find(member);
        if (sku != skus_.end()) out_.Key("sku").Text(sku->second);
        continue;
      }
      out_.KeyOf(name);
      Copy(value, member);
    }
    out_.EndObject();
  }

  json::Writer& out_;
  const std::vector<std::string>& left_out_;
  const std::map<std::string, std::string>& skus_;
};

}  // namespace

Judgement JudgeRefusal(StepKind kind, int status, std::string_view problem) {
  // The cloud decides about its menu: its version comes back with the next reading.
  if (kind == StepKind::kMenu || kind == StepKind::kMenuClear) return {Remedy::kDrop, {}};
  const std::optional<json::Document> document = Parsed(problem);
  if (status == kInvalid && document && CodeOf(document->root()) == kKeyReused) {
    return {kind == StepKind::kPlace ? Remedy::kFindOrder : Remedy::kReadOrder, {}};
  }
  if (status == kNotFound && kind != StepKind::kPlace) {
    return {EndsARow(kind) ? Remedy::kReadOrder : Remedy::kGone, {}};
  }
  if (status == kPreconditionFailed) return {Remedy::kReadAgain, {}};
  // Money does not wait for a rider.
  if (kind == StepKind::kRider || kind == StepKind::kNoRider) return {Remedy::kDrop, {}};
  if (status == kInvalid && document) {
    std::vector<std::string> fields = FieldsOf(document->root());
    if (!fields.empty() && std::ranges::all_of(fields, IsDispensable)) {
      return {Remedy::kLeaveOut, std::move(fields)};
    }
  }
  return {Remedy::kPark, {}};
}

bool IsOvertaken(const Step& step, json::Value record) {
  if (step.kind != StepKind::kDelivery) return false;
  const auto status = ShownMembers(record).OneOf("status", orders::kStatusNames);
  if (status && orders::IsClosed(static_cast<orders::Status>(*status))) return true;
  const auto delivery_of = [](json::Value value) -> std::optional<orders::DeliveryStatus> {
    const auto found = ShownMembers(value).OneOf("delivery_status", orders::kDeliveryStatusNames);
    if (!found) return std::nullopt;
    return static_cast<orders::DeliveryStatus>(*found);
  };
  const json::Document body = json::Document::ParseStored(step.body);
  const auto wanted = delivery_of(body.root());
  return wanted && orders::FindMove(delivery_of(record), *wanted) == orders::DeliveryMove::kIllegal;
}

std::string Without(std::string_view body, const std::vector<std::string>& fields,
                    const std::map<std::string, std::string>& skus) {
  const json::Document document = json::Document::ParseStored(body);
  std::string text;
  json::Writer out(text);
  Copier(out, fields, skus).Copy(document.root(), "");
  return text;
}

}  // namespace comanda::cloud
