#pragma once

// "Did you mean …?": the name that a person probably meant by a word that is none. For messages
// about unknown fields, parameters, paths, settings, commands and flags.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/foreign_words.h"

namespace comanda {

// How far a word is from a name: 0 where they differ only in case and separators, as perPage and
// per_page; nothing where hardly anyone would take one for the other. A word that another system
// has for our field (base/foreign_words.h) is near to the names that the table has for it, and to
// no others. Of other words, three kinds of mistakes
// count: typing errors, by Levenshtein distance (statsu, status); abbreviations (qty, quantity;
// desc, description); words left out or added (price, variant_price; amount_paid, amount). Works on
// bytes, fast for words of any length.
std::optional<size_t> Unlikeness(std::string_view word, std::string_view name);

template <typename Names, typename Measure>
std::string_view LeastUnlike(const Names& names, Measure measure) {
  std::string_view nearest;
  std::optional<size_t> least;
  for (const std::string_view name : names) {
    const std::optional<size_t> unlikeness = measure(name);
    if (!unlikeness || (least && *unlikeness >= *least)) continue;
    least = unlikeness;
    nearest = name;
  }
  return nearest;
}

// The name that is least unlike the word, the first of several; empty if there is none. `names` is
// a range of what converts to std::string_view.
template <typename Names>
std::string_view Nearest(std::string_view word, const Names& names) {
  return LeastUnlike(names, [&](std::string_view name) { return Unlikeness(word, name); });
}

// For the message on a name that is missing: "; did you mean it by amount_paid?", the nearest of
// what was sent; empty if nothing is near.
template <typename Names>
std::string MeantBy(std::string_view missing, const Names& sent) {
  const std::string_view nearest = LeastUnlike(sent, [&](std::string_view word) {
    return OurNamesOf(word) ? Unlikeness(word, missing) : Unlikeness(missing, word);
  });
  return nearest.empty() ? "" : "; did you mean it by " + std::string(nearest) + "?";
}

// Levenshtein distance in bytes.
size_t EditDistance(std::string_view a, std::string_view b);

}  // namespace comanda
