#include "app/served.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <map>
#include <string_view>

#include "base/file.h"
#include "base/problem.h"

namespace comanda::app {
namespace {

constexpr const char* kHead =
    "# What this data directory has served: inode and birth of each database, and its changes; "
    "whether\n"
    "# devices trust its authority. Comanda writes it, to know at the next start what was lost or\n"
    "# replaced. Leave it here.\n";
constexpr const char* kAuthority = "tls";
constexpr const char* kSuccessor = ".repaired";  // behind the name of the database

using Notes = std::map<std::string, Served>;

std::string PathIn(const std::string& data_directory) { return data_directory + "/served"; }

std::string_view TakeUntil(std::string_view& rest, char end) {
  const size_t at = std::min(rest.find(end), rest.size());
  const std::string_view taken = rest.substr(0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return taken;
}

// A line contains database, inode, birth time and changes. Other lines are ignored.
Notes ReadNotes(const std::string& data_directory) {
  Notes notes;
  std::optional<std::string> text;
  try {
    text = ReadFile(PathIn(data_directory));
  } catch (const Fault&) {
    // A file of another user is there and cannot be read. Read as an empty one, it would say that
    // the database is a restored copy and that no device trusts the authority.
    if (!AccessAdvice({PathIn(data_directory)}).empty()) throw;
    return notes;
  }
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  while (!rest.empty()) {
    std::string_view line = TakeUntil(rest, '\n');
    if (line.starts_with('#')) continue;
    const std::string database(TakeUntil(line, ' '));
    Served served{.file = std::string(TakeUntil(line, ' '))};
    served.file += " " + std::string(TakeUntil(line, ' '));
    const auto [end, error] =
        std::from_chars(line.data(), line.data() + line.size(), served.changes);
    if (error == std::errc() && end == line.data() + line.size()) notes[database] = served;
  }
  return notes;
}

}  // namespace

std::optional<Served> FindServed(const std::string& data_directory, const std::string& database) {
  const Notes notes = ReadNotes(data_directory);
  const auto found = notes.find(database);
  if (found == notes.end()) return std::nullopt;
  return found->second;
}

void NoteServed(const std::string& data_directory, const std::string& database,
                const Served& served) {
  Notes notes = ReadNotes(data_directory);
  if (const auto found = notes.find(database); found != notes.end() && found->second == served) {
    return;
  }
  notes[database] = served;
  std::string text = kHead;
  for (const auto& [name, note] : notes) {
    text += name + " " + note.file + " " + std::to_string(note.changes) + "\n";
  }
  ReplaceFile(PathIn(data_directory), text, 0600);
}

void NoteSuccessor(const std::string& data_directory, const std::string& database,
                   const Served& successor) {
  NoteServed(data_directory, database + kSuccessor, successor);
}

std::optional<bool> IsAsServed(const std::string& data_directory, const std::string& database,
                               const Served& now) {
  const auto noted = FindServed(data_directory, database);
  if (!noted) return std::nullopt;
  if (now.changes < noted->changes) return false;
  if (now.file == noted->file) return true;
  const auto successor = FindServed(data_directory, database + kSuccessor);
  return successor && now.file == successor->file;
}

void NoteTrustedAuthority(const std::string& data_directory) {
  NoteServed(data_directory, kAuthority, {.file = "trusted 0"});
}

void RefuseLostAuthority(const std::string& data_directory) {
  if (!FindServed(data_directory, kAuthority)) return;
  const std::string directory = data_directory + "/tls";
  for (const char* file : {"/ca.crt", "/ca.key", "/server.crt", "/server.key"}) {
    if (IsThere(directory + file)) return;
  }
  throw Fault(Fault::Kind::kDamaged,
              directory +
                  " is gone or empty, and devices trust the authority that was there: restore the "
                  "directory from a backup, or `comanda tls renew-authority --data " +
                  data_directory + "` makes a new one, which every device must then install");
}

void RefuseLostDatabase(const std::string& data_directory) {
  const std::string path = data_directory + "/live.db";
  struct stat found = {};
  const bool is_there = ::stat(path.c_str(), &found) == 0;
  if (is_there ? found.st_size > 0 : errno != ENOENT) return;
  // The first start makes live.db, its line in DIR/served, test.db and the certificates, in this
  // order. Older programs did not write DIR/served: the other files show that they were here.
  const std::string certificate = data_directory + "/tls/server.crt";
  const bool has_served =
      FindServed(data_directory, "live.db") || IsThere(certificate) || IsThere(path + "-wal") ||
      (is_there &&
       (IsThere(data_directory + "/test.db") || IsThere(data_directory + "/tls/ca.crt")));
  if (!has_served) return;
  throw Fault(Fault::Kind::kDamaged,
              path + (is_there ? " is empty" : " is missing") +
                  ", though this box has served: restore a backup; or, to begin a new restaurant, "
                  "delete " +
                  path + "*, " + PathIn(data_directory) + " and " + certificate +
                  " (tls/ca.crt stays, devices go on trusting it)");
}

}  // namespace comanda::app
