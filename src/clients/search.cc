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

namespace {

constexpr std::string_view kArgentina = "54", kMexico = "52", kBrazil = "55";

std::string_view WithoutZeros(std::string_view digits) {
  return digits.substr(std::min(digits.find_first_not_of('0'), digits.size()));
}

// Of a number that begins with its calling code (ITU-T E.164): 1 and 7 have one digit, those below
// two, all others three.
size_t CallingCodeSize(std::string_view digits) {
  constexpr std::string_view kOfTwo =
      " 20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 "
      "64 65 66 81 82 84 86 90 91 92 93 94 95 98 ";
  if (digits.starts_with('1') || digits.starts_with('7')) return 1;
  return kOfTwo.find(" " + std::string(digits.substr(0, 2)) + " ") == kOfTwo.npos ? 3 : 2;
}

// The other way in which the country writes a mobile number; empty where there is none.
std::string OtherForm(std::string_view calling_code, std::string_view number) {
  constexpr size_t kShort = 10, kLong = 11, kAreaOfBrazil = 2;
  const std::string text(number);
  const auto with_prefix = [&](char digit) -> std::string {
    if (number.size() == kShort) return digit + text;
    return number.size() == kLong && number.front() == digit ? text.substr(1) : "";
  };
  if (calling_code == kArgentina) return with_prefix('9');
  if (calling_code == kMexico) return with_prefix('1');
  if (calling_code != kBrazil || number.size() < kShort || number.size() > kLong) return "";
  const std::string area = text.substr(0, kAreaOfBrazil);
  const std::string local = text.substr(kAreaOfBrazil);
  const bool is_mobile = local.front() >= '6';  // 2 to 5: a landline
  if (number.size() == kShort) return is_mobile ? area + '9' + local : "";
  return local.front() == '9' ? area + local.substr(1) : "";
}

}  // namespace

PhoneTwins TwinsOf(std::string_view digits) {
  constexpr size_t kEndOfAll = 8;  // what the countries write in two ways stands before it
  const std::string plain(WithoutZeros(digits));
  PhoneTwins twins;
  twins.end =
      Reversed(std::string_view(plain).substr(plain.size() - std::min(plain.size(), kEndOfAll)));
  const auto add_number = [&](const std::string& number) { twins.keys.push_back("n" + number); };
  // Also that of a client without a calling code.
  const auto add_whole = [&](std::string_view code, const std::string& number) {
    for (const char* trunk : {"", "0"}) {
      twins.keys.push_back(Reversed(std::string(code) + trunk + number));
    }
  };
  const auto add_both = [&](std::string_view code, const std::string& number) {
    add_whole(code, number);
    if (const std::string other = OtherForm(code, number); !other.empty()) add_whole(code, other);
  };
  add_both(std::string_view(plain).substr(0, CallingCodeSize(plain)),
           std::string(WithoutZeros(
               std::string_view(plain).substr(std::min(CallingCodeSize(plain), plain.size())))));
  if (digits.starts_with("00")) return twins;
  add_number(plain);
  add_number("0" + plain);
  for (const std::string_view code : {kArgentina, kMexico, kBrazil}) {
    if (const std::string other = OtherForm(code, plain); !other.empty()) add_whole(code, other);
  }
  return twins;
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
