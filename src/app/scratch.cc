#include "app/scratch.h"

#include "base/file.h"
#include "base/problem.h"
#include "base/random.h"

namespace comanda::app {
namespace {

constexpr std::string_view kName = "drill-unfinished.";

}  // namespace

Scratch::Scratch(const std::string& data_directory) {
  path_ =
      data_directory + "/" + std::string(kName) + std::to_string(100'000 + RandomBelow(900'000));
  MakeDirectories(path_, 0700);
  lock_ = db::DirectoryLock::TryAcquire(path_);
}

Scratch::~Scratch() { RemoveAll(path_); }

std::vector<std::string> RemoveScratches(const std::string& data_directory) {
  std::vector<std::string> removed;
  for (const std::string& name :
       DirectoriesIn(data_directory).value_or(std::vector<std::string>())) {
    if (!name.starts_with(kName)) continue;
    const std::string path = data_directory + "/" + name;
    try {
      const auto lock = db::DirectoryLock::TryAcquire(path);
      if (!lock) continue;
      RemoveAll(path);
      removed.push_back(path);
    } catch (const Fault&) {  // of another user: the next start of the server removes it
    }
  }
  return removed;
}

}  // namespace comanda::app
