#pragma once

// How clients are searched (contract section 10): by prefixes of words, and by suffixes of phone
// numbers, ignoring case and accents. Pure functions.
//
// Both are index scans. Each client has its words in one index, and its phone number in another,
// written backwards, so that a suffix of the number is a prefix of the index entry.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace comanda::clients {

// The words of a text: Folded() (base/text.h) and split at everything that is not a letter or
// digit.
std::vector<std::string> WordsOf(std::string_view text);
// The words under which a client is indexed: those of name and e-mail address, sorted, without
// duplicates.
std::vector<std::string> SearchWords(std::string_view name,
                                     const std::optional<std::string>& email);

// The digits of calling code and number, in reverse order; nothing without a number.
std::optional<std::string> ReversedPhone(const std::optional<std::string>& country_calling_code,
                                         const std::optional<std::string>& phone_number);

// What a number that is looked up may be stored as (contract section 10): with and without calling
// code, "00" or a trunk zero, and, in the three countries whose mobile numbers are written in two
// ways, as the other one: in Argentina and Mexico with and without a digit behind the calling code
// (9, 1), in Brazil with and without the ninth digit. WhatsApp sends either.
struct PhoneTwins {
  // In reverse order: the digits with which all of them end.
  std::string end;
  // Each a whole number in reverse order, as ReversedPhone() gives it, or "n" and a number without
  // its calling code.
  std::vector<std::string> keys;
};
PhoneTwins TwinsOf(std::string_view digits);

// One search term. A client matches if one of its words starts with `word`, or its phone number
// ends with `phone_end`. Consecutive groups of digits may be one number as people write it, so each
// group gets the digits of all of them as its phone_end.
struct Term {
  std::string word;
  // In reverse order.
  std::optional<std::string> phone_end;

  bool operator==(const Term&) const = default;
};
// The terms of a search text. A client must match all of them. Empty if the text has neither
// letters nor digits.
std::vector<Term> ReadTerms(std::string_view text);

}  // namespace comanda::clients
