#include "backups/results.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/file.h"
#include "base/problem.h"

namespace comanda::backups {
namespace {

constexpr UtcMs kOldMs = 3 * 86'400'000LL;

std::string PathIn(const std::string& data_directory) { return data_directory + "/backup-results"; }

std::string OneLine(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  return text;
}

int64_t Integer(std::string_view text) {
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Target, tried_at, good_at, name, problem, mount_point, with tabs between them. Files of older
// programs lack the last one.
std::optional<Result> ParseLine(std::string_view line) {
  std::array<std::string_view, 6> parts;
  for (std::string_view& part : parts) {
    const size_t end = std::min(line.find('\t'), line.size());
    part = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  if (parts[0].empty()) return std::nullopt;
  return Result{.target = std::string(parts[0]),
                .tried_at = Integer(parts[1]),
                .good_at = Integer(parts[2]),
                .name = std::string(parts[3]),
                .problem = std::string(parts[4]),
                .mount_point = std::string(parts[5])};
}

}  // namespace

std::vector<Result> Results(const std::string& data_directory) {
  std::vector<Result> results;
  std::optional<std::string> content;
  try {
    content = ReadFile(PathIn(data_directory));
  } catch (const Fault&) {
    return results;
  }
  std::string_view rest = content ? std::string_view(*content) : std::string_view();
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    if (auto result = ParseLine(rest.substr(0, end))) results.push_back(*std::move(result));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  std::ranges::sort(results, {}, &Result::target);
  return results;
}

void NoteResult(const std::string& data_directory, Result result,
                const std::vector<std::string>& targets) {
  std::string text;
  std::vector<Result> all = Results(data_directory);
  for (const Result& former : all) {
    if (former.target != result.target || result.problem.empty()) continue;
    result.good_at = former.good_at;
    result.name = former.name;
    result.mount_point = former.mount_point;
  }
  std::erase_if(all, [&](const Result& one) {
    return one.target == result.target || std::ranges::find(targets, one.target) == targets.end();
  });
  all.push_back(std::move(result));
  for (const Result& one : all) {
    text += OneLine(one.target) + "\t" + std::to_string(one.tried_at) + "\t" +
            std::to_string(one.good_at) + "\t" + OneLine(one.name) + "\t" + OneLine(one.problem) +
            "\t" + OneLine(one.mount_point) + "\n";
  }
  ReplaceFile(PathIn(data_directory), text, 0600);
}

Result ResultOf(const std::string& data_directory, const std::string& target) {
  for (Result& one : Results(data_directory)) {
    if (one.target == target) return std::move(one);
  }
  return {.target = target};
}

void ForgetResults(const std::string& data_directory) { RemoveAll(PathIn(data_directory)); }

UtcMs OldestGood(const std::string& data_directory) {
  const std::vector<Result> results = Results(data_directory);
  const auto oldest = std::ranges::min_element(results, {}, &Result::good_at);
  return oldest == results.end() ? 0 : oldest->good_at;
}

std::string Trouble(const std::vector<Result>& results, UtcMs now) {
  std::string trouble;
  for (const Result& one : results) {
    std::string sentence;
    if (!one.problem.empty()) {
      sentence = one.problem;
    } else if (now - one.good_at > kOldMs) {
      sentence = one.target + ": no backup since " + FormatInstant(one.good_at) +
                 "; `systemctl status comanda-backup.timer` shows whether it is enabled";
    }
    if (sentence.empty()) continue;
    if (!one.problem.empty() && one.good_at > 0) {
      sentence += " (the last good one there is of " + FormatInstant(one.good_at) + ")";
    }
    trouble += (trouble.empty() ? "" : "; ") + sentence;
  }
  return trouble;
}

}  // namespace comanda::backups
