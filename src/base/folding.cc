#include "base/folding.h"

#include <array>

namespace comanda {
namespace {

constexpr char32_t kLatinFirst = 0xa0;
constexpr char32_t kAdditionalFirst = 0x1e00;

// Sixteen letters a line, as in the code charts.
// clang-format off
// Latin-1, Latin Extended-A and Latin Extended-B as far as it derives from plain letters.
constexpr auto kLatin = std::to_array<std::string_view>({
    "", "", "", "", "", "", "", "", "", "", "a", "", "", "", "", "",
    "", "", "", "", "", "", "", "", "", "", "o", "", "", "", "", "",
    "a", "a", "a", "a", "a", "a", "ae", "c", "e", "e", "e", "e", "i", "i", "i", "i",
    "d", "n", "o", "o", "o", "o", "o", "", "o", "u", "u", "u", "u", "y", "th", "ss",
    "a", "a", "a", "a", "a", "a", "ae", "c", "e", "e", "e", "e", "i", "i", "i", "i",
    "d", "n", "o", "o", "o", "o", "o", "", "o", "u", "u", "u", "u", "y", "th", "y",
    "a", "a", "a", "a", "a", "a", "c", "c", "c", "c", "c", "c", "c", "c", "d", "d",
    "d", "d", "e", "e", "e", "e", "e", "e", "e", "e", "e", "e", "g", "g", "g", "g",
    "g", "g", "g", "g", "h", "h", "h", "h", "i", "i", "i", "i", "i", "i", "i", "i",
    "i", "i", "ij", "ij", "j", "j", "k", "k", "k", "l", "l", "l", "l", "l", "l", "l",
    "l", "l", "l", "n", "n", "n", "n", "n", "n", "n", "n", "n", "o", "o", "o", "o",
    "o", "o", "oe", "oe", "r", "r", "r", "r", "r", "r", "s", "s", "s", "s", "s", "s",
    "s", "s", "t", "t", "t", "t", "t", "t", "u", "u", "u", "u", "u", "u", "u", "u",
    "u", "u", "u", "u", "w", "w", "y", "y", "y", "z", "z", "z", "z", "z", "z", "s",
    "", "b", "", "", "", "", "", "", "", "", "", "", "", "", "", "",
    "", "f", "f", "", "", "", "", "", "", "", "", "", "", "", "", "",
    "o", "o", "", "", "", "", "", "", "", "", "", "", "", "", "", "u",
    "u", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "",
    "", "", "", "", "dz", "dz", "dz", "lj", "lj", "lj", "nj", "nj", "nj", "a", "a", "i",
    "i", "o", "o", "u", "u", "u", "u", "u", "u", "u", "u", "u", "u", "", "a", "a",
    "a", "a", "ae", "ae", "", "", "g", "g", "k", "k", "o", "o", "o", "o", "", "",
    "j", "dz", "dz", "dz", "g", "g", "", "", "n", "n", "a", "a", "ae", "ae", "o", "o",
    "a", "a", "a", "a", "e", "e", "e", "e", "i", "i", "i", "i", "o", "o", "o", "o",
    "r", "r", "r", "r", "u", "u", "u", "u", "s", "s", "t", "t", "", "", "h", "h",
    "", "", "", "", "", "", "a", "a", "e", "e", "o", "o", "o", "o", "o", "o",
    "o", "o", "y", "y", "", "", "", "", "", "", "", "", "", "", "", "",
    "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "",
});
static_assert(kLatin[0xf1 - kLatinFirst] == "n" && kLatin[0x17f - kLatinFirst] == "s");
static_assert(kLatin.size() == 0x250 - kLatinFirst);

// Latin Extended Additional: Vietnamese, Welsh, the German capital sharp s.
constexpr auto kAdditional = std::to_array<std::string_view>({
    "a", "a", "b", "b", "b", "b", "b", "b", "c", "c", "d", "d", "d", "d", "d", "d",
    "d", "d", "d", "d", "e", "e", "e", "e", "e", "e", "e", "e", "e", "e", "f", "f",
    "g", "g", "h", "h", "h", "h", "h", "h", "h", "h", "h", "h", "i", "i", "i", "i",
    "k", "k", "k", "k", "k", "k", "l", "l", "l", "l", "l", "l", "l", "l", "m", "m",
    "m", "m", "m", "m", "n", "n", "n", "n", "n", "n", "n", "n", "o", "o", "o", "o",
    "o", "o", "o", "o", "p", "p", "p", "p", "r", "r", "r", "r", "r", "r", "r", "r",
    "s", "s", "s", "s", "s", "s", "s", "s", "s", "s", "t", "t", "t", "t", "t", "t",
    "t", "t", "u", "u", "u", "u", "u", "u", "u", "u", "u", "u", "v", "v", "v", "v",
    "w", "w", "w", "w", "w", "w", "w", "w", "w", "w", "x", "x", "x", "x", "y", "y",
    "z", "z", "z", "z", "z", "z", "h", "t", "w", "y", "a", "s", "", "", "ss", "",
    "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a",
    "a", "a", "a", "a", "a", "a", "a", "a", "e", "e", "e", "e", "e", "e", "e", "e",
    "e", "e", "e", "e", "e", "e", "e", "e", "i", "i", "i", "i", "o", "o", "o", "o",
    "o", "o", "o", "o", "o", "o", "o", "o", "o", "o", "o", "o", "o", "o", "o", "o",
    "o", "o", "o", "o", "u", "u", "u", "u", "u", "u", "u", "u", "u", "u", "u", "u",
    "u", "u", "y", "y", "y", "y", "y", "y", "y", "y", "", "", "", "", "", "",
});
// clang-format on
static_assert(kAdditional[0x1e9e - kAdditionalFirst] == "ss");
static_assert(kAdditional.size() == 0x1f00 - kAdditionalFirst);

}  // namespace

std::string_view FoldedLetter(char32_t letter) {
  if (letter >= kLatinFirst && letter - kLatinFirst < kLatin.size()) {
    return kLatin[letter - kLatinFirst];
  }
  if (letter >= kAdditionalFirst && letter - kAdditionalFirst < kAdditional.size()) {
    return kAdditional[letter - kAdditionalFirst];
  }
  return {};
}

}  // namespace comanda
