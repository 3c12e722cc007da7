#pragma once

// The query string (contract section 1, Unknown query parameter; section 6). Every Refusal thrown
// here is invalid_parameter (400) and names the parameter and what would be accepted. Pure
// functions of the text.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time/clock.h"
#include "base/time/zone.h"

namespace comanda::http {

inline constexpr int64_t kPerPageDefault = 20;
inline constexpr int64_t kPerPageMax = 100;

struct Paging {
  int64_t page = 1;
  int64_t per_page = kPerPageDefault;
  int64_t offset() const { return (page - 1) * per_page; }
};

// A sort field, as its index in the list of allowed ones, and its direction.
struct Sort {
  size_t index = 0;
  bool descending = false;
};

class Query {
 public:
  // Decodes the query. Refuses an empty value, a repeated parameter, a malformed escape and invalid
  // UTF-8.
  static Query Parse(std::string_view raw);

  // Refuses parameters that are not in the list, with hints for page[size], limit, offset and bare
  // filter names. Names are full: "filter[status]".
  void AllowOnly(std::span<const std::string_view> names) const;

  std::optional<std::string_view> Find(std::string_view name) const;
  bool empty() const { return parameters_.empty(); }
  // Names and values as JSON texts, sorted by name: queries that mean the same have the same text.
  std::string Canonical() const;

  Paging ReadPaging() const;
  // `fields` are the allowed sort fields; default_sort like "-created_at".
  Sort ReadSort(std::span<const std::string_view> fields, std::string_view default_sort) const;
  // A comma list of words, case-insensitive; returns indexes into words, without repeats. Empty
  // when the parameter is absent.
  std::vector<size_t> ReadWords(std::string_view name,
                                std::span<const std::string_view> words) const;
  // A comma list of any words, in capitals. Empty when the parameter is absent.
  std::vector<std::string> ReadCapitals(std::string_view name) const;
  std::optional<bool> ReadBoolean(std::string_view name) const;
  std::optional<std::string> ReadUuid(std::string_view name) const;
  // One end of a period.
  struct Bound {
    UtcMs instant = 0;       // a start is part of the period, an end is not
    std::optional<Day> day;  // where a day was sent
  };
  // Reads an RFC 3339 instant, or a day: its first instant, or, for is_end, that of the next day.
  std::optional<Bound> ReadDayOrInstant(std::string_view name, const Days& days, bool is_end) const;
  std::optional<UtcMs> ReadInstant(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> parameters_;
};

// The text after the rows of a list: ],"pagination":{…}}
std::string ListTail(Paging paging, int64_t total);

}  // namespace comanda::http
