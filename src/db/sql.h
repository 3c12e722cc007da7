#pragma once

// What a statement is made of: its text and the values bound to it.
//
// SQL text is a type. An Sql is made at compile time from a string literal and from nothing else,
// so that text built at run time (a request's, a name, a number) cannot become part of a statement.
// Values are bound to the parameters $1…$n. The one way to vary a statement at run time is the
// ClauseBuilder, which joins literals (db/clause_builder.h).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "db/company_id.h"

namespace comanda::db {

class Sql {
 public:
  // An array whose characters are known to the compiler: a literal, or a constexpr array.
  template <size_t kSize>
  consteval Sql(const char (&literal)[kSize]) : text_(literal, kSize - 1) {}
  template <size_t kSize>
  Sql(char (&buffer)[kSize]) = delete;

  constexpr std::string_view text() const { return text_; }
  constexpr bool empty() const { return text_.empty(); }

 private:
  std::string_view text_;
};

// One value to bind: text, a 64-bit integer, or null. It is a view: what it was made from must live
// until the query was started.
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
  int64_t integer() const { return integer_; }     // of kInteger
  std::string_view text() const { return text_; }  // of kText

 private:
  Kind kind_;
  int64_t integer_ = 0;
  std::string_view text_;
};

}  // namespace comanda::db
