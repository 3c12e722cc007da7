#pragma once

// The parts of a statement: its text and the values bound to it.
//
// SQL text has a type of its own. An Sql is made at compile time from a string literal and from
// nothing else, so that text of a request cannot become part of a statement. Values are bound to
// the parameters $1…$n. A statement that varies at run time is joined from literals by the
// ClauseBuilder (db/clause_builder.h).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "db/company_id.h"

namespace comanda::db {

// A view of a literal, which lives as long as the program: its address names the statement in the
// cache of a connection.
class Sql {
 public:
  // From an array whose characters the compiler knows: a literal or a constexpr array.
  template <size_t kSize>
  consteval Sql(const char (&literal)[kSize]) : text_(literal, kSize - 1) {}
  template <size_t kSize>
  Sql(char (&buffer)[kSize]) = delete;

  constexpr std::string_view text() const { return text_; }
  constexpr bool empty() const { return text_.empty(); }

 private:
  std::string_view text_;
};

// Whether a statement needs copies of the texts that are bound to it.
enum class Copies : uint8_t { kCopied, kOutliveTheStatement };

// One value to bind: text, a 64-bit integer, or null. It does not own the text, which must be valid
// until the query is started.
class Bound {
 public:
  enum class Kind : uint8_t { kNull, kInteger, kText };

  Bound(std::nullptr_t) : kind_(Kind::kNull) {}
  Bound(std::nullopt_t) : kind_(Kind::kNull) {}
  Bound(int64_t value) : kind_(Kind::kInteger), integer_(value) {}
  Bound(int value) : kind_(Kind::kInteger), integer_(value) {}
  Bound(CompanyId company) : kind_(Kind::kInteger), integer_(company.value) {}
  Bound(bool value) : kind_(Kind::kInteger), integer_(value ? 1 : 0) {}
  Bound(std::string_view value) : kind_(Kind::kText), text_(value) {}
  Bound(const std::string& value) : kind_(Kind::kText), text_(value) {}
  Bound(const char* value) : kind_(Kind::kText), text_(value) {}
  template <typename T>
  Bound(const std::optional<T>& value) : Bound(value ? Bound(*value) : Bound(nullptr)) {}

  Kind kind() const { return kind_; }
  int64_t integer() const { return integer_; }     // if kind() is kInteger
  std::string_view text() const { return text_; }  // if kind() is kText

 private:
  Kind kind_;
  int64_t integer_ = 0;
  std::string_view text_;
};

}  // namespace comanda::db
