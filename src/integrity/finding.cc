#include "integrity/finding.h"

#include <algorithm>
#include <utility>

namespace comanda::integrity {
namespace {

struct Meaning {
  Kind kind;
  std::string_view follows;
  std::string_view remedy;
};

// By the number of the kind.
constexpr Meaning kMeanings[] = {
    {Kind::kPage, "the database takes no more writes",
     "stop the server and run `comanda verify --repair`, which rebuilds indexes and loses nothing; "
     "if it refuses, restore a backup; look after the disk"},
    {Kind::kUnread, "the database takes no more writes",
     "back up to another disk (`comanda backup TARGET`) and replace this one; if the backup fails, "
     "run `comanda verify --repair` before, with the server stopped"},
    {Kind::kIndex, "what is found through the index may be incomplete",
     "start the server, whose background check makes the index again (REINDEX); look after the "
     "disk"},
    {Kind::kRow, "a damaged row cannot be used, all others can",
     "do without it, or restore a backup that has it; instead of an API key make a new one"},
    {Kind::kChecksum, "the backup is refused", "take another backup"},
};
static_assert(std::ranges::all_of(kMeanings, [](const Meaning& meaning) {
  return &meaning == &kMeanings[static_cast<size_t>(meaning.kind)];
}));

}  // namespace

std::string_view Finding::follows() const { return kMeanings[static_cast<size_t>(kind)].follows; }
std::string_view Finding::remedy() const { return kMeanings[static_cast<size_t>(kind)].remedy; }

void Add(Kind kind, std::string_view where, std::vector<std::string> what, Findings& findings) {
  for (std::string& one : what) {
    findings.push_back({.kind = kind, .where = std::string(where), .what = std::move(one)});
  }
}

std::vector<std::string> SentencesOf(const Findings& findings) {
  std::vector<std::string> sentences;
  for (const Finding& finding : findings) sentences.push_back(finding.what);
  return sentences;
}

std::vector<std::string> AdviceFor(const Findings& findings) {
  std::vector<std::string> advice;
  const auto has = [&](Kind kind) {
    return std::ranges::find(findings, kind, &Finding::kind) != findings.end();
  };
  for (const Meaning& meaning : kMeanings) {
    if (!has(meaning.kind)) continue;
    // The server that would make an index again takes no more writes.
    if (meaning.kind == Kind::kIndex && (has(Kind::kPage) || has(Kind::kUnread))) continue;
    advice.push_back(std::string(meaning.follows) + "; what to do: " + std::string(meaning.remedy));
  }
  return advice;
}

}  // namespace comanda::integrity
