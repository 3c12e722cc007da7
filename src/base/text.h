#pragma once

// Text as clients send it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace comanda {

// Of ASCII, whatever the locale.
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsAlphanumeric(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool IsUtf8(std::string_view text);

// Unicode characters (code points) of valid UTF-8.
size_t CharacterCount(std::string_view utf8);

// CRLF becomes LF (contract section 1, Text). A lone CR stays: it is a forbidden control.
std::string WithUnixLines(std::string_view text);

// True where there is a C0 control other than \n and \t (contract section 1, Text).
bool HasForbiddenControl(std::string_view text);
// True where there is any control character: C0, DEL or C1. Names have none (contract section 3).
bool HasControl(std::string_view utf8);

// For terminals: control characters (C0 with line ends and tabs, DEL, C1), characters that reorder
// or break lines (bidirectional controls, U+2028, U+2029) and bytes that are no UTF-8 are written
// as \n, \t, \u009b or \xff, so that a text from outside can neither make a line of its own nor
// command the terminal. Inside the strings of a JSON document the result is the same document.
std::string Visible(std::string_view text);
// The same for a text of several lines: line ends stay.
std::string VisibleLines(std::string_view text);

// Lower case without accents, spaces folded to one: "  Ñandú CEVICHE" is "nandu ceviche". Latin
// letters; others stay as they are. For search and sort columns.
std::string Folded(std::string_view utf8);

// Without blanks and line ends before and behind.
std::string_view Trimmed(std::string_view text);
// Cuts the next piece off the front of a list, trimmed.
std::string_view TakePiece(std::string_view& list, char separator);

std::string AsciiLower(std::string_view text);
bool AsciiEqualsIgnoreCase(std::string_view a, std::string_view b);

// Only the digits of a text.
std::string Digits(std::string_view text);

// Which lengths of card numbers are looked for.
enum class CardDigits : uint8_t { kAny, kSixteen };

// True where the text has a run of digits that could be a card number: blanks and dashes between
// groups allowed, passing Luhn, with the beginning and the length of a scheme (contract section 7,
// Payments; the table is in text.cc). A card may stand among other groups of digits, but is never
// cut out of a group: 20 digits in a row are none. What follows "+", "tel", "cel", "whatsapp",
// "fono" or "phone" is a phone number. For free text only: never for ids, skus, phones or keys.
bool LooksLikeCardNumber(std::string_view text, CardDigits digits = CardDigits::kAny);

// The candidate nearest to a mistyped word (Levenshtein distance at most 3, and not every letter
// another), or empty.
template <typename Range>
std::string_view Nearest(std::string_view word, const Range& candidates);

size_t EditDistance(std::string_view a, std::string_view b);

template <typename Range>
std::string_view Nearest(std::string_view word, const Range& candidates) {
  std::string_view best;
  size_t best_distance = std::min<size_t>(4, word.size());
  for (const auto& candidate : candidates) {
    const std::string_view other = candidate;
    const size_t longer = std::max(word.size(), other.size());
    if (longer - std::min(word.size(), other.size()) >= best_distance) continue;
    const size_t distance = EditDistance(word, other);
    if (distance < best_distance) {
      best_distance = distance;
      best = other;
    }
  }
  return best;
}

}  // namespace comanda
