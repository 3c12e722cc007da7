#pragma once

// What the staff reads of an app's order, in the restaurant's language. Pure.

#include <array>
#include <string>
#include <string_view>

#include "company/company.h"

namespace comanda::delivery {

enum class Language : uint8_t { kEnglish, kSpanish, kPortuguese };

// The company's language; where it has none, the one of its country.
Language LanguageOf(const company::Company& company);

// # stands for the amount, the code or the names that the phrase is about.
enum class Phrase : uint8_t {
  kCollect,
  kCollectCash,
  kCollectCard,
  kChangeFor,
  kPickupCode,
  kPlace,
  kTable,
  kUnread,
};

std::string Say(Phrase phrase, Language language, std::string_view about);

}  // namespace comanda::delivery
