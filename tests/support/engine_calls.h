#pragma once

// What a piece of work asks of SQLite and the disk. The program is linked so that every call of the
// functions below passes through engine_calls.cc first (--wrap, CMakeLists.txt): of any thread and
// any connection.

#include <functional>
#include <string>
#include <vector>

namespace comanda::testing {

struct EngineCalls {
  std::vector<std::string> statements;  // that began to run, but those that follow
  int transactions = 0;                 // BEGIN, of readers and of the writer
  std::vector<std::string> prepared;    // compiled: none where all statements are cached
  int opens = 0;                        // of database files
  int syncs = 0;                        // fsync and fdatasync
};

// The calls from the begin of `work` to its end. One at a time.
EngineCalls CallsOf(const std::function<void()>& work);

}  // namespace comanda::testing
