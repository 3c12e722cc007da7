#include "db/index_sweep.h"

#include <algorithm>

namespace comanda::db {
namespace {

constexpr int kPieceRows = 250;

class ReadTransaction {
 public:
  explicit ReadTransaction(Connection& connection) : connection_(connection) {
    connection_.Execute("BEGIN");
  }
  ReadTransaction(const ReadTransaction&) = delete;
  ~ReadTransaction() { connection_.Rollback(); }

 private:
  Connection& connection_;
};

std::string And(const std::string& condition) {
  return condition.empty() ? "" : " AND (" + condition + ")";
}

// "($1, $2)", from that number on.
std::string Parameters(size_t first, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    text += (i == 0 ? "($" : ", $") + std::to_string(first + i);
  }
  return text + ")";
}

// The keys of the next rows behind `from`, in the order in which the tree has them.
std::vector<Row> NextKeys(Connection& connection, const Table& table, const Row& from) {
  const std::string key = QuotedList(table.key);
  std::string sql = "SELECT " + key + " FROM " + Quoted(table.name) + table.own_tree;
  if (!from.empty()) sql += " WHERE (" + key + ") > " + Parameters(1, from.size());
  return RowsOf(connection, sql + " ORDER BY " + key + " LIMIT " + std::to_string(kPieceRows),
                from);
}

bool InOrder(const Row& from, const std::vector<Row>& rows) {
  for (size_t i = 0; i < rows.size(); ++i) {
    const Row& before = i == 0 ? from : rows[i - 1];
    if (!before.empty() && rows[i] <= before) return false;
  }
  return true;
}

// " AND NOT EXISTS (…)": of the row `r` there is no entry in the index.
std::string AndHasNoEntry(const Table& table, const Index& index) {
  std::string sql = And(index.where) + " AND NOT EXISTS (SELECT 1 FROM " + Quoted(table.name) +
                    " AS i INDEXED BY " + Quoted(index.name) + " WHERE 1" + And(index.where);
  for (const std::string& column : index.columns) {
    sql += " AND i." + Quoted(column) + " IS r." + Quoted(column);
  }
  return sql + ")";
}

// Whether a row between these keys, the first excluded, has no entry in the index.
bool LacksAnEntry(Connection& connection, const Table& table, const Index& index, const Row& from,
                  const Row& to) {
  const std::string key = QuotedList(table.key, "r.");
  std::string sql = "SELECT count(*) FROM " + Quoted(table.name) + " AS r" + table.own_tree +
                    " WHERE (" + key + ") <= " + Parameters(1, to.size());
  Row values = to;
  if (!from.empty()) {
    sql += " AND (" + key + ") > " + Parameters(1 + to.size(), from.size());
    values.insert(values.end(), from.begin(), from.end());
  }
  sql += AndHasNoEntry(table, index);
  return RowsOf(connection, sql, values).front()[0] != Value(int64_t{0});
}

// The next entries behind `from`: those that share all of its columns but the last and are greater
// in that one, then those that share one column less, and so on. Null comes first.
std::vector<Row> NextEntries(Connection& connection, const Table& table, const Index& index,
                             const Row& from) {
  const std::string columns = QuotedList(index.columns);
  std::vector<Row> entries;
  for (size_t shared = from.empty() ? 0 : from.size() - 1; entries.size() < kPieceRows; --shared) {
    std::string sql = "SELECT " + columns + " FROM " + Quoted(table.name) + " INDEXED BY " +
                      Quoted(index.name) + " WHERE 1" + And(index.where);
    Row values;
    for (size_t i = 0; i < from.size() && i <= shared; ++i) {
      const bool is_null = std::holds_alternative<std::monostate>(from[i]);
      const std::string column = " AND " + Quoted(index.columns[i]);
      if (i == shared && is_null) {
        sql += column + " IS NOT NULL";
      } else {
        values.push_back(from[i]);
        sql += column + (i < shared ? " IS $" : " > $") + std::to_string(values.size());
      }
    }
    sql += " ORDER BY " + columns + " LIMIT " + std::to_string(kPieceRows - entries.size());
    for (Row& entry : RowsOf(connection, sql, values)) entries.push_back(std::move(entry));
    if (shared == 0) break;
  }
  return entries;
}

bool HasRow(Connection& connection, const Table& table, const Index& index, const Row& entry) {
  std::string sql =
      "SELECT 1 FROM " + Quoted(table.name) + table.own_tree + " WHERE 1" + And(index.where);
  for (size_t i = 0; i < entry.size(); ++i) {
    const bool in_key = std::ranges::find(table.key, index.columns[i]) != table.key.end();
    sql += " AND " + Quoted(index.columns[i]) + (in_key ? " = $" : " IS $") + std::to_string(i + 1);
  }
  return !RowsOf(connection, sql, entry).empty();
}

}  // namespace

