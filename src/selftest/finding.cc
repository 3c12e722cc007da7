#include "selftest/finding.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/decimal.h"

namespace comanda::selftest {
namespace {

constexpr std::array<int, 8> kSpecifiedStatuses = {200, 201, 400, 401, 403, 404, 422, 429};
constexpr std::array<std::string_view, 4> kSpecifiedHeaders = {
    "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Retry-After"};
// Of all resources, pagination and problems; without names that it gives only some of those that
// have them here.
constexpr std::array<std::string_view, 57> kSpecifiedFields = {"data",
                                                               "pagination",
                                                               "current_page",
                                                               "per_page",
                                                               "total",
                                                               "has_more",
                                                               "type",
                                                               "title",
                                                               "status",
                                                               "detail",
                                                               "instance",
                                                               "errors",
                                                               "field",
                                                               "id",
                                                               "service_type",
                                                               "client_id",
                                                               "table_id",
                                                               "address_id",
                                                               "delivery_price",
                                                               "packaging_price",
                                                               "comment",
                                                               "order_title",
                                                               "delivery_comment",
                                                               "scheduled_delivery_date",
                                                               "source",
                                                               "reference",
                                                               "delivered_by",
                                                               "combos",
                                                               "payments",
                                                               "discounts",
                                                               "product_id",
                                                               "sku",
                                                               "quantity",
                                                               "variant_price",
                                                               "modifiers",
                                                               "price",
                                                               "variant_original_price",
                                                               "original_price",
                                                               "modifiers_price",
                                                               "combo_price",
                                                               "combo_original_price",
                                                               "canceled_at",
                                                               "name",
                                                               "logo",
                                                               "location",
                                                               "business_hours",
                                                               "currently_open",
                                                               "language",
                                                               "service_types",
                                                               "role",
                                                               "active",
                                                               "store_status",
                                                               "categories",
                                                               "products",
                                                               "variants",
                                                               "stock_enabled",
                                                               "messages_for_customers"};

template <size_t kSize, typename Value>
bool Has(const std::array<Value, kSize>& all, const Value& value) {
  return std::ranges::find(all, value) != all.end();
}

// "data.0.total" is "total".
std::string_view LastName(std::string_view path) { return path.substr(path.rfind('.') + 1); }

constexpr std::string_view kHeader = "header ";

}  // namespace

void Finding::Differs(std::string what, std::string expected, std::string got) {
  if (is_lenient_) {
    const std::string_view name =
        what.starts_with(kHeader) ? std::string_view(what).substr(kHeader.size()) : "";
    const bool is_added_header =
        !name.empty() && !Has(kSpecifiedHeaders, name.substr(0, name.find(' ')));
    if (promise_ == Promise::kContract || is_added_header) {
      return IsMissing(what == "status" ? what + " " + expected : what);
    }
  }
  differences_.push_back({std::move(what), std::move(expected), std::move(got)});
}

void Finding::Lacks(std::string_view field, std::string what, std::string expected) {
  if (is_lenient_ && !Has(kSpecifiedFields, field)) return IsMissing(std::move(what));
  Differs(std::move(what), std::move(expected), "no such field");
}

void Finding::IsMissing(std::string addition) {
  if (std::ranges::find(missing_, addition) == missing_.end()) {
    missing_.push_back(std::move(addition));
  }
}

bool Finding::IsAddition(int status) const {
  return is_lenient_ && !Has(kSpecifiedStatuses, status);
}

void Finding::NotChecked(std::string why) {
  not_checked_ = true;
  note_ = std::move(why);
}

bool Finding::Same(std::string what, std::string_view expected, std::string_view got) {
  if (expected == got) return true;
  Differs(std::move(what), Shown(expected), Shown(got));
  return false;
}

bool Finding::True(bool claim, std::string what, std::string expected, std::string got) {
  if (!claim) Differs(std::move(what), std::move(expected), std::move(got));
  return claim;
}

bool Finding::Status(const Reply& reply, int expected, std::string_view what) {
  if (reply.status() == expected) return true;
  if (IsAddition(expected)) {
    IsMissing(std::string(what) + " " + std::to_string(expected));
  } else {
    Differs(std::string(what), std::to_string(expected), reply.Described());
  }
  return false;
}

bool Finding::Problem(const Reply& reply, int status, std::string_view code,
                      std::string_view what) {
  // The specification shows no complete list of codes.
  const bool is_same_code = reply.Code() == code || (is_lenient_ && code != "insufficient_scope");
  if (reply.status() == status && is_same_code) return true;
  if (IsAddition(status)) {
    IsMissing(std::string(what) + " " + std::to_string(status));
    return false;
  }
  Differs(std::string(what), std::to_string(status) + " " + std::string(code), reply.Described());
  return false;
}

bool Finding::Invalid(const Reply& reply, std::string_view field, std::string_view code,
                      std::string_view what) {
  if (!Problem(reply, 422, "validation_failed", what)) return false;
  const auto row = reply.Row("errors", "field", field);
  const bool is_same_code = row && (is_lenient_ || TextAt(row, "code") == code);
  return True(is_same_code, "errors[] of " + std::string(what),
              std::string(field) + ": " + std::string(code), Shown(reply.Find("errors")));
}

bool Finding::Lack(std::string_view path, std::string expected) {
  Lacks(LastName(path), std::string(path), std::move(expected));
  return false;
}

bool Finding::HasHeader(const Reply& reply, std::string_view name) {
  return True(reply.Header(name).has_value(), "header " + std::string(name), "present", "missing");
}

bool Finding::Text(const Reply& reply, std::string_view path, std::string_view expected) {
  const auto found = reply.Find(path);
  if (!found) return Lack(path, "\"" + Shown(expected) + "\"");
  const bool met = found && found->kind() == json::Kind::kText && found->text() == expected;
  return True(met, std::string(path), "\"" + Shown(expected) + "\"", Shown(found));
}

bool Finding::Number(const Reply& reply, std::string_view path, std::string_view expected) {
  const auto found = reply.Find(path);
  if (!found) return Lack(path, std::string(expected));
  const bool met = found && found->kind() == json::Kind::kNumber &&
                   CanonicalNumber(found->number_text()) == CanonicalNumber(expected);
  return True(met, std::string(path), std::string(expected), Shown(found));
}

bool Finding::Boolean(const Reply& reply, std::string_view path, bool expected) {
  const auto found = reply.Find(path);
  if (!found) return Lack(path, expected ? "true" : "false");
  const bool met = found && found->kind() == json::Kind::kBoolean && found->boolean() == expected;
  return True(met, std::string(path), expected ? "true" : "false", Shown(found));
}

bool Finding::Null(const Reply& reply, std::string_view path) {
  const auto found = reply.Find(path);
  if (!found) return Lack(path, "null");
  return True(found && found->is_null(), std::string(path), "null", Shown(found));
}

bool Finding::Set(const Reply& reply, std::string_view path) {
  const auto found = reply.Find(path);
  if (!found) return Lack(path, "a value");
  return True(found && !found->is_null(), std::string(path), "a value", Shown(found));
}

bool Finding::Empty(const Reply& reply, std::string_view path) {
  const auto found = reply.Find(path);
  if (!found) return Lack(path, "[]");
  const bool met = found && found->kind() == json::Kind::kArray && found->items().empty();
  return True(met, std::string(path), "[]", Shown(found));
}

bool Finding::Members(std::optional<json::Value> object, std::span<const std::string_view> names,
                      std::string_view of) {
  if (!object || object->kind() != json::Kind::kObject) {
    Differs(std::string(of), "an object", Shown(object));
    return false;
  }
  std::string missing;
  for (const std::string_view name : names) {
    if (object->Find(name)) continue;
    if (is_lenient_ && !Has(kSpecifiedFields, name)) {
      IsMissing(std::string(name));
      continue;
    }
    if (!missing.empty()) missing += ", ";
    missing += name;
  }
  return True(missing.empty(), "fields of " + std::string(of), "all documented fields",
              "missing: " + missing);
}

namespace {

std::optional<int64_t> Whole(const json::Value& object, std::string_view name) {
  const auto value = object.Find(name);
  if (!value || value->kind() != json::Kind::kNumber) return std::nullopt;
  const auto decimal = ParseDecimal(value->number_text());
  return decimal ? Scaled(*decimal, 0) : std::nullopt;
}

bool Fits(const json::Value& pagination, int64_t rows) {
  const auto page = Whole(pagination, "current_page");
  const auto per_page = Whole(pagination, "per_page");
  const auto total = Whole(pagination, "total");
  if (!page || !per_page || !total || *page < 1 || *per_page < 1) return false;
  const auto more = pagination.Find("has_more");
  if (!more || more->kind() != json::Kind::kBoolean) return false;
  const int64_t before = (*page - 1) * *per_page;
  const int64_t expected = std::clamp<int64_t>(*total - before, 0, *per_page);
  return rows == expected && more->boolean() == (before + expected < *total && expected > 0);
}

}  // namespace

bool Finding::List(const Reply& reply) {
  if (!Status(reply, 200)) return false;
  const auto data = reply.Find("data");
  if (!True(data && data->kind() == json::Kind::kArray, "data", "an array", Shown(data))) {
    return false;
  }
  constexpr std::array<std::string_view, 4> kNames = {"current_page", "per_page", "total",
                                                      "has_more"};
  return Members(reply.Find("pagination"), kNames, "pagination") &&
         True(Fits(*reply.Find("pagination"), std::ssize(data->items())), "pagination",
              "numbers that fit " + std::to_string(data->items().size()) + " rows",
              Shown(reply.Find("pagination")));
}

bool Finding::SameRecord(std::string_view what, std::optional<json::Value> expected,
                         std::optional<json::Value> got) {
  if (!expected || !got || expected->kind() != json::Kind::kObject ||
      got->kind() != json::Kind::kObject) {
    Differs(std::string(what), "a record", Shown(got));
    return false;
  }
  if (expected->Canonical() == got->Canonical()) return true;
  for (const auto& [name, member] : expected->members()) {
    const auto other = got->Find(name);
    if (other && other->Canonical() == member.Canonical()) continue;
    Differs(std::string(what) + ", " + std::string(name), Shown(member), Shown(other));
    return false;
  }
  for (const auto& [name, member] : got->members()) {
    if (expected->Find(name)) continue;
    Differs(std::string(what) + ", " + std::string(name), "no such field", Shown(member));
    return false;
  }
  return true;
}

Verdict Finding::result() const {
  if (!differences_.empty()) return Verdict::kDiffers;
  if (not_checked_) return Verdict::kNotChecked;
  const bool is_about_missing = !missing_.empty() && promise_ == Promise::kContract;
  return is_about_missing ? Verdict::kNotServed : Verdict::kOk;
}

std::string Finding::note() const {
  std::string text = note_;
  for (const std::string& addition : missing_) {
    if (&addition != &missing_.front()) {
      text += ", ";
    } else {
      text += text.empty() ? "not as on a Comanda: " : "; not as on a Comanda: ";
    }
    text += addition;
  }
  return text;
}

}  // namespace comanda::selftest
