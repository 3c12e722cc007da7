#include "db/sqlite/sorting_files.h"

#include <sqlite3.h>
#include <unistd.h>

#include <mutex>

#include "base/file.h"
#include "base/problem.h"

namespace comanda::db {
namespace {

std::mutex users_mutex;
int users = 0;  // guarded by users_mutex

// A kill before the unlinking leaves an empty file.
void DeleteLeftovers(const std::string& directory) {
  const auto names = FilesIn(directory);
  if (!names) return;
  for (const std::string& name : *names) {
    if (name.starts_with("etilqs_")) ::unlink((directory + "/" + name).c_str());
  }
}

}  // namespace

SortingFiles::SortingFiles(Connection& writer, const std::string& directory) {
  writer.Execute("PRAGMA temp_store = FILE");
  const std::lock_guard lock(users_mutex);
  if (users == 0) {
    DeleteLeftovers(directory);
    sqlite3_temp_directory = sqlite3_mprintf("%s", directory.c_str());
    if (!sqlite3_temp_directory) throw Fault(Fault::Kind::kUnavailable, "no memory for a path");
  }
  ++users;
}

SortingFiles::~SortingFiles() {
  const std::lock_guard lock(users_mutex);
  if (--users > 0) return;
  sqlite3_free(sqlite3_temp_directory);
  sqlite3_temp_directory = nullptr;
}

}  // namespace comanda::db
