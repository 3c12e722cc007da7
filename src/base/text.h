#pragma once

// Text as clients send it: validation, normalisation for search, safe display. All functions are
// pure; any thread.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace comanda {

// ASCII only, whatever the locale.
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsAlphanumeric(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool IsUtf8(std::string_view text);

// The number of Unicode code points: the unit in which the contract limits texts. `utf8` must be
// valid.
size_t CharacterCount(std::string_view utf8);

// Replaces CRLF by LF (contract section 1, Text). Keeps a lone CR, which HasForbiddenControl()
// reports.
std::string WithUnixLines(std::string_view text);

// True if the text has a C0 control other than \n and \t (contract section 1, Text).
bool HasForbiddenControl(std::string_view text);
// True if the text has any control character: C0, DEL or C1. Names may have none (contract section
// 3).
bool HasControl(std::string_view utf8);

// Makes untrusted text safe to print on a terminal, on one line. Escapes as \n, \t, \u009b or \xff:
// control characters (C0 with line ends and tabs, DEL, C1), characters that reorder or break lines
// (bidirectional controls, U+2028, U+2029), and bytes that are not UTF-8. Applied to a JSON
// document, the result is an equivalent document.
std::string Visible(std::string_view text);
// Like Visible(), but keeps line ends.
std::string VisibleLines(std::string_view text);

// For the content of an HTML element, and for an attribute in double quotes.
std::string HtmlEscaped(std::string_view text);

// The form in which names are searched and sorted: lower case, without accents, runs of blanks as
// one blank, none at the start or end. "  Ñandú CEVICHE" gives "nandu ceviche". Covers Latin
// letters; other scripts stay unchanged.
std::string Folded(std::string_view utf8);

// Without blanks, tabs and line ends at both ends.
std::string_view Trimmed(std::string_view text);
// A code (a sku) without what scanners and spreadsheets leave around it: white space, the no-break
// space and those of zero width too, and control characters (contract section 9).
std::string_view TrimmedCode(std::string_view utf8);
// The form in which codes are compared: cut, and in lower case (contract section 9).
std::string FoldedCode(std::string_view utf8);
// True if nothing of a text is seen: it has only blanks, tabs and LF, the no-break space and those
// of zero width too. Other control characters are none of them.
bool IsBlank(std::string_view utf8);
// Removes the first piece, up to `separator`, from the front of `list` and returns it trimmed.
std::string_view TakePiece(std::string_view& list, char separator);

// Case mapping of ASCII only; other bytes stay unchanged.
std::string AsciiLower(std::string_view text);
std::string AsciiUpper(std::string_view text);
bool AsciiEqualsIgnoreCase(std::string_view a, std::string_view b);

// Only the ASCII digits of a text.
std::string Digits(std::string_view text);

// Which lengths LooksLikeCardNumber() searches for: those of any scheme, or 16 digits alone.
enum class CardDigits : uint8_t { kAny, kSixteen };

// True if a text contains what is probably a payment card number (contract section 7, Payments), so
// that it is refused before it is stored. It must pass the Luhn check and have the leading digits
// and length of a known scheme (table in text.cc). Blanks and dashes may separate groups of digits;
// a card is one or more whole groups, never part of one: 20 consecutive digits are none. A number
// after "+", "tel", "cel", "whatsapp", "fono" or "phone" is a phone number. For free text only, not
// for ids, skus, phones or keys.
bool LooksLikeCardNumber(std::string_view text, CardDigits digits = CardDigits::kAny);

// "a,b,c".
std::string JoinedByCommas(const std::vector<std::string>& words);

}  // namespace comanda
