#pragma once

// The SQL of GET /v1/orders: one statement for the exact total, and one for the page, which joins
// the orders' stored records.
//
// The total is read first. If all filters are values of a facet (orders/store.h), it is the sum of
// the facets' counts; else the matching rows are counted.
//
// The page is then read in one of two ways:
// - scanned: in the order of the index of the sort, until the page is full. For many matches, and
//   for filters by facets, which all these indexes have.
// - gathered: all matches are found first, and then sorted. For few matches, which the index of a
//   filter finds.
// Either way the ids of the page are found, sorted and cut in an inner query, and the records are
// joined to them in an outer one that does not sort: to sort rows SQLite holds them whole, so that
// it would hold all records of a page, up to 50 MiB, before the first could be counted against the
// answer's budget (http/page_rows.h). An engine may thus return the rows in any order: each is
// given with its place.
//
// A search finds the orders way by way, sorts their ids, and reads the page as one of few matches.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "db/session.h"
#include "http/list.h"
#include "orders/search.h"
#include "orders/store.h"

namespace comanda::orders {

// The filters of the list (contract section 7, Listing).
std::span<const http::ListFilter> ListFilters();
// Those of the query, with their values. Refusal invalid_parameter.
http::Conditions ReadConditions(db::Session& session, db::CompanyId company,
                                const http::Query& query);

// The fields that the list can be sorted by.
inline constexpr std::array<std::string_view, 5> kListSorts = {
    "created_at", "updated_at", "scheduled_delivery_date", "total", "order_number"};

struct ListQuestion {
  const http::Conditions& conditions;  // of ListFilters()
  size_t sort = 0;                     // of kListSorts
  bool descending = true;
  http::Paging paging;
};

struct ListedRow {
  std::string id;
  std::optional<RecordLocation> location;  // of its record; nothing: the row is damaged
  // The stored record, valid during the call; nothing: it is not stored, or damaged.
  std::optional<std::string_view> record;
  // How many of the rows that were put on the page before belong before this one.
  size_t place = 0;
  // How many rows the page has, this one included.
  size_t page_rows = 0;
};
// Puts a row on the page; false where the page lacks it.
using PutRow = std::function<bool(const ListedRow&)>;

// Calls `put` for each row of the page as it is read, and returns the number of all matches. An
// exception of `put` ends the reading.
int64_t SelectPage(db::Session& session, db::CompanyId company, const ListQuestion& question,
                   const PutRow& put);

// The same of the orders that the search finds. Reads the ids of all of them.
int64_t SelectFound(db::Session& session, db::CompanyId company, const ListQuestion& question,
                    const Search& search, UtcMs now, const PutRow& put);

}  // namespace comanda::orders
