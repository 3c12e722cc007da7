#include "db/postgresql/dialect.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "base/concat.h"
#include "base/problem.h"

namespace comanda::db {
namespace {

enum class Kind : uint8_t { kSpace, kWord, kQuotedName, kText, kNumber, kSign };

struct Token {
  Kind kind;
  std::string_view text;
  std::string word;  // of kWord: in capitals
};

// How a statement may begin.
constexpr std::array<std::string_view, 10> kBeginnings = {
    "CREATE TABLE ", "CREATE INDEX ", "CREATE UNIQUE INDEX ", "ALTER TABLE ",
    "DROP TABLE ",   "DROP INDEX ",   "INSERT INTO ",         "UPDATE ",
    "DELETE FROM ",  "WITH "};

// What may stand before a parenthesis: functions that do the same on both.
constexpr std::array<std::string_view, 15> kFunctions = {
    "CAST",   "COALESCE", "COUNT",   "DENSE_RANK", "LENGTH", "LOWER", "MAX", "MIN",
    "NULLIF", "RANK",     "REPLACE", "ROW_NUMBER", "SUBSTR", "SUM",   "TRIM"};

// The same for words that are no functions.
constexpr std::array<std::string_view, 37> kKeywords = {
    "ALL",     "AND",       "AS",     "BETWEEN",   "BY",     "CASE",         "CHECK", "CONFLICT",
    "DEFAULT", "DISTINCT",  "ELSE",   "EXCEPT",    "EXISTS", "FILTER",       "FROM",  "HAVING",
    "IN",      "INTERSECT", "JOIN",   "KEY",       "LIMIT",  "MATERIALIZED", "NOT",   "OFFSET",
    "ON",      "OR",        "OVER",   "RETURNING", "SELECT", "SET",          "THEN",  "UNION",
    "UNIQUE",  "USING",     "VALUES", "WHEN",      "WHERE"};

// What stands before a name that has its columns in parentheses.
constexpr std::array<std::string_view, 7> kBeforeColumns = {
    "AS", "EXISTS", "INTO", "RECURSIVE", "REFERENCES", "TABLE", "WITH"};

// Words that PostgreSQL does not have, or understands otherwise: LIKE minds the case there.
constexpr std::array<std::string_view, 13> kRefused = {
    "AUTOINCREMENT", "COLLATE", "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP",
    "GENERATED",     "GLOB",    "INDEXED",      "LIKE",         "MATCH",
    "OID",           "REGEXP",  "_ROWID_"};

constexpr std::array<std::string_view, 13> kSigns = {"(", ")", ",", ".", "=", "<", ">",
                                                     "+", "-", "*", "/", "%", ";"};
constexpr std::array<std::string_view, 5> kLongSigns = {"||", "<>", "<=", ">=", "!="};

template <typename List>
bool IsIn(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// A statement in one line, for the message.
std::string Shown(std::string_view statement) {
  constexpr size_t kShownMax = 200;
  std::string line;
  for (const char c : statement.substr(0, kShownMax)) {
    const bool is_space = c == ' ' || c == '\n' || c == '\t';
    if (!is_space) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  return line;
}

[[noreturn]] void Refuse(std::string_view why, std::string_view statement) {
  throw Fault(Fault::Kind::kInternal,
              Concat({"no statement for both engines (", why, "): ", Shown(statement)}));
}

bool IsWordByte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) || c == '_' || byte >= 0x80;
}

// Reads a script token by token, as SQLite does; refuses what PostgreSQL reads otherwise.
class Lexer {
 public:
  explicit Lexer(std::string_view script) : script_(script) {}

