#pragma once

// Text as clients send it.

#include <algorithm>
#include <cstddef>
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

// CRLF and lone CR become LF (contract section 1, Text).
std::string WithUnixLines(std::string_view text);

// True where there is a C0 control other than \n and \t, or DEL.
bool HasForbiddenControl(std::string_view text);

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

// True where the text has a run that could be a card number: 13 to 19 digits, blanks and dashes
// between them allowed, beginning like a card (34, 37, 4, 51-55, 2221-2720, 6) and passing Luhn
// (contract section 7, Payments). A card may stand among other groups of digits, but is never cut
// out of a group: 20 digits in a row are none. "+" and up to 15 digits is a phone number. For free
// text only: never for ids, skus, phones or keys.
bool LooksLikeCardNumber(std::string_view text);

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
