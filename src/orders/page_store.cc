#include "orders/page_store.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "db/clause_builder.h"
#include "orders/buckets.h"

namespace comanda::orders {
namespace {

// So many rows are always gathered and sorted.
constexpr int64_t kFew = 2000;
// More orders since a snapshot than this are not taken out of the tallies one by one.
constexpr int64_t kNewerMax = 5000;
constexpr size_t kFacetsMax = 256;

// -- the indexes that sort
// --------------------------------------------------------------------------

// One of them, or the part of it that the tally counts.
struct Ladder {
  Tally tally;
  std::string_view rows;         // which stand in it
  std::string_view rows_of_few;  // the same, not by its index
  std::string_view at_least, below;
  std::string_view ascending, descending;

  std::string_view OrderBy(Direction direction) const {
    return direction == Direction::kAscending ? ascending : descending;
  }
};

constexpr Ladder kCreatedLadder = {Tally::kCreated,
                                   "",
                                   "",
                                   "o.created_at >= {}",
                                   "o.created_at < {}",
                                   "o.created_at, o.id",
                                   "o.created_at DESC, o.id DESC"};
constexpr Ladder kUpdatedLadder = {Tally::kUpdated,
                                   "",
                                   "",
                                   "o.updated_at >= {}",
                                   "o.updated_at < {}",
                                   "o.updated_at, o.id",
                                   "o.updated_at DESC, o.id DESC"};
constexpr Ladder kTotalLadder = {Tally::kTotal,
                                 "",
                                 "",
                                 "o.total >= {}",
                                 "o.total < {}",
                                 "o.total, o.id",
                                 "o.total DESC, o.id DESC"};
constexpr Ladder kNumberLadder = {Tally::kNumber,
                                  "",
                                  "",
                                  "o.order_number >= {}",
                                  "o.order_number < {}",
                                  "o.order_number, o.id",
                                  "o.order_number DESC, o.id DESC"};
// Nulls come last in both directions, so they are a list of their own behind the dates.
constexpr Ladder kScheduledLadders[] = {
    {Tally::kScheduled, "o.scheduled_delivery_date IS NOT NULL",
     "+o.scheduled_delivery_date IS NOT NULL", "o.scheduled_delivery_date >= {}",
     "o.scheduled_delivery_date < {}", "o.scheduled_delivery_date, o.id",
     "o.scheduled_delivery_date DESC, o.id DESC"},
    {Tally::kUnscheduled, "o.scheduled_delivery_date IS NULL", "+o.scheduled_delivery_date IS NULL",
     "o.id >= {}", "o.id < {}", "o.id", "o.id DESC"},
};

std::span<const Ladder> LaddersOf(SortBy by) {
  switch (by) {
    case SortBy::kCreated:
      return {&kCreatedLadder, 1};
    case SortBy::kUpdated:
      return {&kUpdatedLadder, 1};
    case SortBy::kScheduled:
      return kScheduledLadders;
    case SortBy::kTotal:
      return {&kTotalLadder, 1};
    case SortBy::kNumber:
      return {&kNumberLadder, 1};
  }
  return {};
}

// -- one question
// -----------------------------------------------------------------------------------

class Search {
 public:
  Search(db::Session& session, db::CompanyId company, const Selection& selection);

  int64_t Count() const;
  std::vector<std::string> FindPage(Sorting sorting, const http::Paging& paging,
                                    int64_t total) const;

 private:
  using Pass = std::function<bool(int64_t bucket, int64_t orders)>;

  const Period& PeriodOf(Tally tally) const;
  bool Has(const NewerOrder& order) const;
  bool HasFacet(int64_t facet) const { return facets_.contains(facet); }
  int64_t FacetOrders() const;
  bool CanTally(const Ladder& ladder) const;
  bool SortsByPeriod(const Ladder& ladder) const;
  bool AreFew(int64_t total, int64_t wanted) const;

  void EachCount(Tally tally, Direction direction, const Pass& pass) const;
  void EachGrouped(Buckets buckets, Direction direction, const Pass& pass) const;
  int64_t CountTallied(const Ladder& ladder) const;
  int64_t CountBetween(const Ladder& ladder, Period period) const;
  int64_t CountRows(std::string_view rows = "") const;

  std::vector<std::string> FindTallied(const Ladder& ladder, Direction direction, int64_t offset,
                                       int64_t limit) const;
  std::vector<std::string> FindAny(const Ladder& ladder, Direction direction, int64_t offset,
                                   int64_t limit, int64_t total) const;