  std::optional<Token> Next() {
    if (at_ == script_.size()) return std::nullopt;
    const size_t begin = at_;
    const Kind kind = Skip();
    Token token{kind, script_.substr(begin, at_ - begin), {}};
    if (kind != Kind::kWord) return token;
    for (const char c : token.text) {
      token.word += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
    if (Here() == '\'') Refuse("a text with letters before it", script_.substr(begin));
    return token;
  }

 private:
  char Here(size_t ahead = 0) const {
    return at_ + ahead < script_.size() ? script_[at_ + ahead] : '\0';
  }

  // Moves behind the token that begins here.
  Kind Skip() {
    const char c = Here();
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++at_;
      return Kind::kSpace;
    }
    if (c == '-' && Here(1) == '-') {
      at_ = std::min(script_.find('\n', at_), script_.size());
      return Kind::kSpace;
    }
    if (c == '/' && Here(1) == '*') return SkipBlockComment();
    if (c == '\'' || c == '"') return SkipQuoted(c);
    if (c >= '0' && c <= '9') return SkipNumber();
    if (IsWordByte(c)) {
      while (IsWordByte(Here())) ++at_;
      return Kind::kWord;
    }
    return SkipSign();
  }

  Kind SkipBlockComment() {
    const size_t end = script_.find("*/", at_ + 2);
    if (end == std::string_view::npos) Refuse("a comment without end", script_.substr(at_));
    // PostgreSQL's nest.
    if (script_.substr(at_ + 2, end - at_ - 2).find("/*") != std::string_view::npos) {
      Refuse("a comment in a comment", script_.substr(at_));
    }
    at_ = end + 2;
    return Kind::kSpace;
  }

  Kind SkipQuoted(char quote) {
    const size_t begin = at_;
    do {
      // A doubled quote is one of the text.
      const size_t end = script_.find(quote, at_ + 1);
      if (end == std::string_view::npos) Refuse("a quote without end", script_.substr(begin));
      at_ = end + 1;
    } while (Here() == quote);
    return quote == '"' ? Kind::kQuotedName : Kind::kText;
  }

  Kind SkipNumber() {
    const size_t begin = at_;
    while (IsWordByte(Here()) || Here() == '.') ++at_;
    const std::string_view number = script_.substr(begin, at_ - begin);
    if (number.find_first_not_of("0123456789") != std::string_view::npos) {
      Refuse("a number that is no integer", script_.substr(begin));
    }
    return Kind::kNumber;
  }

  Kind SkipSign() {
    const size_t length = IsIn(kLongSigns, script_.substr(at_, 2)) ? 2 : 1;
    const std::string_view sign = script_.substr(at_, length);
    const bool is_fraction = sign == "." && Here(1) >= '0' && Here(1) <= '9';
    // "==" and "->" are SQLite's, or understood otherwise.
    const bool is_foreign = (sign == "=" && Here(1) == '=') || (sign == "-" && Here(1) == '>') ||
                            (sign == "<" && Here(1) == '<') || (sign == ">" && Here(1) == '>');
    if ((length == 1 && !IsIn(kSigns, sign)) || is_fraction || is_foreign) {
      Refuse(Concat({"the sign ", sign}), script_.substr(at_));
    }
    at_ += length;
    return Kind::kSign;
  }

  std::string_view script_;
  size_t at_ = 0;
};

// One statement: what it is, and what of it PostgreSQL is given.
class Translation {
 public:
  // `tokens` without the semicolon.
  explicit Translation(std::vector<Token> tokens) : all_(std::move(tokens)) {
    for (size_t i = 0; i < all_.size(); ++i) {
      if (all_[i].kind != Kind::kSpace) places_.push_back(i);
    }
    if (places_.empty()) return;
    const char* begin = all_[places_.front()].text.data();
    const Token& last = all_[places_.back()];
    text_ = {begin, static_cast<size_t>(last.text.data() + last.text.size() - begin)};
    // DROP TABLE IF EXISTS name: no statement needs more words to say what it is.
    for (size_t n = 0; n < std::min<size_t>(places_.size(), 5) && At(n).kind == Kind::kWord; ++n) {
      beginning_ += At(n).word + " ";
    }
  }

