#include "engine/library.h"

#include "base/time/clock.h"
#include "base/line_limit.h"
#include "base/log.h"
#include "base/problem.h"

#include <sqlite3.h>

#include <cstdint>
#include <string_view>

namespace comanda::db {
namespace {

constexpr int kOldestLibrary = 3'051'003;
constexpr int64_t kHeapBytesMax = 256 << 20;

// While a call keeps failing, every attempt of every thread reports it.
constinit LineLimit lines_of_failures(5, 10'000);

// SQLite reports the system call behind an I/O error only here.
void OnLibraryLog(void*, int code, const char* text) noexcept {
  const std::string_view says = text ? text : "";
  const int kind = code & 0xff;
  if (kind == SQLITE_NOTICE) {
    log::Info("sqlite", {{"says", says}});
  } else if (kind == SQLITE_IOERR || kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB ||
             kind == SQLITE_CANTOPEN || kind == SQLITE_FULL) {
    if (!lines_of_failures.Allows(SystemClock().MonotonicMs())) return;
    log::Warning("sqlite", {{"says", says}, {"code", code}});
  }
}

}  // namespace

std::string LibraryName() { return "sqlite"; }

std::string LibraryVersion() { return sqlite3_libversion(); }

int LibraryVersionNumber() { return sqlite3_libversion_number(); }

void RequireLibrary() {
  static const int code = [] {
    sqlite3_config(SQLITE_CONFIG_LOG, &OnLibraryLog, nullptr);
    const int result = sqlite3_initialize();
    sqlite3_hard_heap_limit64(kHeapBytesMax);
    // The first use of SQLite's generator writes a variable that every opening of a file reads
    // without a lock: it is used here, before there are threads.
    char unused;
    sqlite3_randomness(sizeof unused, &unused);
    return result;
  }();
  if (LibraryVersionNumber() < kOldestLibrary) {
    throw Fault(Fault::Kind::kInternal, "SQLite " + LibraryVersion() +
                                            " can lose committed transactions; 3.51.3 is needed");
  }
  if (code != SQLITE_OK) {
    throw Fault(Fault::Kind::kInternal,
                "sqlite " + std::to_string(code) + " (" + sqlite3_errstr(code) + "): initialize");
  }
}

}  // namespace comanda::db
