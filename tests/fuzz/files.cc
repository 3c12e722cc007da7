// What lies in files that a person or another program may have written: the first byte picks which.
// 0: comanda.conf, in which a setting is changed. 1: B2SUMS of a backup. 2: a sealed backup, with
// which the bytes are combined by "exclusive or".

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "backups/sealed.h"
#include "backups/sums.h"
#include "base/file.h"
#include "config/options.h"
#include "fuzz/fuzz.h"

namespace comanda {
namespace {

using fuzz::Must;

// Deleted with the process.
class Directory {
 public:
  Directory()
      : path_(std::filesystem::temp_directory_path() /
              ("fuzz-files-" + std::to_string(::getpid()))) {
    std::filesystem::create_directory(path_);
  }
  ~Directory() { std::filesystem::remove_all(path_); }
  std::string path() const { return path_.string(); }
  void Put(const char* name, std::string_view content) const {
    std::ofstream(path_ / name, std::ios::binary | std::ios::trunc) << content;
  }

 private:
  std::filesystem::path path_;
};

void ReadSettings(std::string_view text) {
  static const Directory directory;
  directory.Put("comanda.conf", text);
  try {
    const config::Options options = config::Load({{"data", directory.path()}});
    // What is read can be changed, and is read with the change.
    const config::FileChange change(directory.path(), {{"cloud_poll_seconds", "17"}});
    change.Write();
    const config::Options changed = config::Load({{"data", directory.path()}});
    Must(changed.cloud_poll_seconds == 17 && changed.listen == options.listen &&
             changed.log_level == options.log_level,
         "a change changes one setting");
  } catch (const Refusal& refusal) {
    fuzz::CheckRefusal(refusal);
  }
}

void ReadSums(std::string_view text) {
  const std::string sum(128, 'a');
  const std::map<std::string, std::string> found = {{"live.db", sum}, {"tls/ca.crt", sum}};
  const std::string listed(text);
  for (const std::string& difference : backups::Differences(listed, found)) {
    Must(difference.find('\n') == std::string::npos, "a difference is one line");
  }
  if (backups::Differences(listed, found).empty()) {
    Must(listed.find("live.db") != std::string::npos && listed.find(sum) != std::string::npos,
         "a backup without differences has what is listed");
  }
}

std::string SealedBackup(const Directory& directory) {
  const std::string from = directory.path() + "/plain", file = directory.path() + "/genuine";
  std::filesystem::create_directory(from);
  directory.Put("plain/live.db", std::string(3'000, 'o'));
  backups::Seal(from, file, "passphrase", {.passes = 1, .memory_kib = 8});
  return ReadFile(file).value_or("");
}

void ReadSealedBackup(std::string_view change) {
  constexpr size_t kMemoryAt = 20;
  constexpr uint32_t kQuickMax = 4 * 1024;
  static const Directory directory;
  static const std::string genuine = SealedBackup(directory);
  std::string sealed = genuine;
  if (change.size() > sealed.size()) sealed.resize(change.size());
  for (size_t i = 0; i < change.size(); ++i) {
    sealed[i] = static_cast<char>(sealed[i] ^ change[i]);
  }
  uint32_t memory_kib = 0;
  std::memcpy(&memory_kib, sealed.data() + kMemoryAt, sizeof memory_kib);
  // As much as a genuine one takes is right, and too slow here.
  if (memory_kib > kQuickMax && memory_kib <= crypto::KeyCost{}.memory_kib) return;
  directory.Put("changed", sealed);
  try {
    const auto read = backups::ReadSealed(directory.path() + "/changed", "passphrase");
    Must(sealed == genuine && read.size() == 1, "a change of any byte is noticed");
  } catch (const Refusal& refusal) {
    Must(sealed != genuine && !refusal.detail.empty(), "a genuine one is read, others are refused");
  }
}

constexpr void (*kReaders[])(std::string_view) = {ReadSettings, ReadSums, ReadSealedBackup};

}  // namespace
}  // namespace comanda

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  comanda::fuzz::ReadBy(comanda::kReaders, comanda::fuzz::TextOf(data, size));
  return 0;
}
