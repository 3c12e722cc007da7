#include "company/import_row.h"

#include "base/decimal.h"
#include "base/text.h"
#include "base/concat.h"
#include "crypto/derived_id.h"

namespace comanda::company {
namespace {

constexpr size_t kEmailMax = 254;
constexpr size_t kPhoneDigitsMin = 4;
// ITU-T E.164, calling code included.
constexpr size_t kPhoneDigitsMax = 15;
constexpr size_t kCallingCodeDigitsMax = 3;
constexpr int kCoordinateDecimals = 9;
// In units of 10^-kCoordinateDecimals.
constexpr int64_t kDegree = 1'000'000'000;

bool IsEmail(std::string_view text) {
  const size_t at = text.find('@');
  if (at == std::string_view::npos || at == 0 || at + 1 == text.size()) return false;
  return text.find('@', at + 1) == std::string_view::npos &&
         text.find_first_of(" \t\n") == std::string_view::npos;
}

// Digits, and the punctuation people write between them.
bool IsPhoneText(std::string_view text) {
  return text.find_first_not_of("+0123456789 -().") == std::string_view::npos;
}

// A text that is a number; nothing for any other.
std::optional<int64_t> DegreesIn(std::string_view text, int64_t limit) {
  const auto decimal = ParseDecimal(Trimmed(text));
  const auto units = decimal ? Scaled(*decimal, kCoordinateDecimals) : std::nullopt;
  const bool is_there = units && *units <= limit * kDegree && *units >= -limit * kDegree;
  return is_there ? units : std::nullopt;
}

// A number; of another system also a text that is one.
std::optional<std::string> ReadDegrees(json::ObjectReader& row, std::string_view name,
                                       int64_t limit) {
  const auto shown = IsTolerated(row) ? row.Text(name) : std::nullopt;
  const auto units = shown ? DegreesIn(*shown, limit)
                           : row.Number(name, {.decimals = kCoordinateDecimals,
                                               .min = -limit * kDegree,
                                               .max = limit * kDegree});
  if (!units) return std::nullopt;
  std::string text;
  AppendScaled(text, *units, kCoordinateDecimals);
  return text;
}

void NeedBoth(json::ObjectReader& row, std::string_view one, std::string_view other) {
  const bool has_one = row.HasValue(one);
  const bool has_other = row.HasValue(other);
  if (has_one == has_other) return;
  const std::string_view missing = has_one ? other : one;
  const std::string_view present = has_one ? one : other;
  row.Fail(missing, FieldCode::kRequired, "is required beside " + std::string(present));
}

// True if two fields that are one value are to be written: not where another system shows one of
// them alone, or none.
bool AreTold(json::ObjectReader& row, std::string_view one, std::string_view other, bool are_read) {
  return are_read || !IsTolerated(row) || (row.IsNull(one) && row.IsNull(other));
}

std::optional<std::string> ReadEmail(json::ObjectReader& row) {
  const auto email = row.Text("email", {.max = kEmailMax, .card_numbers_refused = false});
  if (!email) return std::nullopt;
  if (!IsEmail(*email)) {
    row.Fail("email", FieldCode::kInvalidFormat, "must be an e-mail address, like ana@example.com");
    return std::nullopt;
  }
  return AsciiLower(*email);
}

std::optional<std::string> CallingCode(json::ObjectReader& row, std::string_view text) {
  const std::string digits = Digits(text);
  if (IsPhoneText(text) && !digits.empty() && digits.size() <= kCallingCodeDigitsMax) {
    return "+" + digits;
  }
  row.Fail("country_calling_code", FieldCode::kInvalidFormat, "must be a calling code, like +51");
  return std::nullopt;
}

void ReadPhone(json::ObjectReader& row, std::optional<std::string>& calling_code,
               std::optional<std::string>& phone_number) {
  if (!IsTolerated(row)) NeedBoth(row, "country_calling_code", "phone_number");
  const json::TextRule rule = {.max = 40, .card_numbers_refused = false};
  const auto code = row.Text("country_calling_code", rule);
  const auto number = row.Text("phone_number", rule);
  if (!AreTold(row, "country_calling_code", "phone_number", code && number)) return;
  calling_code = code ? CallingCode(row, *code) : std::nullopt;
  phone_number.reset();
  if (!number) return;
  const std::string digits = Digits(*number);
  const size_t whole = digits.size() + (code ? Digits(*code).size() : 0);
  if (!IsPhoneText(*number) || digits.size() < kPhoneDigitsMin || whole > kPhoneDigitsMax) {
    row.Fail(
        "phone_number", FieldCode::kInvalidFormat,
        "must be a number without its calling code, like 987654321; 15 digits with it at most");
    return;
  }
  phone_number = digits;
}

void ReadName(json::ObjectReader& row, std::string& name) {
  if (!IsTolerated(row)) return TakeRequired(row, "name", kNameRule, name);
  const auto text = [&](std::string_view field) { return row.Text(field, kNameRule).value_or(""); };
  std::string shown = text("name");
  if (shown.empty()) shown = text("full_name");
  if (shown.empty()) {
    shown = Trimmed(Concat({text("first_name"), " ", text("last_name")}));
    if (CharacterCount(shown) > kNameRule.max) {
      row.Fail("last_name", FieldCode::kTooLong, "makes the name longer than 200 characters");
    }
  }
  for (const std::string_view other : {"email", "phone_number"}) {
    if (shown.empty() && name.empty()) shown = row.Text(other, kNumberRule).value_or("");
  }
  const std::string role = row.Text("role").value_or("");
  if (shown.empty() && name.empty() && !role.empty()) {
    shown = Concat({role, " ", IdText(row.Peek("id"))});
  }
  if (!shown.empty()) name = std::move(shown);
  if (name.empty()) row.Fail("name", FieldCode::kRequired, "is required and must not be null");
}

}  // namespace

std::string IdText(const std::optional<json::Value>& id) {
  if (!id) return "";
  if (id->kind() == json::Kind::kNumber) return std::string(id->number_text());
  return id->kind() == json::Kind::kText ? std::string(Trimmed(id->text())) : "";
}

std::string ShownId(json::Value record) {
  return record.kind() == json::Kind::kObject ? IdText(record.Find("id")) : "";
}

void TakeRequired(json::ObjectReader& row, std::string_view name, const json::TextRule& rule,
                  std::string& field) {
  const bool may_stay = IsTolerated(row) && !field.empty();
  const auto text = may_stay ? row.Text(name, rule) : row.RequireText(name, rule);
  if (text || !may_stay) field = text.value_or("");
}

void Distinct::Add(json::ObjectReader& row, std::string_view field,
                   const std::optional<std::string>& value) {
  if (!value || seen_.insert(*value).second) return;
  row.Fail(field, FieldCode::kDuplicate, "stands in another row already");
}

std::string RowIds::Derive(std::string_view key) const {
  return crypto::DerivedId(company_uuid_, std::string(kind_) + ":" + std::string(key));
}

std::string RowIds::Take(json::ObjectReader& row, std::string_view key_field,
                         std::string_view key) {
  const std::optional<std::string> sent = row.Uuid("id");
  const std::string id = sent ? *sent : Derive(key);
  if (seen_.insert(id).second) return id;
  if (sent) {
    row.Fail("id", FieldCode::kDuplicate, "stands in another row already");
  } else if (!key.empty() && !key_field.empty()) {
    row.Fail(key_field, FieldCode::kDuplicate,
             "stands in another row already; give both rows an id of their own");
  }
  return id;
}

void ReadPerson(json::ObjectReader& row, Person person) {
  ReadName(row, person.name);
  Take(row, "email", ReadEmail(row), person.email);
  ReadPhone(row, person.country_calling_code, person.phone_number);
}

std::string TakeId(json::ObjectReader& row, RowIds& ids, const Person& person) {
  if (person.email) return ids.Take(row, "email", "email:" + *person.email);
  if (person.phone_number) {
    return ids.Take(row, "phone_number",
                    "phone:" + person.country_calling_code.value_or("") + *person.phone_number);
  }
  return ids.Take(row, "name", person.name.empty() ? "" : "name:" + Folded(person.name));
}

void ReadCoordinates(json::ObjectReader& row, std::optional<std::string>& latitude,
                     std::optional<std::string>& longitude) {
  if (!IsTolerated(row)) NeedBoth(row, "latitude", "longitude");
  auto north = ReadDegrees(row, "latitude", 90);
  auto east = ReadDegrees(row, "longitude", 180);
  if (!AreTold(row, "latitude", "longitude", north && east)) return;
  latitude = std::move(north);
  longitude = std::move(east);
}

}  // namespace comanda::company