  // True where nothing of it is for PostgreSQL.
  bool IsForSqliteAlone() const {
    if (places_.empty()) return true;
    if (At(0).word == "PRAGMA" || At(0).word == "ANALYZE") return true;
    constexpr std::array<std::string_view, 5> kOnTable = {"INSERT INTO ", "UPDATE ", "DELETE FROM ",
                                                          "DROP TABLE ", "DROP TABLE IF EXISTS "};
    return std::any_of(kOnTable.begin(), kOnTable.end(), [this](std::string_view begin) {
      return beginning_.starts_with(Concat({begin, "SQLITE_STAT"}));
    });
  }

  // Throws where PostgreSQL might not do the same.
  std::string InPostgresql() {
    const auto is_beginning = [this](std::string_view begin) {
      return beginning_.starts_with(begin);
    };
    if (std::none_of(kBeginnings.begin(), kBeginnings.end(), is_beginning)) {
      Refuse("its kind", text_);
    }
    MatchParentheses();
    for (size_t n = 0; n < places_.size(); ++n) CheckToken(n);
    size_t end = places_.size();
    if (is_beginning("CREATE TABLE ")) end = CheckTable();
    if (is_beginning("ALTER TABLE ")) CheckAlteration();
    return Written(end);
  }

 private:
  const Token& At(size_t n) const { return all_[places_[n]]; }
  // The word at this place of the statement, in capitals; empty where there is none.
  std::string_view WordAt(size_t n) const {
    return n < places_.size() ? std::string_view(At(n).word) : "";
  }
  bool IsSign(size_t n, std::string_view sign) const {
    return n < places_.size() && At(n).kind == Kind::kSign && At(n).text == sign;
  }
  bool IsName(size_t n) const {
    return n < places_.size() && (At(n).kind == Kind::kWord || At(n).kind == Kind::kQuotedName);
  }

  void MatchParentheses() {
    closing_.assign(places_.size(), 0);
    std::vector<size_t> open;
    for (size_t n = 0; n < places_.size(); ++n) {
      if (IsSign(n, "(")) open.push_back(n);
      if (!IsSign(n, ")")) continue;
      if (open.empty()) Refuse("a parenthesis that none opens", text_);
      closing_[open.back()] = n;
      open.pop_back();
    }
    if (!open.empty()) Refuse("a parenthesis that none closes", text_);
  }

  void CheckToken(size_t n) const {
    const std::string_view word = WordAt(n);
    const bool is_rowid = word == "ROWID" && (n == 0 || WordAt(n - 1) != "WITHOUT");
    if (IsIn(kRefused, word) || is_rowid || word.starts_with("SQLITE_")) Refuse(At(n).text, text_);
    if ((word == "INSERT" || word == "UPDATE") && WordAt(n + 1) == "OR") {
      Refuse(Concat({word, " OR"}), text_);
    }
    if (word == "CAST") CheckCast(n);
    if (IsName(n) && IsSign(n + 1, "(")) CheckBeforeParenthesis(n);
  }

  // What stands before a parenthesis is a word of SQL, a function, or a name whose columns follow.
  void CheckBeforeParenthesis(size_t n) const {
    const std::string_view word = WordAt(n);
    if ((word == "MIN" || word == "MAX") && ArgumentsOf(n) > 1) {
      Refuse(Concat({At(n).text, " of several values"}), text_);
    }
    if (word == "SUBSTR") CheckSubstr(n);
    if (IsIn(kKeywords, word) || IsIn(kFunctions, word)) return;
    const std::string_view before = n > 0 ? WordAt(n - 1) : "";
    const bool is_of_index = before == "ON" && beginning_.find("INDEX ") != std::string::npos;
    // WITH first (…) AS (…), second (a, b) AS (…)
    const bool is_common_table =
        WordAt(closing_[n + 1] + 1) == "AS" && IsSign(closing_[n + 1] + 2, "(");
    if (IsIn(kBeforeColumns, before) || is_of_index || is_common_table) return;
    Refuse(Concat({"the function ", At(n).text}), text_);
  }

