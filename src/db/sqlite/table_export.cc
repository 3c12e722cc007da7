#include "db/sqlite/table_export.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/file.h"
#include "base/problem.h"
#include "base/text.h"
#include "crypto/secret_stream.h"
#include "db/read_only.h"
#include "db/sqlite/migrate.h"
#include "db/sqlite/table_rows.h"
#include "engine/connection.h"

namespace comanda::db {
namespace {

constexpr size_t kPieceBytes = 1 << 20;
// What is written and not synced stays little: else the next commit of a till waits until the disk
// has all of it.
constexpr int64_t kSyncBytes = 16 << 20;

class TableFile {
 public:
  explicit TableFile(std::string path) : path_(std::move(path)), fd_(CreateFile(path_, 0600)) {}

  // What is appended here goes into the file.
  std::string& piece() { return piece_; }
  void WriteIfLarge() {
    if (piece_.size() >= kPieceBytes) Write();
  }
  void Finish(ExportedTable& table) {
    Write();
    SyncFile(fd_, path_);
    table.bytes = bytes_;
    table.sum = sum_.Finish();
  }

 private:
  void Write() {
    WriteAll(fd_, piece_, path_);
    sum_.Add(piece_);
    bytes_ += static_cast<int64_t>(piece_.size());
    if (bytes_ / kSyncBytes != synced_) SyncFile(fd_, path_);
    synced_ = bytes_ / kSyncBytes;
    piece_.clear();
  }

  const std::string path_;
  const Fd fd_;
  std::string piece_;
  crypto::Blake2b sum_;
  int64_t bytes_ = 0;
  int64_t synced_ = 0;
};

void AppendInteger(std::string& out, int64_t value) {
  std::array<char, 24> digits;
  out.append(digits.data(), std::to_chars(digits.begin(), digits.end(), value).ptr);
}

// The first values of a row, which lead its primary key.
std::string NameOfRow(sqlite3_stmt* row) {
  constexpr int kValues = 3;
  std::string name;
  for (int i = 0; i < std::min(kValues, sqlite3_column_count(row)); ++i) {
    const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(row, i));
    name += (i > 0 ? ", " : "") + Visible(text ? text : "null");
  }
  return name;
}

class TableExport {
 public:
  TableExport(Connection& connection, ExportedTable table, const std::string& directory)
      : connection_(connection),
        table_(std::move(table)),
        file_(directory + "/" + table_.FileName()) {
    Running columns(connection, "SELECT name, type FROM pragma_table_info('" + table_.name + "')");
    while (columns.Step()) {
      table_.columns.push_back(columns.Text(0));
      are_integers_.push_back(columns.Text(1) == "INTEGER");
    }
  }

  ExportedTable Run() {
    Running rows(connection_, RowsOf(table_.name));
    while (Step(rows)) {
      AppendRow(rows.handle());
      ++table_.rows;
      file_.WriteIfLarge();
    }
    file_.Finish(table_);
    return std::move(table_);
  }

 private:
  // A page that makes no sense does not say which rows it had: those before it are known alone.
  bool Step(Running& rows) {
    try {
      return rows.Step();
    } catch (const Fault& fault) {
      throw Fault(fault.kind, "the table " + Name() + " cannot be read behind row " +
                                  std::to_string(table_.rows) + ": " + fault.cause);
    }
  }

  void AppendRow(sqlite3_stmt* row) {
    std::string& out = file_.piece();
    for (size_t i = 0; i < are_integers_.size(); ++i) {
      if (i > 0) out += '\t';
      const auto column = static_cast<int>(i);
      const int type = sqlite3_column_type(row, column);
      if (type == SQLITE_NULL) {
        out += "\\N";
      } else if (type == SQLITE_INTEGER && are_integers_[i]) {
        AppendInteger(out, sqlite3_column_int64(row, column));
      } else if (type == SQLITE_TEXT && !are_integers_[i]) {
        const std::string_view text(reinterpret_cast<const char*>(sqlite3_column_text(row, column)),
                                    static_cast<size_t>(sqlite3_column_bytes(row, column)));
        if (!IsUtf8(text)) ThrowDamaged(row, i, "is not UTF-8");
        if (text.find('\0') != text.npos) ThrowDamaged(row, i, "has the character U+0000");
        AppendForCopy(out, text);
      } else {
        ThrowDamaged(row, i, "is of another type");
      }
    }
    out += '\n';
  }

  std::string Name() const { return table_.schema + "." + table_.name; }

  [[noreturn]] void ThrowDamaged(sqlite3_stmt* row, size_t column, const std::string& how) const {
    throw Fault(Fault::Kind::kDamaged, "the table " + Name() + " has a damaged row (" +
                                           NameOfRow(row) + "): " + table_.columns[column] + " " +
                                           how);
  }

  Connection& connection_;
  ExportedTable table_;
  std::vector<bool> are_integers_;
  TableFile file_;
};

void RequireKnown(Connection& connection, const std::string& path, int64_t schema_known) {
  const int64_t id = connection.Integer("PRAGMA application_id");
  const int64_t found = connection.Integer("PRAGMA user_version");
  if (id != kInUseId && id != kBackupId) {
    throw Refusal(Problem::kValidationFailed,
                  path + " is empty, or the database of another program");
  }
  if (found > schema_known) {
    throw Refusal(Problem::kValidationFailed, OfNewerProgram(path, found, schema_known));
  }
  if (found == schema_known) return;
  throw Refusal(Problem::kValidationFailed,
                path + " is of an older version (schema " + std::to_string(found) +
                    ", this program has " + std::to_string(schema_known) +
                    "): with the server stopped, `comanda audit` upgrades it, that of the sandbox "
                    "`comanda audit --env test`");
}

}  // namespace

void AppendForCopy(std::string& out, std::string_view text) {
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char letter = text[i];
    switch (letter) {
      case '\\':
        break;
      case '\t':
        letter = 't';
        break;
      case '\n':
        letter = 'n';
        break;
      case '\r':
        letter = 'r';
        break;
      default:
        continue;
    }
    out.append(text, begin, i - begin);
    out += '\\';
    out += letter;
    begin = i + 1;
  }
  out.append(text, begin);
}

std::vector<ExportedTable> ExportTables(const std::string& path, const std::string& directory,
                                        const std::string& schema, int64_t schema_known,
                                        const Clock& clock,
                                        const std::function<void(Session& session)>& look) {
  const Onlooker onlooker(path);
  Connection connection(path, Connection::Role::kService, "", clock, onlooker.sharing());
  connection.RunScript("BEGIN; SELECT count(*) FROM sqlite_schema");
  RequireKnown(connection, path, schema_known);
  Session session(connection);
  look(session);
  std::vector<ExportedTable> tables;
  for (const Made& made : MadeBySchema(connection, true)) {
    ExportedTable table{.schema = schema, .name = made.name, .columns = {}, .sum = {}};
    tables.push_back(TableExport(connection, std::move(table), directory).Run());
  }
  connection.RunScript("COMMIT");
  onlooker.RequireStill();
  SyncDirectory(directory + "/" + schema);
  return tables;
}

}  // namespace comanda::db
