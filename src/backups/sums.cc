#include "backups/sums.h"

#include <fcntl.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "backups/entries.h"
#include "backups/medium.h"
#include "base/file.h"
#include "base/problem.h"
#include "base/text.h"
#include "crypto/secret_stream.h"
#include "integrity/file_head.h"

namespace comanda::backups {
namespace {

constexpr size_t kPieceBytes = 256 * 1024;
constexpr size_t kDigestLetters = 128;
constexpr std::string_view kAdded = " was not there when the backup was made";

std::string SumOf(const std::string& directory, const std::string& name) {
  const std::string path = directory + "/" + name;
  const Fd fd = OpenFileIn(directory, name);
  // Pages that are on disk already leave the cache, so that what is read is what the disk keeps.
  ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_DONTNEED);
  ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
  crypto::Blake2b hash;
  while (true) {
    const std::string piece = ReadUpTo(fd, kPieceBytes, path);
    hash.Add(piece);
    if (piece.size() < kPieceBytes) break;
  }
  // The tills' pages are worth more in the cache than these.
  ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_DONTNEED);
  return hash.Finish();
}

bool IsDatabase(std::string_view name) { return name.ends_with(".db"); }

// Nothing if the file is no database, or cannot be read.
std::optional<integrity::FileHead> HeadOf(const std::string& path) {
  try {
    const auto head = integrity::ReadFileHead(path);
    return head && head->is_sqlite ? head : std::nullopt;
  } catch (const Fault&) {
    return std::nullopt;
  }
}

// Whether a database has the size that its head tells.
bool IsWhole(const std::string& path, int64_t bytes) {
  const auto head = HeadOf(path);
  return head && (head->expected_bytes == 0 || head->expected_bytes == bytes);
}

// Reading a sparse file of petabytes would not end.
bool IsOversized(const std::string& path, int64_t bytes) {
  if (bytes <= kSmallFileBytesMax) return false;
  if (!IsDatabase(path)) return true;
  const auto head = HeadOf(path);
  return !head || (head->expected_bytes > 0 && bytes / 2 > head->expected_bytes);
}

// "DIGEST  PATH". Empty path: another form.
std::pair<std::string, std::string> ParseLine(std::string_view line) {
  if (line.size() <= kDigestLetters + 2 || line.substr(kDigestLetters, 2) != "  ") return {};
  return {std::string(line.substr(kDigestLetters + 2)),
          std::string(line.substr(0, kDigestLetters))};
}

// The lines of B2SUMS: digests by their paths. One that is malformed is a difference.
std::map<std::string, std::string> Parse(std::string_view rest,
                                         std::vector<std::string>& differences) {
  std::map<std::string, std::string> wanted;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    auto [path, sum] = ParseLine(rest.substr(0, end));
    if (path.empty()) {
      differences.push_back(std::string(kSumsFile) + " is damaged");
    } else {
      wanted[path] = sum;
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return wanted;
}

// The digest of one file of a backup; `wanted` where it is not to be read.
using DigestOf =
    std::function<std::string(const std::string& name, int64_t bytes, const std::string& wanted)>;

std::vector<std::string> Check(const std::string& directory, const DigestOf& digest_of) {
  Tree tree = TreeOf(directory);
  std::vector<std::string> differences;
  std::map<std::string, std::string> found;
  for (const auto& [name, what] : tree.strange) {
    differences.push_back(Visible(name) + " is " + what +
                          ": a backup has files and directories alone");
  }
  if (!tree.files.contains(kSumsFile)) {
    differences.push_back("there is no " + std::string(kSumsFile) +
                          ": the backup was copied in part, or is no backup");
    return differences;
  }
  const std::string listed = ReadFileIn(directory, kSumsFile).value_or("");
  std::vector<std::string> malformed;
  const std::map<std::string, std::string> wanted = Parse(listed, malformed);
  if (!wanted.contains("live.db")) {
    differences.push_back(std::string(kSumsFile) + " does not list live.db");
  }
  for (const auto& [name, bytes] : tree.files) {
    const auto one = wanted.find(name);
    const bool is_read = one != wanted.end() && !IsOversized(directory + "/" + name, bytes);
    found[name] = is_read ? digest_of(name, bytes, one->second) : "";
  }
  for (std::string& one : Differences(listed, found)) {
    const bool is_named = std::ranges::any_of(tree.strange, [&](const auto& entry) {
      return one == Visible(entry.first) + " is missing";
    });
    if (!is_named) differences.push_back(std::move(one));
  }
  return differences;
}

}  // namespace

std::map<std::string, std::string> SumsOf(const std::string& directory) {
  std::map<std::string, std::string> sums;
  for (const auto& [name, bytes] : TreeOf(directory).files) sums[name] = SumOf(directory, name);
  return sums;
}

void WriteSums(const std::string& directory) {
  std::string text;
  for (const auto& [path, sum] : SumsOf(directory)) text += sum + "  " + path + "\n";
  WritePrivateFile(directory + "/" + kSumsFile, text);
}

std::vector<std::string> Differences(const std::string& listed,
                                     const std::map<std::string, std::string>& found) {
  std::vector<std::string> differences;
  const std::map<std::string, std::string> wanted = Parse(listed, differences);
  for (const auto& [path, sum] : wanted) {
    const auto one = found.find(path);
    if (one == found.end()) {
      differences.push_back(Visible(path) + " is missing");
    } else if (one->second != sum) {
      differences.push_back(Visible(path) + " is not as it was when the backup was made");
    }
  }
  for (const auto& [path, sum] : found) {
    if (path != kSumsFile && !wanted.contains(path)) {
      differences.push_back(Visible(path) + std::string(kAdded));
    }
  }
  return differences;
}

std::vector<std::string> CheckSums(const std::string& directory) {
  return Check(directory, [&](const std::string& name, int64_t, const std::string&) {
    return SumOf(directory, name);
  });
}

std::vector<std::string> CheckQuickly(const std::string& directory) {
  std::vector<std::string> differences =
      Check(directory, [&](const std::string& name, int64_t bytes, const std::string& wanted) {
        if (!IsDatabase(name)) return SumOf(directory, name);
        return IsWhole(directory + "/" + name, bytes) ? wanted : std::string();
      });
  std::erase_if(differences, [](const std::string& one) { return one.ends_with(kAdded); });
  return differences;
}

}  // namespace comanda::backups
