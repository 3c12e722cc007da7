#pragma once

// Sorting the rows of an index would take more memory than there is where they are millions: while
// one of these lives, its connection sorts through files beside the database, whose file system has
// the room that was asked for. SQLite makes them for their owner alone and unlinks them at once;
// the connection asks for them as long as it lives, and is to be closed afterwards.

#include <string>

#include "engine/connection.h"

namespace comanda::db {

class SortingFiles {
 public:
  // One directory at a time in the whole process. Any thread.
  SortingFiles(Connection& writer, const std::string& directory);
  SortingFiles(const SortingFiles&) = delete;
  ~SortingFiles();
};

}  // namespace comanda::db
