#include "base/text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/folding.h"

namespace comanda {
namespace {

// The first character of a text: its code point and its length in bytes; size 0 if it is not UTF-8.
struct Character {
  char32_t code = 0;
  size_t size = 0;
};

Character FirstCharacter(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return {byte(0), 1};
  const size_t size = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < size) return {};
  char32_t code = byte(0) & (0x7fU >> size);
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  const bool overlong = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (overlong || surrogate || code > 0x10ffff) return {};
  return {code, size};
}

bool IsWhiteSpace(char32_t c) {
  return c == ' ' || (c >= '\t' && c <= '\r') || c == 0xa0 || (c >= 0x2000 && c <= 0x200a) ||
         c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

// The zero-width space and the byte-order mark.
bool HasNoWidth(char32_t c) { return c == 0x200b || c == 0xfeff; }

// C0, DEL and C1.
bool IsControl(char32_t c) { return c < 0x20 || (c >= 0x7f && c < 0xa0); }

// Bidirectional controls, and separators at which some terminals break lines.
bool MovesText(char32_t c) {
  return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069);
}

void AppendHex(std::string& out, std::string_view escape, uint32_t value, int digits) {
  out += escape;
  for (int i = digits - 1; i >= 0; --i) out += "0123456789abcdef"[value >> (4 * i) & 15];
}

bool IsCombiningMark(char32_t c) { return c >= 0x300 && c <= 0x36f; }

// Card numbers.

// A range of card numbers: the values of its first digits, and the total number of digits.
struct Scheme {
  size_t leading_digits;
  int first, last;
  size_t length;
};
constexpr std::array kSchemes = {
    Scheme{2, 34, 34, 15},     Scheme{2, 37, 37, 15}, Scheme{2, 51, 55, 16},
    Scheme{4, 2221, 2720, 16}, Scheme{1, 4, 4, 16},   Scheme{1, 4, 4, 19},
    Scheme{2, 50, 50, 16},     Scheme{2, 56, 58, 16}, Scheme{2, 60, 67, 16},
};
constexpr size_t kCardDigitsMax = 19;
constexpr size_t kSixteenDigits = 16;
constexpr size_t kSeparatorsMax = 3;  // " - "

// Groups of digits with separators between them.
struct Run {
  std::vector<std::string_view> groups;
  bool begins_as_phone = false;
};

// Blanks and dashes, with the typographic ones of pasted text.
bool IsSeparator(char32_t c) {
  return c == ' ' || c == '\t' || c == '-' || c == 0xa0 || (c >= 0x2000 && c <= 0x2015) ||
         c == 0x202f || c == 0x2212;
}

// The length in bytes of one to three separators followed by a digit, or 0.
size_t SeparatorBytes(std::string_view text) {
  size_t bytes = 0;
  for (size_t count = 0; count < kSeparatorsMax && bytes < text.size(); ++count) {
    const Character c = FirstCharacter(text.substr(bytes));
    if (c.size == 0 || !IsSeparator(c.code)) break;
    bytes += c.size;
  }
  return bytes > 0 && bytes < text.size() && IsDigit(text[bytes]) ? bytes : 0;
}

bool EndsWithWord(std::string_view lower_case, std::string_view word) {
  if (!lower_case.ends_with(word)) return false;
  lower_case.remove_suffix(word.size());
  return lower_case.empty() || !IsAlphanumeric(lower_case.back());
}

// True if a number after this text is a phone number: "+", "Tel.: ", "teléfono ", "WhatsApp ".
bool AnnouncesPhone(std::string_view before) {
  constexpr std::string_view kMarks = " \t.:#=(";
  constexpr size_t kLongest = 40;
  before = before.substr(before.size() - std::min(before.size(), kLongest));
  while (!before.empty() && kMarks.find(before.back()) != std::string_view::npos) {
    before.remove_suffix(1);
  }
  if (before.ends_with('+')) return true;
  const std::string word = AsciiLower(before);
  return EndsWithWord(word, "tel") || EndsWithWord(word, "cel") || EndsWithWord(word, "whatsapp") ||
         word.ends_with("fono") || word.ends_with("phone");
}

// Reads a run that starts at the digit at `at`, and moves `at` behind it.
Run TakeRun(std::string_view text, size_t& at) {
  Run run;
  run.begins_as_phone = AnnouncesPhone(text.substr(0, at));
  while (true) {
    const size_t first = at;
    while (at < text.size() && IsDigit(text[at])) ++at;
    run.groups.push_back(text.substr(first, at - first));
    const size_t separator = SeparatorBytes(text.substr(at));
    if (separator == 0) return run;
    at += separator;
  }
}

bool IsOfScheme(std::string_view digits) {
  return std::ranges::any_of(kSchemes, [&](const Scheme& scheme) {
    if (digits.size() != scheme.length) return false;
    int leading = 0;
    for (const char c : digits.substr(0, scheme.leading_digits)) leading = leading * 10 + (c - '0');
    return leading >= scheme.first && leading <= scheme.last;
  });
}

bool PassesLuhn(std::string_view digits) {
  int sum = 0;
  bool twice = false;
  for (size_t i = digits.size(); i-- > 0; twice = !twice) {
    const int value = (digits[i] - '0') * (twice ? 2 : 1);
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10 == 0;
}

// Tries every sequence of whole groups, since other numbers may precede or follow: "12 4111 1111
// ...".
bool HasCard(const Run& run, CardDigits wanted) {
  for (size_t first = run.begins_as_phone ? 1 : 0; first < run.groups.size(); ++first) {
    std::string digits;
    for (size_t i = first; i < run.groups.size(); ++i) {
      if (digits.size() + run.groups[i].size() > kCardDigitsMax) break;
      digits += run.groups[i];
      const bool is_wanted = wanted == CardDigits::kAny || digits.size() == kSixteenDigits;
      if (is_wanted && IsOfScheme(digits) && PassesLuhn(digits)) return true;
    }
  }
  return false;
}

char AsciiLowered(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const bool is_ascii = static_cast<unsigned char>(text[0]) < 0x80;
    const size_t size = is_ascii ? 1 : FirstCharacter(text).size;
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

size_t CharacterCount(std::string_view utf8) {
  return static_cast<size_t>(std::ranges::count_if(
      utf8, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string WithUnixLines(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    out += text[i];
  }
  return out;
}

bool HasForbiddenControl(std::string_view text) {
  return std::ranges::any_of(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t'; });
}

bool HasControl(std::string_view utf8) {
  while (!utf8.empty()) {
    const Character c = FirstCharacter(utf8);
    if (c.size > 0 && IsControl(c.code)) return true;
    utf8.remove_prefix(std::max<size_t>(c.size, 1));
  }
  return false;
}

std::string Visible(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character c = FirstCharacter(text);
    const size_t size = std::max<size_t>(c.size, 1);
    if (c.size == 0) {
      AppendHex(out, "\\x", static_cast<unsigned char>(text[0]), 2);
    } else if (c.code == '\n') {
      out += "\\n";
    } else if (c.code == '\t') {
      out += "\\t";
    } else if (IsControl(c.code) || MovesText(c.code)) {
      AppendHex(out, "\\u", c.code, 4);
    } else {
      out += text.substr(0, size);
    }
    text.remove_prefix(size);
  }
  return out;
}

std::string VisibleLines(std::string_view text) {
  std::string out;
  while (true) {
    const size_t end = std::min(text.find('\n'), text.size());
    out += Visible(text.substr(0, end));
    if (end == text.size()) return out;
    out += '\n';
    text.remove_prefix(end + 1);
  }
}

std::string HtmlEscaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string Folded(std::string_view utf8) {
  std::string out;
  out.reserve(utf8.size());
  bool blank_pending = false;
  while (!utf8.empty()) {
    const Character c = FirstCharacter(utf8);
    const size_t size = std::max<size_t>(c.size, 1);
    const std::string_view bytes = utf8.substr(0, size);
    utf8.remove_prefix(size);
    if (IsWhiteSpace(c.code)) {
      blank_pending = !out.empty();
      continue;
    }
    if (IsCombiningMark(c.code)) continue;
    if (blank_pending) out += ' ';
    blank_pending = false;
    if (c.code >= 'A' && c.code <= 'Z') {
      out += static_cast<char>(c.code - 'A' + 'a');
    } else if (const std::string_view plain = FoldedLetter(c.code); !plain.empty()) {
      out += plain;
    } else {
      out += bytes;
    }
  }
  return out;
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string_view TrimmedCode(std::string_view utf8) {
  const auto is_outside = [](const Character& c) {
    return c.size > 0 && (IsWhiteSpace(c.code) || HasNoWidth(c.code) || IsControl(c.code));
  };
  while (!utf8.empty()) {
    const Character first = FirstCharacter(utf8);
    if (!is_outside(first)) break;
    utf8.remove_prefix(first.size);
  }
  while (!utf8.empty()) {
    size_t last = utf8.size() - 1;
    while (last > 0 && (static_cast<unsigned char>(utf8[last]) & 0xc0) == 0x80) --last;
    if (!is_outside(FirstCharacter(utf8.substr(last)))) break;
    utf8 = utf8.substr(0, last);
  }
  return utf8;
}

std::string FoldedCode(std::string_view utf8) { return AsciiLower(TrimmedCode(utf8)); }

bool IsBlank(std::string_view utf8) {
  while (!utf8.empty()) {
    const Character c = FirstCharacter(utf8);
    const bool is_other_control = IsControl(c.code) && c.code != '\t' && c.code != '\n';
    if (c.size == 0 || is_other_control) return false;
    if (!IsWhiteSpace(c.code) && !HasNoWidth(c.code)) return false;
    utf8.remove_prefix(c.size);
  }
  return true;
}

std::string_view TakePiece(std::string_view& list, char separator) {
  const size_t end = std::min(list.find(separator), list.size());
  const std::string_view piece = Trimmed(list.substr(0, end));
  list.remove_prefix(std::min(end + 1, list.size()));
  return piece;
}

std::string AsciiLower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = AsciiLowered(c);
  return out;
}

std::string AsciiUpper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

bool AsciiEqualsIgnoreCase(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, AsciiLowered, AsciiLowered);
}

std::string Digits(std::string_view text) {
  std::string out;
  std::ranges::copy_if(text, std::back_inserter(out), IsDigit);
  return out;
}

bool LooksLikeCardNumber(std::string_view text, CardDigits digits) {
  for (size_t at = 0; at < text.size();) {
    if (!IsDigit(text[at])) {
      ++at;
    } else if (HasCard(TakeRun(text, at), digits)) {
      return true;
    }
  }
  return false;
}

std::string JoinedByCommas(const std::vector<std::string>& words) {
  std::string joined;
  for (const std::string& word : words) {
    if (!joined.empty()) joined += ',';
    joined += word;
  }
  return joined;
}

}  // namespace comanda
