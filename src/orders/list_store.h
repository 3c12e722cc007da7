#pragma once

// The SQL of GET /v1/orders: one statement for the exact total, and one for the page.
//
// The total is read first. If all filters are values of a facet (orders/store.h), it is the sum of
// the facets' counts; else the matching rows of the most selective index are counted.
//
// The page is then read in one of two ways, which the total decides:
// - scanned: reads the index of the sort until the page is full, and the rows where a filter tests
// a
//   column that the index does not have. For many matches.
// - gathered: reads all matches with the index of a filter, and sorts them. For few matches.
//
// A search reads all orders that it finds, way by way, and sorts them.
//
// The records are not joined to the page. SQL orders whole rows, so that it would hold all records
// of a page, up to 50 MiB, before the first could be counted against the answer's budget
// (http/page_rows.h). Each is read by its key when its row is added, which is about 4 % of what a
// page costs.

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/session.h"
#include "http/list.h"
#include "orders/record.h"
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
  std::optional<RecordLocation>
      location;  // where its record is stored; nothing: the row is damaged
};

// Calls `add` for each row of the page as it is read, and returns the number of all matches. An
// exception of `add` ends the reading.
int64_t SelectPage(db::Session& session, db::CompanyId company, const ListQuestion& question,
                   const std::function<void(const ListedRow&)>& add);

// The same of the orders that the search finds. Reads all of them, and sorts them.
int64_t SelectFound(db::Session& session, db::CompanyId company, const ListQuestion& question,
                    const Search& search, UtcMs now,
                    const std::function<void(const ListedRow&)>& add);

}  // namespace comanda::orders
