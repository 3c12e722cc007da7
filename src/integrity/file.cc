#include "integrity/file.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/problem.h"
#include "integrity/tables.h"

namespace comanda::integrity {
namespace {

// SQLite's own words about rows; all others but those about an index are about pages.
constexpr std::array<std::string_view, 3> kAboutRows = {" value in ", "CHECK constraint failed in ",
                                                        "row not in PRIMARY KEY order for "};
// A page that the disk does not read; one that is not in the file is said in other words.
constexpr std::array<std::string_view, 2> kAboutReads = {"unable to get the page. error code=266",
                                                         "failed to get page "};

bool HasOneOf(std::string_view line, const auto& words) {
  return std::ranges::any_of(words,
                             [&](std::string_view one) { return line.find(one) != line.npos; });
}

// "row 7 missing from index sale_at", "index sale_at stores an imprecise floating-point value …".
// Empty where the line is about no index.
std::string_view IndexNamedIn(std::string_view line) {
  constexpr std::string_view kIndex = "index ";
  const size_t at = line.find(kIndex);
  if (at == line.npos || (at > 0 && line[at - 1] != ' ')) return {};
  const std::string_view name = line.substr(at + kIndex.size());
  return name.substr(0, name.find(' '));
}

Finding MeaningOfLine(const std::string& line, const std::string& where) {
  if (const std::string_view index = IndexNamedIn(line); !index.empty()) {
    return {.kind = Kind::kIndex, .where = std::string(index), .what = line};
  }
  const Kind kind = HasOneOf(line, kAboutRows)    ? Kind::kRow
                    : HasOneOf(line, kAboutReads) ? Kind::kUnread
                                                  : Kind::kPage;
  return {.kind = kind, .where = where, .what = line};
}

}  // namespace

Findings MeaningOf(const db::SelfCheck& check, const std::string& where) {
  Findings findings;
  for (const std::string& line : check.lines) findings.push_back(MeaningOfLine(line, where));
  if (check.failure) {
    const bool is_unread = check.failure->kind == Fault::Kind::kUnread;
    findings.push_back({.kind = is_unread ? Kind::kUnread : Kind::kPage,
                        .where = where,
                        .what = is_unread ? check.failure->cause
                                          : "the check ended at a page that makes no sense"});
  }
  return findings;
}

std::vector<std::string> PartsToCheck(const db::Database& database, const Clock& clock) {
  std::vector<std::string> parts = db::FileWatcher(database.settings(), clock).Tables();
  parts.emplace_back("sqlite_schema");  // the list of free pages
  return parts;
}

Findings CheckTable(const db::Database& database, const Clock& clock, const std::string& table,
                    std::function<bool()> ends) {
  db::FileWatcher watcher(database.settings(), clock);
  watcher.EndWhen(std::move(ends));
  return CheckTable(watcher, table);
}

Findings CheckTable(db::FileWatcher& watcher, const std::string& table) {
  const db::SelfCheck check = watcher.CheckTable(table);
  Findings findings = MeaningOf(check, table);
  const bool has_ended = check.failure && findings.back().kind == Kind::kPage;
  if (has_ended && watcher.CheckPagesOfTable(table).is_sound()) {
    findings.back().kind = Kind::kIndex;
    findings.back().what = "an index of " + table + " cannot be read";
  }
  return findings;
}

Glance GlanceAt(const std::string& path, const Clock& clock) {
  db::FileWatcher watcher = db::FileWatcher::OfStill(path, clock);
  Glance glance;
  try {
    glance.findings = MeaningOf(watcher.CheckPages(), path);
  } catch (const Fault& fault) {
    if (fault.kind != Fault::Kind::kUnavailable) throw;
    glance.is_whole = false;
  }
  return glance;
}

}  // namespace comanda::integrity
