#include "db/session.h"

#include <sqlite3.h>

#include <new>

#include "base/check.h"

namespace comanda::db {
namespace {

// The schema's tables are STRICT: only damage puts another type into a column.
[[noreturn]] void ThrowNot(std::string_view type, const Statement& statement, int column) {
  throw Fault(Fault::Kind::kDamaged, "column " + std::to_string(column) + " is no " +
                                         std::string(type) + ": " + statement.sql);
}

// One call of the library for the value, where sqlite3_column_type(), _text() and _bytes() would
// each look for it. A value without a lock of its own may be read because the library is built
// for one thread per connection (SQLITE_THREADSAFE=2).
sqlite3_value* ValueAt(const Statement& statement, int column) {
  return sqlite3_column_value(statement.handle, column);
}

}  // namespace

Rows::Rows(Rows&& other) noexcept
    : connection_(std::exchange(other.connection_, nullptr)), statement_(other.statement_) {}

Rows::~Rows() {
  if (connection_) connection_->Give(*statement_);
}

bool Rows::Next() { return connection_->Step(*statement_); }

bool Rows::IsNullAt(int column) const {
  return sqlite3_value_type(ValueAt(*statement_, column)) == SQLITE_NULL;
}

int64_t Rows::IntAt(int column) const {
  sqlite3_value* const value = ValueAt(*statement_, column);
  if (sqlite3_value_type(value) != SQLITE_INTEGER) ThrowNot("number", *statement_, column);
  return sqlite3_value_int64(value);
}

bool Rows::BoolAt(int column) const {
  const int64_t number = IntAt(column);
  if (number != 0 && number != 1) ThrowNot("boolean", *statement_, column);
  return number == 1;
}

std::string_view Rows::ViewAt(int column) const {
  sqlite3_value* const value = ValueAt(*statement_, column);
  const int type = sqlite3_value_type(value);
  if (type == SQLITE_NULL) return {};
  if (type != SQLITE_TEXT) ThrowNot("text", *statement_, column);
  const unsigned char* text = sqlite3_value_text(value);
  if (!text) throw std::bad_alloc();
  return {reinterpret_cast<const char*>(text), static_cast<size_t>(sqlite3_value_bytes(value))};
}

std::optional<std::string> Rows::OptionalTextAt(int column) const {
  if (IsNullAt(column)) return std::nullopt;
  return TextAt(column);
}

std::optional<int64_t> Rows::OptionalIntAt(int column) const {
  if (IsNullAt(column)) return std::nullopt;
  return IntAt(column);
}

Rows Session::StartBuilt(const ClauseBuilder& sql) {
  return StartBound(connection_.Take(sql.sql()), sql.values().data(), sql.values().size(),
                    Copies::kCopied);
}

void Session::RequireBase(Sql base, const ClauseBuilder& sql) {
  CHECK(sql.IsMadeOf(base), "rows are read as what the builder began with");
}

std::optional<int64_t> Session::FirstInt(Rows rows) {
  if (!rows.Next()) return std::nullopt;
  return rows.IntAt(0);
}

std::optional<std::string> Session::FirstText(Rows rows) {
  if (!rows.Next()) return std::nullopt;
  return rows.TextAt(0);
}

int64_t Session::OnlyInt(Rows rows) {
  CHECK(rows.Next(), "an aggregate has one row");
  return rows.IntAt(0);
}

std::vector<std::string> Session::AllTexts(Rows rows) {
  std::vector<std::string> texts;
  while (rows.Next()) texts.push_back(rows.TextAt(0));
  return texts;
}

Rows Session::StartBound(Statement& statement, const Bound* values, size_t count, Copies texts) {
  Rows rows(connection_, statement);
  if (statement.positions.size() != count) {
    throw Fault(Fault::Kind::kInternal, "SQL with " + std::to_string(statement.positions.size()) +
                                            " parameters got " + std::to_string(count) +
                                            " values: " + statement.sql);
  }
  const auto lifetime = texts == Copies::kCopied ? SQLITE_TRANSIENT : SQLITE_STATIC;
  for (size_t i = 0; i < count; ++i) {
    const Bound& value = values[i];
    const int position = statement.positions[i];
    int code = SQLITE_OK;
    switch (value.kind()) {
      case Bound::Kind::kNull:  // a cleared parameter is null
        break;
      case Bound::Kind::kInteger:
        code = sqlite3_bind_int64(statement.handle, position, value.integer());
        break;
      case Bound::Kind::kText: {
        // Without an address SQLite would bind null instead of the empty text.
        const char* text = value.text().data() ? value.text().data() : "";
        code = sqlite3_bind_text64(statement.handle, position, text, value.text().size(), lifetime,
                                   SQLITE_UTF8);
        break;
      }
    }
    if (code != SQLITE_OK) connection_.Fail(code, statement.sql);
  }
  return rows;
}

void Session::ThrowDamaged(Sql sql, std::string cause) {
  connection_.NoteDamage();
  throw Fault(Fault::Kind::kDamaged, std::move(cause) + ": " + std::string(sql.text()));
}

int64_t Tx::Changes() const { return sqlite3_changes64(connection_.handle()); }

}  // namespace comanda::db
