#pragma once

// What the rows of every kind have in common in an import file (app/IMPORT.md).

#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "json/reader.h"

namespace comanda::company {

inline constexpr size_t kRowsMax = 100'000;  // of one list

// Free text, where somebody may have noted a card number: the file is refused, with the line.
inline constexpr json::TextRule kNameRule = {.max = 200, .is_name = true};
inline constexpr json::TextRule kAddressRule = {.max = 500};
inline constexpr json::TextRule kProseRule = {.max = 2000};
// What names something by its digits, as ids, skus, codes and phones do: none is looked for.
inline constexpr json::TextRule kNumberRule = {.max = 200, .card_numbers_refused = false};
inline constexpr json::TextRule kUrlRule = {.max = 2000, .card_numbers_refused = false};

// Values of which a company has each only once: ids, codes, skus. A repeated one is `duplicate`.
class Distinct {
 public:
  // Where the field was wrong or absent there is nothing to note.
  void Add(json::ObjectReader& row, std::string_view field,
           const std::optional<std::string>& value);

 private:
  std::unordered_set<std::string> seen_;
};

// The ids of one kind of row. A row without an `id` gets one derived from its company and natural
// key, so that the same row has the same id in every import.
class RowIds {
 public:
  RowIds(std::string company_uuid, std::string_view kind)
      : company_uuid_(std::move(company_uuid)), kind_(kind) {}

  // `key` is the row's value of `key_field`, normalised by the caller where spellings mean the
  // same. Two rows with one id are `duplicate`; with an empty key_field the caller sees to repeated
  // keys itself.
  std::string Take(json::ObjectReader& row, std::string_view key_field, std::string_view key);
  // The id of a row that cannot bring its own.
  std::string Derive(std::string_view key) const;

 private:
  std::string company_uuid_;
  std::string_view kind_;
  std::unordered_set<std::string> seen_;
};

// An e-mail address in lower case, or nothing with the error noted: something@something.
std::optional<std::string> ReadEmail(json::ObjectReader& row);

// country_calling_code as "+51" and phone_number as digits; both or none.
struct Phone {
  std::optional<std::string> country_calling_code, number;
};
Phone ReadPhone(json::ObjectReader& row);

// latitude and longitude as decimal texts; both or none.
struct Coordinates {
  std::optional<std::string> latitude, longitude;
};
Coordinates ReadCoordinates(json::ObjectReader& row);

}  // namespace comanda::company
