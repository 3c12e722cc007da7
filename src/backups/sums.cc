#include "backups/sums.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/file.h"
#include "base/problem.h"
#include "base/text.h"
#include "crypto/secret_stream.h"

namespace comanda::backups {
namespace {

constexpr size_t kPieceBytes = 256 * 1024;
constexpr size_t kDigestLetters = 128;

std::string SumOf(const std::string& path) {
  const Fd fd = OpenToRead(path);
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

void AddSums(const std::string& root, const std::string& below,
             std::map<std::string, std::string>& sums) {
  const std::string directory = root + (below.empty() ? "" : "/" + below);
  const auto files = FilesIn(directory);
  const auto directories = DirectoriesIn(directory);
  if (!files || !directories) {
    throw Fault(Fault::Kind::kInternal, "cannot read " + directory + ": " + std::strerror(errno));
  }
  const std::string start = below.empty() ? "" : below + "/";
  for (const std::string& name : *files) sums[start + name] = SumOf(directory + "/" + name);
  for (const std::string& name : *directories) AddSums(root, start + name, sums);
}

// "DIGEST  PATH". Empty path: another form.
std::pair<std::string, std::string> ParseLine(std::string_view line) {
  if (line.size() <= kDigestLetters + 2 || line.substr(kDigestLetters, 2) != "  ") return {};
  return {std::string(line.substr(kDigestLetters + 2)),
          std::string(line.substr(0, kDigestLetters))};
}

}  // namespace

std::map<std::string, std::string> SumsOf(const std::string& directory) {
  std::map<std::string, std::string> sums;
  AddSums(directory, "", sums);
  return sums;
}

void WriteSums(const std::string& directory) {
  std::string text;
  for (const auto& [path, sum] : SumsOf(directory)) text += sum + "  " + path + "\n";
  ReplaceFile(directory + "/" + kSumsFile, text, 0600);
}

std::vector<std::string> Differences(const std::string& listed,
                                     const std::map<std::string, std::string>& found) {
  std::vector<std::string> differences;
  std::map<std::string, std::string> wanted;
  std::string_view rest = listed;
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
      differences.push_back(Visible(path) + " was not there when the backup was made");
    }
  }
  return differences;
}

std::vector<std::string> CheckSums(const std::string& directory) {
  const auto listed = ReadFile(directory + "/" + kSumsFile);
  if (!listed) {
    return {"there is no " + std::string(kSumsFile) +
            ": the backup was copied in part, or is no backup"};
  }
  return Differences(*listed, SumsOf(directory));
}

}  // namespace comanda::backups
