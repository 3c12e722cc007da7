#include "backups/results.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/file.h"
#include "base/handle.h"
#include "base/problem.h"

namespace comanda::backups {
namespace {

constexpr UtcMs kOldMs = 3 * 86'400'000LL;
constexpr UtcMs kLongMs = 6 * 3'600'000LL;  // TimeoutStartSec= of comanda-backup.service

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

std::string_view TakePart(std::string_view& rest, char end) {
  const size_t at = std::min(rest.find(end), rest.size());
  const std::string_view part = rest.substr(0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return part;
}

// NAME:BYTES,NAME:BYTES
std::map<std::string, int64_t> ParseSizes(std::string_view text) {
  std::map<std::string, int64_t> sizes;
  while (!text.empty()) {
    std::string_view one = TakePart(text, ',');
    const std::string name(TakePart(one, ':'));
    sizes[name] = Integer(one);
  }
  return sizes;
}

std::string TextOf(const std::map<std::string, int64_t>& sizes) {
  std::string text;
  for (const auto& [name, bytes] : sizes) {
    text += (text.empty() ? "" : ",") + name + ":" + std::to_string(bytes);
  }
  return text;
}

// Target, tried_at, good_at, name, problem, mount_point, begun_at, is_open (1 or 0), sizes, with
// tabs between them. Older programs read and write the first five or six.
std::optional<Result> ParseLine(std::string_view line) {
  std::array<std::string_view, 9> parts;
  for (std::string_view& part : parts) part = TakePart(line, '\t');
  if (parts[0].empty()) return std::nullopt;
  return Result{.target = std::string(parts[0]),
                .tried_at = Integer(parts[1]),
                .good_at = Integer(parts[2]),
                .name = std::string(parts[3]),
                .problem = std::string(parts[4]),
                .begun_at = Integer(parts[6]),
                .is_open = parts[7] == "1",
                .sizes = ParseSizes(parts[8]),
                .mount_point = std::string(parts[5])};
}

// While it is open, no other process changes the results.
Fd LockResults(const std::string& data_directory) {
  Fd lock(::open(data_directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock) ::flock(lock.get(), LOCK_EX);
  return lock;
}

void Write(const std::string& data_directory, const std::vector<Result>& results) {
  std::string text;
  for (const Result& one : results) {
    text += OneLine(one.target) + "\t" + std::to_string(one.tried_at) + "\t" +
            std::to_string(one.good_at) + "\t" + OneLine(one.name) + "\t" + OneLine(one.problem) +
            "\t" + OneLine(one.mount_point) + "\t" + std::to_string(one.begun_at) + "\t" +
            (one.is_open ? "1" : "0") + "\t" + TextOf(one.sizes) + "\n";
  }
  ReplaceFile(PathIn(data_directory), text, 0600);
}

Result& Of(std::vector<Result>& results, const std::string& target) {
  const auto found = std::ranges::find(results, target, &Result::target);
  if (found != results.end()) return *found;
  results.push_back({.target = target});
  return results.back();
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
  const Fd lock = LockResults(data_directory);
  std::vector<Result> all = Results(data_directory);
  Result& noted = Of(all, result.target);
  if (!result.problem.empty()) {
    result.good_at = noted.good_at;
    result.name = noted.name;
    result.mount_point = noted.mount_point;
    result.is_open = noted.is_open;
    result.sizes = noted.sizes;
  }
  const std::string target = result.target;
  noted = std::move(result);
  std::erase_if(all, [&](const Result& one) {
    return one.target != target && std::ranges::find(targets, one.target) == targets.end();
  });
  Write(data_directory, all);
}

void NoteBegun(const std::string& data_directory, UtcMs now,
               const std::vector<std::string>& targets) {
  const Fd lock = LockResults(data_directory);
  std::vector<Result> all = Results(data_directory);
  for (const std::string& target : targets) Of(all, target).begun_at = now;
  Write(data_directory, all);
}

void NoteFailure(const std::string& data_directory, const std::string& problem, UtcMs now,
                 const std::vector<std::string>& targets, UtcMs since) {
  const Fd lock = LockResults(data_directory);
  std::vector<Result> all = Results(data_directory);
  for (const std::string& target : targets) Of(all, target);
  for (Result& one : all) {
    if (one.tried_at >= since && since > 0) continue;
    one.tried_at = now;
    one.problem = problem;
    if (since == 0) one.begun_at = 0;  // else that of the process that makes one
  }
  Write(data_directory, all);
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

std::string TroubleOf(const Result& result, UtcMs now) {
  constexpr std::string_view kLook =
      "; `systemctl status comanda-backup` and `journalctl -u comanda-backup -n 20` show more";
  std::string sentence = result.problem;
  if (result.begun_at > 0 && now - result.begun_at > kLongMs) {
    sentence = result.target + ": the backup that began at " + FormatInstant(result.begun_at) +
               " has not ended: it was killed, or hangs" + std::string(kLook);
  } else if (sentence.empty() && result.tried_at > 0 && now - result.good_at > kOldMs) {
    return result.target + ": no backup since " + FormatInstant(result.good_at) +
           "; `systemctl status comanda-backup.timer` shows whether it is enabled";
  }
  if (!sentence.empty() && result.good_at > 0) {
    sentence += " (the last good one there is of " + FormatInstant(result.good_at) + ")";
  }
  return sentence;
}

std::string Trouble(const std::vector<Result>& results, UtcMs now) {
  std::string trouble;
  for (const Result& one : results) {
    const std::string sentence = TroubleOf(one, now);
    if (!sentence.empty()) trouble += (trouble.empty() ? "" : "; ") + sentence;
  }
  return trouble;
}

}  // namespace comanda::backups
