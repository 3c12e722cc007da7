#pragma once

// What all kinds of rows have in common that are brought in, by an import file (app/IMPORT.md) or
// as another system shows them (json::UnknownFields::kTolerated): rules for texts, ids, uniqueness,
// and fields that several kinds have.
//
// A reader of such a row writes its fields into one that is there already. From a file that is an
// empty one: a field that the file lacks is empty. What another system does not show of a row stays
// as it is, and what it shows as null becomes empty.

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

inline bool IsTolerated(const json::ObjectReader& row) {
  return row.unknown() == json::UnknownFields::kTolerated;
}

// An id of another system: a text or a number. Empty where it is none. Of a record: its "id".
std::string IdText(const std::optional<json::Value>& id);
std::string ShownId(json::Value record);

// Writes what was read into a field that may be empty.
template <typename T>
void Take(json::ObjectReader& row, std::string_view name, std::optional<T> read,
          std::optional<T>& field) {
  if (read || !IsTolerated(row) || row.IsNull(name)) field = std::move(read);
}
// Reads a text that every row has.
void TakeRequired(json::ObjectReader& row, std::string_view name, const json::TextRule& rule,
                  std::string& field);

// A user or client: name; email (something@something) in lower case; country_calling_code as "+51",
// and phone_number as digits, both or neither. Other systems show the name also as full_name, or as
// first_name and last_name; somebody without one is named by what else identifies him.
struct Person {
  std::string& name;
  std::optional<std::string>&email, &country_calling_code, &phone_number;
};
void ReadPerson(json::ObjectReader& row, Person person);
// The id of a row of a file, derived from its e-mail address, else its phone number, else its name.
std::string TakeId(json::ObjectReader& row, RowIds& ids, const Person& person);

// Latitude and longitude as decimal texts. Both or neither.
void ReadCoordinates(json::ObjectReader& row, std::optional<std::string>& latitude,
                     std::optional<std::string>& longitude);

}  // namespace comanda::company
