#pragma once

// The names of the columns that a statement returns, read from its text at compile time. With them
// a row is read by name at the cost of a read by number (db/session.h): a name that the statement
// does not return, or returns twice, does not compile, and columns can be listed in any order.
//
// A column is named by its alias, else by the last word of "o.id". An expression without an alias
// has no name.

#include <string_view>

namespace comanda::db::columns {

constexpr bool IsWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Steps over what stands at `at`: a whole quoted text, a whole word, or one character.
constexpr size_t EndOfToken(std::string_view sql, size_t at) {
  if (sql[at] == '\'') {
    const size_t end = sql.find('\'', at + 1);
    return end == sql.npos ? sql.size() : end + 1;
  }
  if (!IsWordCharacter(sql[at])) return at + 1;
  while (at < sql.size() && IsWordCharacter(sql[at])) ++at;
  return at;
}

// The list between SELECT (or RETURNING) and its FROM, outside of any parentheses.
constexpr std::string_view ListOf(std::string_view sql) {
  size_t begin = sql.npos;
  int depth = 0;
  for (size_t at = 0; at < sql.size();) {
    const size_t end = EndOfToken(sql, at);
    const std::string_view token = sql.substr(at, end - at);
    if (token == "(") ++depth;
    if (token == ")") --depth;
    if (depth == 0 && begin == sql.npos && (token == "SELECT" || token == "RETURNING")) {
      begin = end;
    } else if (depth == 0 && begin != sql.npos && token == "FROM") {
      return sql.substr(begin, at - begin);
    }
    at = end;
  }
  return begin == sql.npos ? std::string_view() : sql.substr(begin);
}

// Cuts the first column off the list and returns its name; "" where it has none.
constexpr std::string_view TakeName(std::string_view& list) {
  std::string_view last;
  int depth = 0;
  size_t at = 0;
  while (at < list.size()) {
    const size_t end = EndOfToken(list, at);
    const std::string_view token = list.substr(at, end - at);
    at = end;
    if (token == "(") ++depth;
    if (token == ")") --depth;
    if (token == "," && depth == 0) break;
    if (token != " " && token != "\n") last = token;
  }
  list.remove_prefix(at);
  return !last.empty() && IsWordCharacter(last.front()) ? last : std::string_view();
}

// How many columns the list has; 0 where there is neither SELECT nor RETURNING.
constexpr int Count(std::string_view sql) {
  std::string_view list = ListOf(sql);
  int count = 0;
  for (; !list.empty(); ++count) TakeName(list);
  return count;
}

// The number of the column, from 0; -1 where there is none of that name, or more than one.
constexpr int Find(std::string_view sql, std::string_view name) {
  std::string_view list = ListOf(sql);
  int found = -1;
  for (int column = 0; !list.empty(); ++column) {
    if (TakeName(list) != name) continue;
    if (found >= 0) return -1;
    found = column;
  }
  return found;
}

}  // namespace comanda::db::columns
