#include "db/session.h"

#include "base/check.h"
#include "engine/connection.h"

namespace comanda::db {

Rows::Rows(Rows&& other) noexcept
    : connection_(std::exchange(other.connection_, nullptr)), statement_(other.statement_) {}

Rows::~Rows() {
  if (connection_) connection_->Give(*statement_);
}

bool Rows::Next() { return connection_->Step(*statement_); }

bool Rows::IsNullAt(int column) const { return statement_->IsNull(column); }

int64_t Rows::IntAt(int column) const { return statement_->Int(column); }

bool Rows::BoolAt(int column) const {
  const int64_t number = IntAt(column);
  if (number != 0 && number != 1) ThrowNot("boolean", statement_->sql, column);
  return number == 1;
}

std::string_view Rows::ViewAt(int column) const { return statement_->View(column); }

std::optional<std::string> Rows::OptionalTextAt(int column) const {
  if (IsNullAt(column)) return std::nullopt;
  return TextAt(column);
}

std::optional<int64_t> Rows::OptionalIntAt(int column) const {
  if (IsNullAt(column)) return std::nullopt;
  return IntAt(column);
}

Rows Session::StartLiteral(Sql sql, const Bound* values, size_t count) {
  Rows rows(connection_, connection_.Take(sql));
  connection_.Bind(*rows.statement_, values, count, Copies::kCopied);
  return rows;
}

Rows Session::StartLarge(Sql sql, const Bound* values, size_t count) {
  Rows rows(connection_, connection_.TakeLarge(sql));
  connection_.Bind(*rows.statement_, values, count, Copies::kCopied);
  return rows;
}

Rows Session::StartBuilt(const ClauseBuilder& sql) {
  Rows rows(connection_, connection_.Take(sql.sql()));
  connection_.Bind(*rows.statement_, sql.values().data(), sql.values().size(), Copies::kCopied);
  return rows;
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

void Session::ThrowDamaged(Sql sql, std::string cause) {
  connection_.NoteDamage();
  throw Fault(Fault::Kind::kDamaged, std::move(cause) + ": " + std::string(sql.text()));
}

void Tx::RunLiteral(Sql sql, const Bound* values, size_t count) {
  const Rows rows(connection_, connection_.Take(sql));
  connection_.Bind(*rows.statement_, values, count, Copies::kOutliveTheStatement);
  connection_.Finish(*rows.statement_);
}

int64_t Tx::CountLiteral(Sql sql, const Bound* values, size_t count) {
  const Rows rows(connection_, connection_.Take(sql));
  connection_.Bind(*rows.statement_, values, count, Copies::kOutliveTheStatement);
  return connection_.FinishCounted(*rows.statement_);
}

}  // namespace comanda::db