  size_t ArgumentsOf(size_t function) const {
    size_t count = 1;
    for (size_t n = function + 2; n < closing_[function + 1]; ++n) {
      if (IsSign(n, ",")) ++count;
      if (IsSign(n, "(")) n = closing_[n];
    }
    return count;
  }

  // A place before the first character counts from the end in SQLite alone.
  void CheckSubstr(size_t function) const {
    for (size_t n = function + 2; n < closing_[function + 1]; ++n) {
      if (IsSign(n, ",")) {
        const bool is_before = IsSign(n + 1, "-") || At(n + 1).text == "0";
        if (is_before) Refuse("substr from the end", text_);
        return;
      }
      if (IsSign(n, "(")) n = closing_[n];
    }
  }

  // CAST(… AS INTEGER), CAST(… AS TEXT)
  void CheckCast(size_t n) const {
    if (!IsSign(n + 1, "(")) return;
    const size_t end = closing_[n + 1];
    if (WordAt(end - 2) != "AS") Refuse("a CAST", text_);
    CheckType(end - 1);
  }

  void CheckType(size_t n) const {
    const std::string_view type = WordAt(n);
    if (type == "INTEGER" || type == "BIGINT" || type == "TEXT") return;
    const std::string_view shown = n < places_.size() ? At(n).text : "nothing";
    Refuse(Concat({"the type ", shown}), text_);
  }

  // CREATE TABLE name (column type …, constraint …) options. The place behind the columns.
  size_t CheckTable() const {
    size_t n = 0;
    while (n < places_.size() && !IsSign(n, "(")) ++n;
    if (n == places_.size()) Refuse("a table without columns", text_);
    const size_t end = closing_[n];
    CheckColumn(n + 1);
    for (++n; n < end; ++n) {
      if (IsSign(n, ",")) CheckColumn(n + 1);
      if (IsSign(n, "(")) n = closing_[n];
    }
    for (n = end + 1; n < places_.size(); ++n) {
      const bool is_known = IsSign(n, ",") || WordAt(n) == "STRICT" ||
                            (WordAt(n) == "WITHOUT" && WordAt(n + 1) == "ROWID");
      if (!is_known) Refuse(At(n).text, text_);
      if (WordAt(n) == "WITHOUT") ++n;
    }
    return end + 1;
  }

  void CheckColumn(size_t n) const {
    constexpr std::array<std::string_view, 5> kConstraints = {"CHECK", "CONSTRAINT", "FOREIGN",
                                                              "PRIMARY", "UNIQUE"};
    if (!IsIn(kConstraints, WordAt(n))) CheckType(n + 1);
  }

  // ALTER TABLE name ADD COLUMN name type …
  void CheckAlteration() const {
    if (WordAt(3) == "ADD") CheckType(WordAt(4) == "COLUMN" ? 6 : 5);
  }

  // As far as the token `end` of the statement.
  std::string Written(size_t end) const {
    std::string sql;
    for (size_t i = places_.front(); i <= places_[end - 1]; ++i) {
      sql += all_[i].word == "INTEGER" ? "BIGINT" : all_[i].text;
    }
    return sql;
  }

  std::vector<Token> all_;
  std::vector<size_t> places_;   // of those that are no space: where they are in all_
  std::vector<size_t> closing_;  // of an opening parenthesis: which one closes it
  std::string_view text_;        // of the migration
  std::string beginning_;        // its first words, each with a blank
};

}  // namespace

std::vector<std::string> ForPostgresql(std::string_view migration) {
  std::vector<std::string> statements;
  std::vector<Token> tokens;
  const auto end_statement = [&] {
    Translation translation(std::move(tokens));
    tokens.clear();
    if (!translation.IsForSqliteAlone()) statements.push_back(translation.InPostgresql());
  };
  Lexer lexer(migration);
  while (std::optional<Token> token = lexer.Next()) {
    if (token->kind == Kind::kSign && token->text == ";") {
      end_statement();
    } else {
      tokens.push_back(std::move(*token));
    }
  }
  end_statement();
  return statements;
}

}  // namespace comanda::db
