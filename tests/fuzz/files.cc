// What lies in files that a person or another program may have written: the first byte picks which.
// 0: comanda.conf, in which a setting is changed. 1: B2SUMS of a backup.

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "backups/sums.h"
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

constexpr void (*kReaders[])(std::string_view) = {ReadSettings, ReadSums};

}  // namespace
}  // namespace comanda

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  comanda::fuzz::ReadBy(comanda::kReaders, comanda::fuzz::TextOf(data, size));
  return 0;
}
