#pragma once

// What all kinds of rows of an import file have in common (app/IMPORT.md): rules for texts, ids,
// uniqueness, and fields that several kinds have.

#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "json/reader.h"

namespace comanda::company {

// The most rows of one list.
inline constexpr size_t kRowsMax = 100'000;

// Free text, which may contain a card number: the import is refused then, naming the field.
inline constexpr json::TextRule kNameRule = {.max = 200, .is_name = true};
inline constexpr json::TextRule kAddressRule = {.max = 500};
inline constexpr json::TextRule kProseRule = {.max = 2000};
// Texts that consist of digits anyway, as ids, skus, codes and phone numbers; not checked for card
// numbers.
inline constexpr json::TextRule kNumberRule = {.max = 200, .card_numbers_refused = false};
inline constexpr json::TextRule kUrlRule = {.max = 2000, .card_numbers_refused = false};

// Detects repeated values that must be unique in a company: ids, codes, skus.
class Distinct {
 public:
  // Adds `duplicate` to the errors if the value occurred before. Does nothing if the field was
  // invalid or missing.
  void Add(json::ObjectReader& row, std::string_view field,
           const std::optional<std::string>& value);

 private:
  std::unordered_set<std::string> seen_;
};

// Assigns the ids of one kind of row. A row without `id` gets one derived (UUID version 5) from its
// company and its natural key, so that importing the same row again finds it.
class RowIds {
 public:
  RowIds(std::string company_uuid, std::string_view kind)
      : company_uuid_(std::move(company_uuid)), kind_(kind) {}

  // The id of a row. `key` is the value of `key_field`, normalised by the caller if several
  // spellings mean the same. A repeated id or key is `duplicate`; with an empty `key_field` the
  // caller checks for repeated keys.
  std::string Take(json::ObjectReader& row, std::string_view key_field, std::string_view key);
  // The id of a row that never has its own `id`.
  std::string Derive(std::string_view key) const;

 private:
  std::string company_uuid_;
  std::string_view kind_;
  std::unordered_set<std::string> seen_;
};

// An e-mail address (something@something) in lower case. Adds an error and returns nothing if
// malformed.
std::optional<std::string> ReadEmail(json::ObjectReader& row);

// country_calling_code as "+51", and phone_number as digits. Both or neither.
struct Phone {
  std::optional<std::string> country_calling_code, number;
};
Phone ReadPhone(json::ObjectReader& row);

// Latitude and longitude as decimal texts. Both or neither.
struct Coordinates {
  std::optional<std::string> latitude, longitude;
};
Coordinates ReadCoordinates(json::ObjectReader& row);

}  // namespace comanda::company
