#include "clients/search.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace comanda::clients {
namespace {

// The length of the separator at the front: ASCII punctuation, and the punctuation of Latin-1 and
// General Punctuation, as « or –. 0 before a letter or digit.
size_t SeparatorSize(std::string_view text) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const bool letter = (byte(0) >= 'a' && byte(0) <= 'z') || (byte(0) >= '0' && byte(0) <= '9');
  if (byte(0) < 0x80) return letter ? 0 : 1;
  if (byte(0) == 0xc2 && byte(1) >= 0xa0 && byte(1) <= 0xbf) return 2;
  if (byte(0) == 0xe2 && (byte(1) == 0x80 || byte(1) == 0x81)) return 3;
  return 0;
}

bool IsNumber(std::string_view word) {
  return word.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string Reversed(std::string_view digits) { return {digits.rbegin(), digits.rend()}; }

}  // namespace

std::vector<std::string> WordsOf(std::string_view text) {
  const std::string folded = Folded(text);
  std::vector<std::string> words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) words.push_back(std::exchange(word, {}));
  };
  for (std::string_view rest = folded; !rest.empty();) {
    if (const size_t separator = SeparatorSize(rest); separator > 0) {
      end_word();
      rest.remove_prefix(std::min(separator, rest.size()));
    } else {
      word += rest.front();
      rest.remove_prefix(1);
    }
  }
  end_word();
  return words;
}

std::vector<std::string> SearchWords(std::string_view name,
                                     const std::optional<std::string>& email) {
  std::vector<std::string> words = WordsOf(name);
  for (std::string& word : WordsOf(email.value_or(""))) words.push_back(std::move(word));
  std::ranges::sort(words);
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

std::optional<std::string> ReversedPhone(const std::optional<std::string>& country_calling_code,
                                         const std::optional<std::string>& phone_number) {
  if (!phone_number) return std::nullopt;
  return Reversed(Digits(country_calling_code.value_or("")) + Digits(*phone_number));
}

std::vector<Term> ReadTerms(std::string_view text) {
  std::vector<Term> terms;
  // The digits of consecutive groups, joined.
  std::string number;
  size_t first_group = 0;
  for (std::string& word : WordsOf(text)) {
    const bool is_number = IsNumber(word);
    if (!is_number) number.clear();
    if (is_number && number.empty()) first_group = terms.size();
    if (is_number) number += word;
    terms.push_back({std::move(word), std::nullopt});
    for (size_t i = first_group; is_number && i < terms.size(); ++i) {
      terms[i].phone_end = Reversed(number);
    }
  }
  return terms;
}

}  // namespace comanda::clients
