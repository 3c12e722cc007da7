#include "company/import_row.h"

#include "base/decimal.h"
#include "base/text.h"
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

std::optional<std::string> ReadDegrees(json::ObjectReader& row, std::string_view name,
                                       int64_t limit) {
  const auto units = row.Number(
      name, {.decimals = kCoordinateDecimals, .min = -limit * kDegree, .max = limit * kDegree});
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

}  // namespace

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

std::optional<std::string> ReadEmail(json::ObjectReader& row) {
  const auto email = row.Text("email", {.max = kEmailMax, .card_numbers_refused = false});
  if (!email) return std::nullopt;
  if (!IsEmail(*email)) {
    row.Fail("email", FieldCode::kInvalidFormat, "must be an e-mail address, like ana@example.com");
    return std::nullopt;
  }
  return AsciiLower(*email);
}

Phone ReadPhone(json::ObjectReader& row) {
  NeedBoth(row, "country_calling_code", "phone_number");
  const json::TextRule rule = {.max = 40, .card_numbers_refused = false};
  const auto code = row.Text("country_calling_code", rule);
  const auto number = row.Text("phone_number", rule);
  Phone phone;
  if (code) {
    const std::string digits = Digits(*code);
    if (!IsPhoneText(*code) || digits.empty() || digits.size() > kCallingCodeDigitsMax) {
      row.Fail("country_calling_code", FieldCode::kInvalidFormat,
               "must be a calling code, like +51");
    } else {
      phone.country_calling_code = "+" + digits;
    }
  }
  if (number) {
    const std::string digits = Digits(*number);
    const size_t whole = digits.size() + (code ? Digits(*code).size() : 0);
    if (!IsPhoneText(*number) || digits.size() < kPhoneDigitsMin || whole > kPhoneDigitsMax) {
      row.Fail(
          "phone_number", FieldCode::kInvalidFormat,
          "must be a number without its calling code, like 987654321; 15 digits with it at most");
    } else {
      phone.number = digits;
    }
  }
  return phone;
}

Coordinates ReadCoordinates(json::ObjectReader& row) {
  NeedBoth(row, "latitude", "longitude");
  Coordinates coordinates;
  coordinates.latitude = ReadDegrees(row, "latitude", 90);
  coordinates.longitude = ReadDegrees(row, "longitude", 180);
  return coordinates;
}

}  // namespace comanda::company
