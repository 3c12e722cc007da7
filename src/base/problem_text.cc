#include "base/problem_text.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/concat.h"

namespace comanda {
namespace {

constexpr std::array<std::string_view, 16> kVerbs = {
    "must", "is",    "are",  "cannot", "has",    "have",  "needs", "comes",
    "goes", "names", "lies", "makes",  "stands", "would", "looks", "belongs"};

bool BeginsWithVerb(std::string_view message) {
  const std::string_view word = message.substr(0, message.find_first_of(" :,"));
  return std::ranges::find(kVerbs, word) != kVerbs.end();
}

}  // namespace

std::string InWords(const Refusal& refusal) {
  if (refusal.errors.size() != 1) return refusal.detail;
  const FieldError& error = refusal.errors.front();
  const std::string head = error.field + ": ";
  const bool is_of_field = !error.field.empty() && refusal.detail.starts_with(head);
  if (!is_of_field || !BeginsWithVerb(error.message)) return refusal.detail;
  return Concat({error.field, " ", std::string_view(refusal.detail).substr(head.size())});
}

}  // namespace comanda
