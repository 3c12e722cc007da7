#include "backups/catalog.h"

#include <algorithm>
#include <charconv>

#include "backups/entries.h"
#include "backups/sealed.h"
#include "backups/sums.h"
#include "base/file.h"
#include "base/text.h"

namespace comanda::backups {
namespace {

constexpr std::string_view kStart = "comanda-";
constexpr std::string_view kSealedEnd = ".sealed";
constexpr size_t kNumberDigits = 6;
constexpr size_t kNumberDigitsMax = 15;
constexpr size_t kTimeLetters = 16;  // 20261123T031500Z

// "2026-11-23T03:15:00.000Z" as "20261123T031500Z".
std::string Compact(UtcMs instant) {
  const std::string text = FormatInstant(instant);
  std::string compact;
  for (const char c : std::string_view(text).substr(0, text.find('.'))) {
    if (c != '-' && c != ':') compact += c;
  }
  return compact + "Z";
}

std::optional<UtcMs> ParseCompact(std::string_view text) {
  if (text.size() != kTimeLetters) return std::nullopt;
  std::string full(text);
  for (const size_t at : {size_t{13}, size_t{11}}) full.insert(at, ":");
  for (const size_t at : {size_t{6}, size_t{4}}) full.insert(at, "-");
  return ParseInstant(full);
}

std::vector<Backup> NamedIn(const std::string& directory, std::string_view end) {
  std::vector<Backup> found;
  for (const std::string& name : EntriesIn(directory).value_or(std::vector<std::string>())) {
    if (!name.ends_with(end)) continue;
    std::optional<Backup> one =
        ParseName(std::string_view(name).substr(0, name.size() - end.size()));
    if (!one) continue;
    one->name = name;
    one->path = directory + "/" + name;
    found.push_back(*std::move(one));
  }
  std::ranges::sort(found, [](const Backup& a, const Backup& b) {
    return a.number != b.number ? a.number > b.number : a.name > b.name;
  });
  return found;
}

std::vector<Backup> BackupsNamed(const std::string& directory, std::string_view end) {
  std::vector<Backup> found = NamedIn(directory, end);
  std::erase_if(found, [](const Backup& one) {
    return KindOf(one.path) != (one.is_sealed ? Kind::kFile : Kind::kDirectory);
  });
  return found;
}

}  // namespace

std::string NameOfBackup(int64_t number, UtcMs made_at, bool is_sealed) {
  std::string digits = std::to_string(number);
  if (digits.size() < kNumberDigits) digits.insert(0, kNumberDigits - digits.size(), '0');
  return std::string(kStart) + digits + "-" + Compact(made_at) +
         std::string(is_sealed ? kSealedEnd : "");
}

std::optional<Backup> ParseName(std::string_view name) {
  Backup backup = {.name = std::string(name), .is_sealed = name.ends_with(kSealedEnd)};
  if (backup.is_sealed) name.remove_suffix(kSealedEnd.size());
  if (!name.starts_with(kStart)) return std::nullopt;
  name.remove_prefix(kStart.size());
  const size_t dash = std::min(name.find('-'), name.size());
  const std::string_view digits = name.substr(0, dash);
  if (digits.size() < kNumberDigits || digits.size() > kNumberDigitsMax ||
      !std::ranges::all_of(digits, IsDigit)) {
    return std::nullopt;
  }
  std::from_chars(digits.data(), digits.data() + digits.size(), backup.number);
  const auto made_at = ParseCompact(name.substr(std::min(dash + 1, name.size())));
  if (!made_at) return std::nullopt;
  backup.made_at = *made_at;
  return backup;
}

std::vector<Backup> BackupsIn(const std::string& directory) { return BackupsNamed(directory, ""); }

std::vector<Backup> DamagedIn(const std::string& directory) {
  return BackupsNamed(directory, kDamagedEnd);
}

std::string WhyNotWhole(const Backup& backup, int64_t bytes) {
  if (!backup.is_sealed) {
    const std::vector<std::string> differences = CheckQuickly(backup.path);
    return differences.empty() ? "" : differences.front();
  }
  const int64_t found = SizeOf(backup.path);
  if (!IsSealed(backup.path)) return "it does not begin as a sealed backup does";
  if (bytes == 0 || bytes == found) return "";
  return "it has " + std::to_string(found) + " of " + std::to_string(bytes) + " bytes";
}

int64_t NextNumber(const std::string& directory) {
  int64_t highest = 0;
  for (const auto& found : {NamedIn(directory, ""), NamedIn(directory, kDamagedEnd)}) {
    if (!found.empty()) highest = std::max(highest, found.front().number);
  }
  return highest + 1;
}

}  // namespace comanda::backups
