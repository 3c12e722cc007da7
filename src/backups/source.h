#pragma once

// A directory that is to be restored: a backup, or a former data directory, e.g. the one that an
// earlier restore has set aside. It is read and never opened as a database: what works in it makes
// it a database in use. Functions throw Refusal, with what to do, where the directory cannot be
// restored, and Fault where the disk fails.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace comanda::backups {

struct Source {
  std::string path;
  std::string name;  // of the backup, for messages; the path, or the sealed file that it came from
  // A former data directory: its write-ahead logs belong to the databases.
  bool was_in_use = false;
  int64_t schema = 0;  // of live.db
  bool has_sandbox = false;
  std::string sandbox_damage;  // why it is left out; empty: it is not
  // Each names a file and says what is wrong: what its size and the checksums of the backup
  // (sums.h) tell. Whether the rows are sound is for who opens the copy.
  std::vector<std::string> damage;
};

// Refusal where this is no backup of this program, a server works in it, or its database is of a
// schema above `schema_known`.
Source Inspect(const std::string& path, int64_t schema_known);

// Unseals a sealed backup (sealed.h) into `to`/unsealed, and looks at what was in it. Refusal for a
// wrong passphrase, or a file that is not what was sealed.
Source Unsealed(const std::string& file, const std::string& to, const std::string& passphrase,
                int64_t schema_known);

// Called between pieces of some MiB; ends the copy by throwing.
using GoOn = std::function<void()>;

// Copies what a data directory is made of into the directory `to`: databases, settings,
// certificates, providers. Each file is on disk when this returns, the directories are not. Other
// files, and symbolic links, are left out.
void CopyInto(const Source& source, const std::string& to, const GoOn& go_on);
// Copies one file, `name` being relative to both directories, and makes the directories between. A
// source below `to` is the caller's own, an unsealed backup: its files are moved.
// False where there is none.
bool CopyOne(const std::string& from, const std::string& to, const std::string& name,
             const GoOn& go_on);
// The same of all files of a directory, without its subdirectories.
void CopyAll(const std::string& from, const std::string& to, const std::string& name,
             const GoOn& go_on);

// The bytes that CopyInto() writes.
int64_t BytesOf(const Source& source);

}  // namespace comanda::backups
