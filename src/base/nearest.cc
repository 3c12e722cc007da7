#include "base/nearest.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"

namespace comanda {
namespace {

// Longer texts are no names.
constexpr size_t kWordMax = 100;
constexpr size_t kEditsMax = 3;
constexpr size_t kLettersMin = 3;
constexpr size_t kExtraWordsMax = 2;
// Behind every typing error.
constexpr size_t kAbbreviation = kEditsMax + 1;
constexpr size_t kOtherWords = kAbbreviation;

bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsSeparator(char c) { return std::string_view("_-.[]/ ").find(c) != std::string_view::npos; }

// The words of a name, in lower case and without the s of a plural: "orderItems" and "order_items"
// give order, item.
std::vector<std::string> WordsOf(std::string_view name) {
  std::vector<std::string> words(1);
  for (size_t i = 0; i < name.size(); ++i) {
    const bool hump = i > 0 && IsUpper(name[i]) && !IsUpper(name[i - 1]);
    if ((hump || IsSeparator(name[i])) && !words.back().empty()) words.emplace_back();
    if (!IsSeparator(name[i])) words.back() += AsciiLower(name.substr(i, 1));
  }
  if (words.back().empty()) words.pop_back();
  for (std::string& word : words) {
    if (word.size() > kLettersMin && word.ends_with('s')) word.pop_back();
  }
  return words;
}

std::string LettersOf(std::string_view name) {
  std::string letters;
  for (const char c : AsciiLower(name)) {
    if (!IsSeparator(c)) letters += c;
  }
  return letters;
}

// True if the shorter word begins the longer one, or has its first and last letter and others in
// their order.
bool AreOneAbbreviated(std::string_view brief, std::string_view whole) {
  if (brief.size() > whole.size()) std::swap(brief, whole);
  if (brief.size() < kLettersMin || brief.size() == whole.size()) return false;
  if (whole.starts_with(brief)) return true;
  if (brief.front() != whole.front() || brief.back() != whole.back()) return false;
  size_t found = 0;
  for (const char c : whole) {
    if (found < brief.size() && brief[found] == c) ++found;
  }
  return found == brief.size();
}

bool HasAll(const std::vector<std::string>& words, const std::vector<std::string>& wanted) {
  return std::ranges::all_of(wanted, [&](const std::string& word) {
    return std::ranges::find(words, word) != words.end();
  });
}

// Two names of one group, as filter[paid] and filter[day], are compared in brackets alone: nobody
// takes the one for the other.
void CutCommonGroup(std::string_view& word, std::string_view& name) {
  const size_t group = name.find('[') + 1;  // 0 if there is none
  if (word.substr(0, group) != name.substr(0, group)) return;
  word.remove_prefix(group);
  name.remove_prefix(group);
}

// The typing errors that make the one of the other, if they are few.
std::optional<size_t> Edits(std::string_view word, std::string_view name) {
  CutCommonGroup(word, name);
  const size_t longer = std::max(word.size(), name.size());
  if (longer - std::min(word.size(), name.size()) > kEditsMax) return std::nullopt;
  const size_t edits = EditDistance(AsciiLower(word), AsciiLower(name));
  if (edits > kEditsMax || edits >= word.size() || edits * 2 > name.size()) return std::nullopt;
  return edits;
}

// How many words one name has that the other lacks, where it has all of the other's.
std::optional<size_t> ExtraWords(std::string_view a, std::string_view b) {
  std::vector<std::string> fewer = WordsOf(a);
  std::vector<std::string> more = WordsOf(b);
  if (fewer.size() > more.size()) std::swap(fewer, more);
  size_t letters = 0;
  for (const std::string& word : fewer) letters += word.size();
  const size_t extra = more.size() - fewer.size();
  if (letters < kLettersMin || extra > kExtraWordsMax || !HasAll(more, fewer)) return std::nullopt;
  return extra;
}

}  // namespace

std::optional<size_t> Unlikeness(std::string_view word, std::string_view name) {
  if (word.empty() || std::max(word.size(), name.size()) > kWordMax) return std::nullopt;
  const std::string sent = LettersOf(word);
  const std::string letters = LettersOf(name);
  if (sent == letters) return 0;
  if (const auto ours = OurNamesOf(word)) {
    const auto found = std::ranges::find(*ours, name);
    if (found == ours->end()) return std::nullopt;
    return static_cast<size_t>(found - ours->begin());
  }
  if (const auto edits = Edits(word, name)) return edits;
  if (AreOneAbbreviated(sent, letters)) return kAbbreviation;
  if (const auto extra = ExtraWords(word, name)) return kOtherWords + *extra;
  return std::nullopt;
}

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace comanda
