#pragma once

// Which orders stand on a page of the list, and how many there are in all, in milliseconds however
// many orders and pages there are. Three ways:
// - by tallies (buckets.h), which count each facet: the index that sorts is entered near the page,
// and
//   facets are looked at in its entries; sorted by creation, the index of the facets is entered;
// - gathered and sorted: what few there are, and what a client or a table has, from an index with
// all
//   that lists sort by;
// - met on a walk along the index that sorts, which has created_at and the facet in it: what is
// many. The last two are chosen between by what they cost. What takes longer at a million orders: a
// page in the middle of a hundred thousand that were chosen by a time and are sorted by something
// else.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "db/session.h"
#include "http/list.h"
#include "orders/store.h"

namespace comanda::orders {

struct Period {
  UtcMs from = std::numeric_limits<UtcMs>::min();
  UtcMs to = std::numeric_limits<UtcMs>::max();  // left out

  bool whole() const { return *this == Period{}; }
  bool operator==(const Period&) const = default;
};

// What the filters choose.
struct Selection {
  // Those of the facets' filters with their orders; nothing: no such filter.
  std::optional<std::vector<Facet>> facets;
  Period created, updated;
  std::optional<int64_t> snapshot;
  const http::Conditions* others = nullptr;  // with clauses of their own: Counted::kNo
};

enum class SortBy : uint8_t { kCreated, kUpdated, kScheduled, kTotal, kNumber };
struct Sorting {
  SortBy by = SortBy::kCreated;
  Direction direction = Direction::kDescending;
};

struct Found {
  std::vector<std::string> ids;  // of the page
  int64_t total = 0;
};
Found FindOrders(db::Session& session, db::CompanyId company, const Selection& selection,
                 Sorting sorting, const http::Paging& paging);

}  // namespace comanda::orders
