#pragma once

// What a database is opened with: its file, its schema, its limits and its door to the disk.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <optional>

#include "db/disk_space.h"
#include "db/health.h"

namespace comanda::db {

// One step of the schema (db/sqlite/migrate.h).
struct Migration {
  int number;  // 1, 2, 3 …: user_version after it
  std::string_view name;
  std::string_view sql;
};

struct Published;  // db/postgresql/published.h

// Which connections of a database a reader may use (db/readers.h).
enum class Readers : uint8_t {
  kShared,  // all but those that are kept for orders
  kOrders,  // any: lists of orders, single orders, and what placing an order reads
};

// With whom a connection shares the file (db/sqlite/file_calls.h).
enum class Sharing : uint8_t {
  kShared,  // with other connections, of this process and others
  kAlone,   // with nobody who writes
};

struct Settings {
  std::string path = {};
  std::string database = {};       // PostgreSQL: libpq's words for the connection
  std::string password_file = {};  // of it; empty: none is needed
  std::vector<Migration> migrations = {};
  int readers_max = 6;
  int readers_for_orders = 2;   // of those; one is left for the others in any case
  size_t queue_max = 1024;      // more: Fault kUnavailable at once
  size_t group_jobs_max = 256;  // one COMMIT takes at most so many jobs
  std::string vfs = {};         // SQLite's virtual file system: its default when empty
  DiskSpace* space = nullptr;   // measured, its ballast given up for a write; outlives the database
  bool is_guest = false;        // the space is for others: no ballast for it, no upgrade in need
  // Called with the step under way, now and then while the file is upgraded. What it throws ends
  // the upgrade.
  std::function<void(const std::string& step)> upgrading = {};
  // PostgreSQL: what this process has seen of the database while another one served it.
  std::optional<OwnerNote> standby_note = {};
  // PostgreSQL: called before the process ends because commits that were acknowledged are missing,
  // to be remembered by the next start: the number of the last one
  std::function<void(int64_t commits)> note_went_back = {};
  // PostgreSQL: what others may read in SQL; none where it is null. Outlives the database.
  const Published* published = nullptr;
  // PostgreSQL: the server that the writer is connected to, as Connection::host() has it; empty
  // where there is none yet. Readers ask no other: a former primary that hung and wakes would
  // answer them with what was so before. The database's own.
  std::function<std::string()> server_of_writer = {};
  // Called where a statement met what may be damage; the database's own. Any thread, not to throw.
  std::function<void()> suspect = {};

  // Whether the file system refuses writes; of the directory (db/read_only.h) where it is
  // empty.
  std::function<bool()> is_read_only = {};
  // This process does not own the directory (db/lock.h): it only reads, on a file system
  // that was read-only when it began, and writes nothing when that ends.
  bool is_onlooker = false;
  // The file system was read-only when the database was opened: nobody writes the file, and there
  // may be no -shm. Connections open it with Sharing::kAlone until end_alone. The database's own.
  bool begins_alone = false;
  // Closes the readers that have opened the file with Sharing::kAlone, calls `open`, and lets the
  // next ones open it with Sharing::kShared. False, and nothing is done, where a reader does not
  // end within seconds. The database's own; on the writer's thread.
  std::function<bool(const std::function<void()>& open)> end_alone = {};

  // PostgreSQL: "live", the schema of a database that is called live.db.
  std::string SchemaName() const {
    const std::string file = FileName();
    return file.substr(0, file.find('.'));
  }
  // "live.db", for the log.
  std::string FileName() const { return path.substr(path.rfind('/') + 1); }
  // "database=\"live\"", for the metrics.
  std::string MetricLabels() const { return "database=\"" + SchemaName() + "\""; }
};

}  // namespace comanda::db