std::vector<Row> RowsWithoutEntry(Connection& connection, const Table& table, const Index& index) {
  constexpr int kMax = 20;
  return RowsOf(connection, "SELECT " + QuotedList(table.primary_key, "r.") + " FROM " +
                                Quoted(table.name) + " AS r" + table.own_tree + " WHERE 1" +
                                AndHasNoEntry(table, index) + " LIMIT " + std::to_string(kMax));
}

Findings IndexSweep::Run(const Table& table) {
  Findings findings;
  connection_ = open_();
  const bool has_expression =
      std::ranges::any_of(table.indexes, [](const Index& index) { return index.has_expression; });
  if (has_expression) return IntegrityCheck(*connection_, table);
  try {
    SweepRows(table, findings);
    for (const Index& index : table.indexes) {
      if (!findings.indexes.contains(index.name)) SweepEntries(table, index, findings);
    }
  } catch (const Fault& fault) {
    if (!PageUnreadable(connection_->trouble())) throw;
    findings.pages += fault.cause + "\n";
  }
  connection_.reset();
  return findings;
}

void IndexSweep::SweepRows(const Table& table, Findings& findings) {
  Row from;
  while (pause_()) {
    std::vector<Row> keys;
    {
      const ReadTransaction transaction(*connection_);
      keys = NextKeys(*connection_, table, from);
    }
    if (keys.empty()) return;
    const bool disorder = !InOrder(from, keys) && Confirmed([&](Connection& connection) {
      return !InOrder(from, NextKeys(connection, table, from));
    });
    const Row to = std::ranges::max(keys);
    for (const Index& index : table.indexes) {
      if (findings.indexes.contains(index.name)) continue;
      const auto lacks = [&](Connection& connection) {
        return LacksAnEntry(connection, table, index, from, to);
      };
      if (lacks(*connection_) && Confirmed(lacks)) findings.indexes.insert(index.name);
    }
    if (disorder) {
      findings.rows.push_back("rows of " + table.name + " are not in the order of their key");
      return;  // nothing sure can be said of what follows
    }
    from = to;
  }
}

void IndexSweep::SweepEntries(const Table& table, const Index& index, Findings& findings) {
  Row from;
  std::vector<Row> entries;
  const auto is_wrong = [&](Connection& connection) {
    const ReadTransaction transaction(connection);
    entries = NextEntries(connection, table, index, from);
    return !InOrder(from, entries) || !std::ranges::all_of(entries, [&](const Row& entry) {
      return HasRow(connection, table, index, entry);
    });
  };
  while (pause_()) {
    if (is_wrong(*connection_) && Confirmed(is_wrong)) {
      findings.indexes.insert(index.name);
      return;
    }
    if (entries.empty()) return;
    from = entries.back();
  }
}

bool IndexSweep::Confirmed(const std::function<bool(Connection&)>& is_wrong) {
  connection_ = open_();
  return is_wrong(*connection_);
}

}  // namespace comanda::db
