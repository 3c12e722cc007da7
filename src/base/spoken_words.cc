#include "base/spoken_words.h"

#include <string_view>

namespace comanda {

std::string SpokenWords(std::span<const uint8_t> bytes) {
  constexpr std::string_view kConsonants = "bdfghjklmnprstvz";
  constexpr std::string_view kVowels = "aiou";
  std::string words;
  for (size_t i = 0; i + 1 < bytes.size(); i += 2) {
    const unsigned pair = static_cast<unsigned>(bytes[i]) << 8 | bytes[i + 1];
    if (!words.empty()) words += ' ';
    words += kConsonants[pair >> 12];
    words += kVowels[pair >> 10 & 3];
    words += kConsonants[pair >> 6 & 15];
    words += kVowels[pair >> 4 & 3];
    words += kConsonants[pair & 15];
  }
  return words;
}

}  // namespace comanda
