#include "orders/list.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/problem.h"
#include "company/day_filter.h"
#include "events/cursor.h"
#include "events/log.h"
#include "orders/list_store.h"
#include "orders/orders.h"
#include "orders/record.h"
#include "orders/search.h"
#include "orders/store.h"
#include "orders/stored_record.h"

namespace comanda::orders {
namespace {

constexpr std::string_view kIncludeParameter = "filter[include]";
constexpr std::array<std::string_view, 4> kIncludeWords = {"none", "combos", "payments",
                                                           "discounts"};

Include ReadInclude(const http::Query& query) {
  if (!query.Find(kIncludeParameter)) return {};
  Include include{false, false, false};
  for (const size_t word : query.ReadWords(kIncludeParameter, kIncludeWords)) {
    if (word == 1) include.combos = true;
    if (word == 2) include.payments = true;
    if (word == 3) include.discounts = true;
  }
  return include;
}

// False where the page lacks the row, because it is damaged.
bool AddRow(db::Session& session, db::CompanyId company, const ListedRow& row, Include include,
            Page& page, http::PageRows& rows) {
  const auto add = [&](std::string_view record) {
    rows.Expect(row.page_rows);
    if (include == Include{}) {
      rows.Add(record);
    } else {
      rows.Add(Cut(std::string(record), include));
    }
    rows.MoveLast(row.place);
  };
  try {
    if (!row.location) throw Fault(Fault::Kind::kDamaged, "order " + row.id + " is damaged");
    if (row.record) {
      add(*row.record);
    } else {
      add(RenderFromRows(session, company, row.id));
      if (IsStored(*row.location)) page.remade.push_back(row.id);
    }
    return true;
  } catch (const Fault& fault) {
    if (fault.kind != Fault::Kind::kDamaged) throw;
    page.damage.push_back(fault.cause);
    return false;
  }
}

// Adds a message for each row that the total counts and the page lacks: an index refers to an order
// whose id is damaged.
void NoteMissing(int64_t listed, Page& page) {
  const int64_t expected =
      std::clamp<int64_t>(page.total - page.paging.offset(), 0, page.paging.per_page);
  for (int64_t row = listed; row < expected; ++row) {
    page.damage.push_back("an order that an index of the list names is not found");
  }
}

}  // namespace

void RequireListParameters(const http::Query& query) {
  http::RequireListParameters(
      query, ListFilters(),
      std::array{kIncludeParameter, company::kDayParameter, kSearchParameter});
}

Page FindPage(db::Session& session, db::CompanyId company, const http::Query& query, UtcMs now,
              http::PageRows& rows) {
  const http::Conditions conditions = ReadConditions(session, company, query);
  const std::optional<Search> search = ReadSearch(session, company, query);
  const http::Sort sort = query.ReadSort(kListSorts, "-created_at");
  const Include include = ReadInclude(query);
  Page page;
  page.paging = query.ReadPaging();
  int64_t listed = 0;
  const ListQuestion question{.conditions = conditions,
                              .sort = sort.index,
                              .descending = sort.descending,
                              .paging = page.paging};
  const auto put = [&](const ListedRow& row) {
    ++listed;
    return AddRow(session, company, row, include, page, rows);
  };
  page.total = search ? SelectFound(session, company, question, *search, now, put)
                      : SelectPage(session, company, question, put);
  NoteMissing(listed, page);
  const events::Extent log = events::ExtentOf(session, company);
  page.snapshot = http::SnapshotOf(query, log.last);
  page.cursor = events::Encode({log.epoch, log.last});
  return page;
}

}  // namespace comanda::orders