  db::ClauseBuilder Select(std::string_view what) const;
  db::ClauseBuilder SelectFacets(std::string_view what) const;
  db::ClauseBuilder SelectBest(std::string_view what, int64_t total) const;
  // kAlongSort keeps the planner from the indexes of the periods.
  enum class Way : uint8_t { kAny, kAlongSort };
  void Narrow(db::ClauseBuilder& sql, Way way) const;

  db::Session& session_;
  const db::CompanyId company_;
  const Selection& selection_;
  std::map<int64_t, int64_t> facets_;  // those chosen, with their orders
  std::vector<NewerOrder> newer_;      // of those chosen
  bool tallies_hold_ = true;           // false: too many orders are newer than the snapshot
};

Search::Search(db::Session& session, db::CompanyId company, const Selection& selection)
    : session_(session), company_(company), selection_(selection) {
  if (selection.facets) {
    for (const Facet& facet : *selection.facets) facets_.emplace(facet.facet, facet.orders);
    tallies_hold_ = facets_.size() <= kFacetsMax;
  }
  if (!selection.snapshot) return;
  newer_ = SelectNewer(session, company, *selection.snapshot, kNewerMax + 1);
  if (std::cmp_greater(newer_.size(), kNewerMax)) tallies_hold_ = false;
  std::erase_if(newer_, [&](const NewerOrder& order) { return !Has(order); });
}

const Period& Search::PeriodOf(Tally tally) const {
  static constexpr Period kWhole;
  if (tally == Tally::kCreated) return selection_.created;
  return tally == Tally::kUpdated ? selection_.updated : kWhole;
}

bool Search::Has(const NewerOrder& order) const {
  const auto holds = [](const Period& period, UtcMs time) {
    return time >= period.from && time < period.to;
  };
  return (!selection_.facets || HasFacet(order.facet)) &&
         holds(selection_.created, order.keys.created_at) &&
         holds(selection_.updated, order.keys.updated_at);
}

int64_t Search::FacetOrders() const {
  int64_t orders = 0;
  for (const auto& [facet, count] : facets_) orders += count;
  return orders;
}

// Whether the tally knows all that is chosen: no other filter, and facets by creation alone.
bool Search::CanTally(const Ladder& ladder) const {
  if (!tallies_hold_ || !selection_.others->AllCounted()) return false;
  if (selection_.facets && ladder.tally != Tally::kCreated) return false;
  return (ladder.tally == Tally::kCreated || selection_.created.whole()) &&
         (ladder.tally == Tally::kUpdated || selection_.updated.whole());
}

// -- counting by tallies
// ----------------------------------------------------------------------------

// Facet by facet, added up by bucket.
void Search::EachGrouped(Buckets buckets, Direction direction, const Pass& pass) const {
  int64_t current = 0, orders = 0;
  bool goes_on = true;
  EachFacetBucket(session_, company_, buckets, direction,
                  [&](int64_t bucket, int64_t facet, int64_t count) {
                    if (!HasFacet(facet)) return true;
                    if (bucket != current && orders > 0) goes_on = pass(current, orders);
                    if (bucket != current) orders = 0;
                    current = bucket;
                    orders += count;
                    return goes_on;
                  });
  if (goes_on && orders > 0) pass(current, orders);
}

// What is chosen, by bucket. At the ends of a period the rows themselves are counted.
void Search::EachCount(Tally tally, Direction direction, const Pass& pass) const {
  std::map<int64_t, int64_t> newer;
  for (const NewerOrder& order : newer_) {
    for (const Mark& mark : MarksOf(order.keys)) {
      if (mark.tally == tally) ++newer[mark.bucket];
    }
  }
  const Period& period = PeriodOf(tally);
  Buckets buckets;
  if (!period.whole()) buckets = {TimeBucket(period.from), TimeBucket(period.to - 1)};
  const Ladder& ladder = tally == Tally::kUpdated ? kUpdatedLadder : kCreatedLadder;
  const Pass chosen = [&](int64_t bucket, int64_t orders) {
    if (!period.whole()) {
      const Period part = {std::max(period.from, TimeLow(bucket)),
                           std::min(period.to, TimeLow(bucket + 1))};
      if (part != Period{TimeLow(bucket), TimeLow(bucket + 1)}) {
        orders = CountBetween(ladder, part);
      }
    }
    const auto found = newer.find(bucket);
    return pass(bucket, found == newer.end() ? orders : orders - found->second);
  };
  if (selection_.facets) {
    EachGrouped(buckets, direction, chosen);
  } else {
    EachBucket(session_, company_, tally, buckets, direction, chosen);
  }
}

int64_t Search::CountTallied(const Ladder& ladder) const {
  int64_t total = 0;
  EachCount(ladder.tally, Direction::kAscending, [&](int64_t, int64_t orders) {
    total += orders;
    return true;
  });
  return total;
}

// Newer ones included, as in the tallies.
int64_t Search::CountBetween(const Ladder& ladder, Period period) const {
  db::ClauseBuilder sql = selection_.facets ? SelectFacets("count(*)") : Select("count(*)");
  sql.And(ladder.at_least, period.from).And(ladder.below, period.to);
  return http::Count(session_, sql);
}

int64_t Search::Count() const {
  if (!CanTally(kCreatedLadder)) {
    return CanTally(kUpdatedLadder) ? CountTallied(kUpdatedLadder) : CountRows();
  }
  if (!selection_.facets || !selection_.created.whole()) return CountTallied(kCreatedLadder);
  return FacetOrders() - static_cast<int64_t>(newer_.size());
}

// -- pages by tallies
// -------------------------------------------------------------------------------

std::vector<std::string> Search::FindTallied(const Ladder& ladder, Direction direction,
                                             int64_t offset, int64_t limit) const {
  PageFinder page(offset, limit);
  EachCount(ladder.tally, direction,
            [&](int64_t bucket, int64_t orders) { return page.Pass(bucket, orders); });
  if (!page.found()) return {};

  db::ClauseBuilder sql = selection_.facets ? SelectFacets("o.id") : Select("o.id");
  if (!ladder.rows.empty()) sql.And(ladder.rows);
  const int64_t first = page.low_bucket(), behind = page.high_bucket() + 1;
  const std::string first_id = IdLow(first), behind_id = IdLow(behind);
  switch (ladder.tally) {
    case Tally::kCreated:
    case Tally::kUpdated:
    case Tally::kScheduled: {
      const Period& period = PeriodOf(ladder.tally);
      sql.And(ladder.at_least, std::max(period.from, TimeLow(first)));
      sql.And(ladder.below, std::min(period.to, TimeLow(behind)));
      break;
    }
    case Tally::kUnscheduled:
      sql.And(ladder.at_least, first_id).And(ladder.below, behind_id);
      break;
    case Tally::kTotal:
    case Tally::kNumber:
      sql.And(ladder.at_least, AmountLow(first)).And(ladder.below, AmountLow(behind));
      break;
  }
  if (selection_.snapshot) sql.And("+o.created_seq <= {}", *selection_.snapshot);
  sql.OrderBy(ladder.OrderBy(direction)).Limit(limit, page.skip());
  return http::FindIds(session_, sql);
}

// -- all others
// -------------------------------------------------------------------------------------

db::ClauseBuilder Search::Select(std::string_view what) const {
  return {"SELECT " + std::string(what) + " FROM orders o WHERE o.company_id = $1", {company_}};
}

// By the index of the facets. The join says in which order: left to itself the planner, which
// cannot know how many orders have a facet, may read them all. Filled up with what is no facet, so
// that there are few different statements.
db::ClauseBuilder Search::SelectFacets(std::string_view what) const {
  std::vector<db::Bound> values = {company_};
  for (const auto& [facet, orders] : facets_) values.emplace_back(facet);
  values.resize(1 + std::bit_ceil(std::max<size_t>(facets_.size(), 1)), int64_t{-1});
  std::string numbers = "($2)";
  for (size_t i = 2; i < values.size(); ++i) numbers += ", ($" + std::to_string(i + 1) + ")";
  return {"SELECT " + std::string(what) + " FROM (VALUES " + numbers +
              ") AS f CROSS JOIN orders o WHERE o.company_id = $1 AND o.facet = f.column1",
          std::move(values)};
}

// Every filter but the facets'. The plus keeps the planner from an index.
void Search::Narrow(db::ClauseBuilder& sql, Way way) const {
  const bool any = way == Way::kAny;
  const Period &created = selection_.created, &updated = selection_.updated;
  const Period whole;
  if (created.from != whole.from) {
    sql.And(any ? "o.created_at >= {}" : "+o.created_at >= {}", created.from);
  }
  if (created.to != whole.to) sql.And(any ? "o.created_at < {}" : "+o.created_at < {}", created.to);
  if (updated.from != whole.from) {
    sql.And(any ? "o.updated_at >= {}" : "+o.updated_at >= {}", updated.from);
  }
  selection_.others->Narrow(sql, http::Counted::kNo);
  if (selection_.snapshot) sql.And("+o.created_seq <= {}", *selection_.snapshot);
}

// By the facets where they choose few rows, or most of those that all filters choose; else they are
// looked at in each row.
db::ClauseBuilder Search::SelectBest(std::string_view what, int64_t total) const {
  if (!selection_.facets) return Select(what);
  if (facets_.size() <= kFacetsMax && FacetOrders() <= std::max(kFew, 2 * total)) {
    return SelectFacets(what);
  }
  std::vector<db::Bound> list;
  for (const auto& [facet, orders] : facets_) list.emplace_back(facet);
  db::ClauseBuilder sql = Select(what);
  sql.And("+o.facet IN ({})", list);
  return sql;
}

// Of one of the two lists that a sort may have, or of both.
int64_t Search::CountRows(std::string_view rows) const {
  db::ClauseBuilder sql = SelectBest("count(*)", 0);
  if (!rows.empty()) sql.And(rows);
  Narrow(sql, Way::kAny);
  return http::Count(session_, sql);
}

// Whether the one period that is asked for is a stretch of the index that sorts.
bool Search::SortsByPeriod(const Ladder& ladder) const {
  const bool by_created = !selection_.created.whole(), by_updated = !selection_.updated.whole();
  return (by_created && !by_updated && ladder.tally == Tally::kCreated) ||
         (by_updated && !by_created && ladder.tally == Tally::kUpdated);
}

// Whether it costs less to gather all rows than to meet those of the pages up to this one on a
// walk, as far from each other as chance puts them.
bool Search::AreFew(int64_t total, int64_t wanted) const {
  return total <= kFew ||
         total <= wanted * CountOrders(session_, company_) / std::max<int64_t>(total, 1);
}

// Many are met soon on a walk along the index that sorts. Of few the plus before the first sort key
// leaves the planner no index but those of the filters.
std::vector<std::string> Search::FindAny(const Ladder& ladder, Direction direction, int64_t offset,
                                         int64_t limit, int64_t total) const {
  const bool few = AreFew(total, offset + limit);
  db::ClauseBuilder sql = SelectBest("o.id", few ? total : 0);
  const std::string_view rows = few ? ladder.rows_of_few : ladder.rows;
  if (!rows.empty()) sql.And(rows);
  Narrow(sql, few || SortsByPeriod(ladder) ? Way::kAny : Way::kAlongSort);
  const std::string order(ladder.OrderBy(direction));
  sql.OrderBy(few ? "+" + order : order).Limit(limit, offset);
  return http::FindIds(session_, sql);
}

std::vector<std::string> Search::FindPage(Sorting sorting, const http::Paging& paging,
                                          int64_t total) const {
  std::vector<std::string> ids;
  int64_t offset = paging.offset();
  for (const Ladder& ladder : LaddersOf(sorting.by)) {
    const int64_t limit = paging.per_page - static_cast<int64_t>(ids.size());
    const bool tallied = CanTally(ladder);
    std::vector<std::string> more = tallied
                                        ? FindTallied(ladder, sorting.direction, offset, limit)
                                        : FindAny(ladder, sorting.direction, offset, limit, total);
    std::ranges::move(more, std::back_inserter(ids));
    if (std::cmp_equal(ids.size(), paging.per_page) || ladder.tally != Tally::kScheduled) break;
    // The rest comes from the list behind this one.
    const int64_t passed = tallied ? CountTallied(ladder)
                                   : CountRows(total <= kFew ? ladder.rows_of_few : ladder.rows);
    offset = std::max<int64_t>(0, offset - passed);
  }
  return ids;
}

}  // namespace

Found FindOrders(db::Session& session, db::CompanyId company, const Selection& selection,
                 Sorting sorting, const http::Paging& paging) {
  if (selection.facets && selection.facets->empty()) return {};
  const Search search(session, company, selection);
  const int64_t total = search.Count();
  if (paging.offset() >= total) return {{}, total};
  return {search.FindPage(sorting, paging, total), total};
}

}  // namespace comanda::orders
