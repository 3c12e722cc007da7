#pragma once

// The SQL of GET /v1/orders: a page is one statement, its exact total one more.
//
// The total comes first. Where the filters look only at facets (store.h) it is a sum of their
// counts; else the rows of the narrowest index are counted.
//
// The page is then read in one of two ways:
// - scanned: along the index of the sort, which also has the columns that filters test, until the
//   page is full. Right where many orders match.
// - gathered: found by an index of the filter, and sorted. Right where few orders match, which the
//   total says.

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
#include "orders/store.h"

namespace comanda::orders {

// The filters of the list (contract section 7, Listing).
std::span<const http::ListFilter> ListFilters();

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
  std::optional<RecordPlace> place;  // of its record; none where the order's row is damaged
};

// Gives the rows of the page to `add`, each as it is read, and returns how many match in all. What
// `add` throws ends the reading.
int64_t SelectPage(db::Session& session, db::CompanyId company, const ListQuestion& question,
                   const std::function<void(const ListedRow&)>& add);

}  // namespace comanda::orders
