#include "ops/files_in_use.h"

#include <sys/stat.h>

#include <utility>

#include "base/file.h"
#include "base/problem.h"
#include "crypto/hash.h"

namespace comanda::ops {
namespace {

// Another state means that the content may be another one.
std::string StateOf(const std::string& path) {
  struct stat found = {};
  if (::stat(path.c_str(), &found) != 0) return "";
  return std::to_string(found.st_ino) + " " + std::to_string(found.st_size) + " " +
         std::to_string(found.st_ctim.tv_sec) + "." + std::to_string(found.st_ctim.tv_nsec);
}

}  // namespace

FilesInUse::File FilesInUse::Look(std::string name, std::string path) {
  File file{.name = std::move(name), .path = std::move(path)};
  file.state = StateOf(file.path);
  try {
    if (const auto content = ReadFile(file.path)) file.digest = crypto::Sha256Hex(*content);
  } catch (const Fault&) {  // as if it were empty
  }
  return file;
}

void FilesInUse::Note(const config::Options& options, const std::string& system_authorities) {
  std::vector<File> files;
  const auto add = [&](const char* name, const std::string& path) {
    if (!path.empty()) files.push_back(Look(name, path));
  };
  add("tls_certificate", options.tls_certificate);
  add("tls_key", options.tls_key);
  add("webhook_ca", options.webhook_ca);
  add("cloud_ca_file", options.cloud_ca_file);
  add("the system's authorities", system_authorities);
  const std::lock_guard lock(mutex_);
  files_ = std::move(files);
}

std::string FilesInUse::Trouble() const {
  std::vector<File> files;
  {
    const std::lock_guard lock(mutex_);
    files = files_;
  }
  std::string trouble;
  for (const File& file : files) {
    if (StateOf(file.path) == file.state && !file.digest.empty()) continue;
    const File now = Look(file.name, file.path);
    if (!now.digest.empty() && now.digest == file.digest) continue;
    trouble += (trouble.empty() ? "" : "; ") + file.name + " (" + file.path + ") ";
    if (!now.digest.empty()) {
      trouble += "is newer than what is used: `systemctl reload comanda`";
      continue;
    }
    trouble += now.state.empty() ? "is missing: " : "cannot be read: ";
    trouble += file.digest.empty() ? "the server runs without it"
                                   : "its former content is used until the next start or reload";
  }
  return trouble;
}

}  // namespace comanda::ops
