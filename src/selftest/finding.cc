#include "selftest/finding.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/decimal.h"

namespace comanda::selftest {

void Finding::Differs(std::string what, std::string expected, std::string got) {
  differences_.push_back({std::move(what), std::move(expected), std::move(got)});
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
  Differs(std::string(what), std::to_string(expected), reply.Described());
  return false;
}

bool Finding::Problem(const Reply& reply, int status, std::string_view code,
                      std::string_view what) {
  if (reply.status() == status && reply.Code() == code) return true;
  Differs(std::string(what), std::to_string(status) + " " + std::string(code), reply.Described());
  return false;
}

bool Finding::Invalid(const Reply& reply, std::string_view field, std::string_view code,
                      std::string_view what) {
  if (!Problem(reply, 422, "validation_failed", what)) return false;
  const auto row = reply.Row("errors", "field", field);
  return True(row && TextAt(row, "code") == code, "errors[] of " + std::string(what),
              std::string(field) + ": " + std::string(code), Shown(reply.Find("errors")));
}

bool Finding::HasHeader(const Reply& reply, std::string_view name) {
  return True(reply.Header(name).has_value(), "header " + std::string(name), "present", "missing");
}

bool Finding::Text(const Reply& reply, std::string_view path, std::string_view expected) {
  const auto found = reply.Find(path);
  const bool met = found && found->kind() == json::Kind::kText && found->text() == expected;
  return True(met, std::string(path), "\"" + Shown(expected) + "\"", Shown(found));
}

bool Finding::Number(const Reply& reply, std::string_view path, std::string_view expected) {
  const auto found = reply.Find(path);
  const bool met = found && found->kind() == json::Kind::kNumber &&
                   CanonicalNumber(found->number_text()) == CanonicalNumber(expected);
  return True(met, std::string(path), std::string(expected), Shown(found));
}

bool Finding::Boolean(const Reply& reply, std::string_view path, bool expected) {
  const auto found = reply.Find(path);
  const bool met = found && found->kind() == json::Kind::kBoolean && found->boolean() == expected;
  return True(met, std::string(path), expected ? "true" : "false", Shown(found));
}

bool Finding::Null(const Reply& reply, std::string_view path) {
  const auto found = reply.Find(path);
  return True(found && found->is_null(), std::string(path), "null", Shown(found));
}

bool Finding::Set(const Reply& reply, std::string_view path) {
  const auto found = reply.Find(path);
  return True(found && !found->is_null(), std::string(path), "a value", Shown(found));
}

bool Finding::Empty(const Reply& reply, std::string_view path) {
  const auto found = reply.Find(path);
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
  return not_checked_ ? Verdict::kNotChecked : Verdict::kOk;
}

}  // namespace comanda::selftest
