#include "cloud/link/key_file.h"

#include "base/file.h"

namespace comanda::cloud {
namespace {

std::string PathIn(const std::string& data_directory) { return data_directory + "/cloud.key"; }

}  // namespace

std::optional<std::string> ReadKey(const std::string& data_directory) {
  std::optional<std::string> key = ReadFile(PathIn(data_directory));
  if (!key) return std::nullopt;
  key->erase(key->find_last_not_of(" \t\r\n") + 1);
  if (key->empty()) return std::nullopt;
  return key;
}

void WriteKey(const std::string& data_directory, std::string_view key) {
  ReplaceFile(PathIn(data_directory), std::string(key) + "\n", 0600);
}

void RemoveKey(const std::string& data_directory) { RemoveAll(PathIn(data_directory)); }

}  // namespace comanda::cloud
