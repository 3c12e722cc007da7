#pragma once

// What clients are found by (contract section 10): the beginnings of words and the ends of phone
// numbers, without accents and case. Pure.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace comanda::clients {

// The words of a text: Folded, cut at everything that is neither letter nor digit.
std::vector<std::string> WordsOf(std::string_view text);
// The words that a client is found by, each once, sorted: those of name and e-mail.
std::vector<std::string> SearchWords(std::string_view name,
                                     const std::optional<std::string>& email);

// The digits of calling code and number, the last one first, so that an end is a beginning.
std::optional<std::string> ReversedPhone(const std::optional<std::string>& country_calling_code,
                                         const std::optional<std::string>& phone_number);

// One word that is searched for. A client matches where one of its words begins with `word`, or
// where its phone number ends with `phone_end`. Groups of digits in a row may be one number as
// people write it: each of them has the end that all of them make.
struct Term {
  std::string word;
  std::optional<std::string> phone_end;  // reversed

  bool operator==(const Term&) const = default;
};
// A client must match every term. No terms where the text has neither letter nor digit.
std::vector<Term> ReadTerms(std::string_view text);

}  // namespace comanda::clients
