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

// More orders since a snapshot than this are not taken out of the tallies one by one.
constexpr int64_t kNewerMax = 5000;
constexpr size_t kFacetsMax = 512;  // below SQLite's limit on parameters (db/connection.cc)

// What it costs to read a row, in entries of an index that is walked along (measured: 0.15 us).
constexpr int64_t kEntry = 2;      // of an index, to be sorted
constexpr int64_t kNeighbour = 8;  // of the table, beside the one before it
constexpr int64_t kRow = 16;       // of the table, anywhere

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

Direction Reversed(Direction direction) {
  return direction == Direction::kAscending ? Direction::kDescending : Direction::kAscending;
}

class Search {
 public:
  Search(db::Session& session, db::CompanyId company, const Selection& selection);

  int64_t Count() const;
  std::vector<std::string> FindPage(Sorting sorting, const http::Paging& paging,
                                    int64_t total) const;

 private:
  // The orders of a bucket that are chosen, of all that it has.
  using Pass = std::function<bool(int64_t bucket, int64_t orders, int64_t all)>;
  // Where a list is entered, and how it is read.
  struct Place {
    Direction direction;
    int64_t offset, limit;
  };

  const Period& PeriodOf(Tally tally) const;
  bool Has(const NewerOrder& order) const;
  bool IsChosen(int64_t facet) const { return !selection_.facets || facets_.contains(facet); }
  int64_t FacetOrders() const;
  bool HasOthers() const { return !selection_.others->AllCounted(); }
  bool CanTally(const Ladder& ladder) const;
  bool FollowsFacets(const Ladder& ladder) const;
  int64_t PassedOnAWalk(const Ladder& ladder, Direction direction, int64_t total,
                        int64_t wanted) const;
  bool GathersFor(const Ladder& ladder, int64_t total, const Place& place) const;

  void EachCount(Tally tally, Direction direction, const Pass& pass) const;
  int64_t CountTallied(const Ladder& ladder) const;
  int64_t CountBetween(const Ladder& ladder, Period period) const;
  int64_t CountRows() const;
  int64_t CountOf(const Ladder& ladder, bool gathers) const;

  std::vector<std::string> FindTallied(const Ladder& ladder, Place place) const;
  std::vector<std::string> FindAny(const Ladder& ladder, Place place, int64_t total) const;
  std::vector<std::string> Gather(const Ladder& ladder, Place place, int64_t total) const;
  std::vector<std::string> Walk(const Ladder& ladder, Place place) const;
  std::vector<std::string> WalkFromTheNearerEnd(const Ladder& ladder, Place place,
                                                int64_t total) const;

  db::ClauseBuilder Select(std::string_view what) const;
  db::ClauseBuilder SelectFacets(std::string_view what, UtcMs from) const;
  db::ClauseBuilder SelectBest(std::string_view what, int64_t total) const;
  void LookAtFacets(db::ClauseBuilder& sql) const;
  // By the indexes of which periods, if of any.
  enum class Way : uint8_t { kAny, kByCreated, kByUpdated, kByNeither };
  static Way Along(const Ladder& ladder);
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
  return IsChosen(order.facet) && holds(selection_.created, order.keys.created_at) &&
         holds(selection_.updated, order.keys.updated_at);
}

int64_t Search::FacetOrders() const {
  int64_t orders = 0;
  for (const auto& [facet, count] : facets_) orders += count;
  return orders;
}

// Whether the tally knows all that is chosen: facets, and the period of what it counts.
bool Search::CanTally(const Ladder& ladder) const {
  return tallies_hold_ && !HasOthers() &&
         (ladder.tally == Tally::kCreated || selection_.created.whole()) &&
         (ladder.tally == Tally::kUpdated || selection_.updated.whole());
}

// Whether the index of the facets, which goes on with created_at, is the one to read.
bool Search::FollowsFacets(const Ladder& ladder) const {
  return selection_.facets && facets_.size() <= kFacetsMax && ladder.tally == Tally::kCreated;
}

// -- counting by tallies
// ----------------------------------------------------------------------------

// Bucket by bucket. At the ends of a period the rows themselves are counted.
void Search::EachCount(Tally tally, Direction direction, const Pass& pass) const {
  std::map<int64_t, int64_t> newer;
  for (const NewerOrder& order : newer_) {
    for (const Mark& mark : MarksOf(order.keys)) {
      if (mark.tally == tally) ++newer[mark.bucket];
    }
  }
  const Period& period = PeriodOf(tally);
  const Ladder& ladder = tally == Tally::kUpdated ? kUpdatedLadder : kCreatedLadder;
  int64_t bucket = 0, chosen = 0, all = 0;
  const auto finish = [&] {
    if (all <= 0) return true;
    if (!period.whole()) {
      const Period part = {std::max(period.from, TimeLow(bucket)),
                           std::min(period.to, TimeLow(bucket + 1))};
      const bool whole = part == Period{TimeLow(bucket), TimeLow(bucket + 1)};
      if (!whole && chosen > 0) chosen = CountBetween(ladder, part);
    }
    const auto found = newer.find(bucket);
    return pass(bucket, found == newer.end() ? chosen : chosen - found->second, all);
  };
  Buckets buckets;
  if (!period.whole()) buckets = {TimeBucket(period.from), TimeBucket(period.to - 1)};
  bool goes_on = true;
  EachBucket(session_, company_, tally, buckets, direction,
             [&](int64_t next, int64_t facet, int64_t count) {
               if (next != bucket) {
                 goes_on = finish();
                 bucket = next;
                 chosen = all = 0;
               }
               if (IsChosen(facet)) chosen += count;
               all += count;
               return goes_on;
             });
  if (goes_on) finish();
}

int64_t Search::CountTallied(const Ladder& ladder) const {
  int64_t total = 0;
  EachCount(ladder.tally, Direction::kAscending, [&](int64_t, int64_t orders, int64_t) {
    total += orders;
    return true;
  });
  return total;
}

// Newer ones included, as in the tallies.
int64_t Search::CountBetween(const Ladder& ladder, Period period) const {
  const bool by_facet = FollowsFacets(ladder);
  db::ClauseBuilder sql = by_facet ? SelectFacets("count(*)", period.from) : Select("count(*)");
  if (!by_facet) sql.And(ladder.at_least, period.from);
  sql.And(ladder.below, period.to);
  if (selection_.facets && !by_facet) LookAtFacets(sql);
  return http::Count(session_, sql);
}

int64_t Search::Count() const {
  if (!CanTally(kCreatedLadder)) {
    return CanTally(kUpdatedLadder) ? CountTallied(kUpdatedLadder) : CountRows();
  }
  if (!selection_.created.whole()) return CountTallied(kCreatedLadder);
  const int64_t all = selection_.facets ? FacetOrders() : CountOrders(session_, company_);
  return all - static_cast<int64_t>(newer_.size());
}

// -- pages by tallies
// -------------------------------------------------------------------------------

std::vector<std::string> Search::FindTallied(const Ladder& ladder, Place place) const {
  PageFinder page(place.offset, place.limit);
  EachCount(ladder.tally, place.direction, [&](int64_t bucket, int64_t orders, int64_t all) {
    return page.Pass(bucket, orders, all);
  });
  if (!page.found()) return {};
  const bool by_facet = FollowsFacets(ladder);
  // Few orders lie far from each other in any other order than that of their creation.
  if (selection_.facets && !by_facet && FacetOrders() * kRow < page.walked()) {
    return Gather(ladder, place, FacetOrders());
  }

  const int64_t first = page.low_bucket(), behind = page.high_bucket() + 1;
  db::ClauseBuilder sql =
      by_facet ? SelectFacets("o.id", std::max(selection_.created.from, TimeLow(first)))
               : Select("o.id");
  if (!ladder.rows.empty()) sql.And(ladder.rows);
  const std::string first_id = IdLow(first), behind_id = IdLow(behind);
  switch (ladder.tally) {
    case Tally::kCreated:
    case Tally::kUpdated:
    case Tally::kScheduled: {
      const Period& period = PeriodOf(ladder.tally);
      if (!by_facet) sql.And(ladder.at_least, std::max(period.from, TimeLow(first)));
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
  if (selection_.facets && !by_facet) LookAtFacets(sql);
  if (selection_.snapshot) sql.And("+o.created_seq <= {}", *selection_.snapshot);
  sql.OrderBy(ladder.OrderBy(place.direction)).Limit(place.limit, page.skip());
  return http::FindIds(session_, sql);
}

// -- all others
// -------------------------------------------------------------------------------------

db::ClauseBuilder Search::Select(std::string_view what) const {
  return {"SELECT " + std::string(what) + " FROM orders o WHERE o.company_id = $1", {company_}};
}

// The facets, filled up with what is no facet, so that there are few different statements.
std::vector<db::Bound> FilledUp(const std::map<int64_t, int64_t>& facets) {
  std::vector<db::Bound> numbers;
  for (const auto& [facet, orders] : facets) numbers.emplace_back(facet);
  numbers.resize(std::bit_ceil(std::max<size_t>(facets.size(), 1)), int64_t{-1});
  return numbers;
}

// By the index of the facets. The join says in which order: left to itself the planner, which
// cannot know how many orders have a facet, may read them all; and the bound on the index's next
// column makes it seem better to it than one with all columns that are asked for.
db::ClauseBuilder Search::SelectFacets(std::string_view what, UtcMs from) const {
  std::vector<db::Bound> values = FilledUp(facets_);
  values.insert(values.begin(), {company_, from});
  std::string numbers = "($3)";
  for (size_t i = 3; i < values.size(); ++i) numbers += ", ($" + std::to_string(i + 1) + ")";
  return {"SELECT " + std::string(what) + " FROM (VALUES " + numbers +
              ") AS f CROSS JOIN orders o WHERE o.company_id = $1 AND o.facet = f.column1"
              " AND o.created_at >= $2",
          std::move(values)};
}

// In each entry that is met. Integers of ours may stand in the text where they are too many to
// bind.
void Search::LookAtFacets(db::ClauseBuilder& sql) const {
  if (facets_.size() <= kFacetsMax) {
    sql.And("+o.facet IN ({})", FilledUp(facets_));
    return;
  }
  std::string list;
  for (const auto& [facet, orders] : facets_) {
    list += (list.empty() ? "" : ", ") + std::to_string(facet);
  }
  sql.And("+o.facet IN (" + list + ")");
}

// Every filter but the facets'. The plus keeps the planner from an index.
void Search::Narrow(db::ClauseBuilder& sql, Way way) const {
  const Period &created = selection_.created, &updated = selection_.updated;
  const Period whole;
  // The indexes of tables and clients go on with created_at, and have updated_at in them; that of
  // updated_at has created_at.
  const bool by_created =
      way == Way::kByCreated || (way == Way::kAny && (updated.whole() || HasOthers()));
  const bool by_updated = way == Way::kByUpdated || (way == Way::kAny && !HasOthers());
  if (created.from != whole.from) {
    sql.And(by_created ? "o.created_at >= {}" : "+o.created_at >= {}", created.from);
  }
  if (created.to != whole.to) {
    sql.And(by_created ? "o.created_at < {}" : "+o.created_at < {}", created.to);
  }
  if (updated.from != whole.from) {
    sql.And(by_updated ? "o.updated_at >= {}" : "+o.updated_at >= {}", updated.from);
  }
  selection_.others->Narrow(sql, http::Counted::kNo);
  if (selection_.snapshot) sql.And("+o.created_seq <= {}", *selection_.snapshot);
}

// By the facets where they choose few rows, or most of those that all filters choose; else they are
// looked at in each row.
db::ClauseBuilder Search::SelectBest(std::string_view what, int64_t total) const {
  constexpr int64_t kFew = 2000;
  if (!selection_.facets) return Select(what);
  const bool can = !HasOthers() && facets_.size() <= kFacetsMax;
  if (can && FacetOrders() <= std::max(kFew, 2 * total))
    return SelectFacets(what, selection_.created.from);
  db::ClauseBuilder sql = Select(what);
  LookAtFacets(sql);
  return sql;
}

int64_t Search::CountRows() const {
  db::ClauseBuilder sql = SelectBest("count(*)", 0);
  Narrow(sql, Way::kAny);
  return http::Count(session_, sql);
}

// The length of one of the two lists that a sort may have.
int64_t Search::CountOf(const Ladder& ladder, bool gathers) const {
  db::ClauseBuilder sql = SelectBest("count(*)", 0);
  sql.And(gathers ? ladder.rows_of_few : ladder.rows);
  Narrow(sql, gathers ? Way::kAny : Along(ladder));
  return http::Count(session_, sql);
}

// How many entries are passed on a walk along the sort until `wanted` orders of the period of
// creation are met: totals and numbers are spread by chance; what else sorts grows with created_at,
// more or less, so that what was created beyond the period comes first.
int64_t Search::PassedOnAWalk(const Ladder& ladder, Direction direction, int64_t total,
                              int64_t wanted) const {
  const bool by_chance = ladder.tally == Tally::kTotal || ladder.tally == Tally::kNumber;
  const int64_t all = CountOrders(session_, company_);
  int64_t within = all, first = 0;
  if (!by_chance && !selection_.created.whole()) {
    const Period& period = selection_.created;
    within = 0;
    const auto count = [&](int64_t bucket, int64_t, int64_t orders) {
      const bool down = direction == Direction::kDescending;
      if (TimeLow(bucket + 1) > period.from && TimeLow(bucket) < period.to) within += orders;
      if (down ? TimeLow(bucket) >= period.to : TimeLow(bucket + 1) <= period.from) first += orders;
      return true;
    };
    EachBucket(session_, company_, Tally::kCreated, {}, direction, count);
  }
  return std::min(all, first + wanted * within / std::max<int64_t>(total, 1));
}

// Whether it costs less to gather all rows and sort them than to meet those up to the page on a
// walk along the sort.
bool Search::GathersFor(const Ladder& ladder, int64_t total, const Place& place) const {
  if (HasOthers()) return true;
  const int64_t wanted = std::min(place.offset + place.limit, total - place.offset);
  const bool by_created = !selection_.created.whole(), by_updated = !selection_.updated.whole();
  if (by_updated && ladder.tally == Tally::kUpdated) return false;
  if (by_created && !by_updated && ladder.tally == Tally::kCreated) return false;
  if (by_updated && ladder.tally == Tally::kCreated) {
    // What was made lately was changed lately, too: the newest first, such rows come first.
    if (place.direction == Direction::kAscending) return true;
    return total * kEntry <= wanted * kRow;
  }
  const int64_t walked = PassedOnAWalk(ladder, place.direction, total, wanted);
  if (by_updated) return total <= walked;
  return total * (by_created ? kNeighbour : kRow) <= walked;
}

// The plus before the first sort key leaves the planner no index but those of the filters; it may
// follow that of a client or a table.
std::vector<std::string> Search::Gather(const Ladder& ladder, Place place, int64_t total) const {
  db::ClauseBuilder sql = SelectBest("o.id", total);
  if (!ladder.rows_of_few.empty()) sql.And(ladder.rows_of_few);
  Narrow(sql, Way::kAny);
  const bool follows = HasOthers() && ladder.tally == Tally::kCreated;
  const std::string order(ladder.OrderBy(place.direction));
  sql.OrderBy(follows ? order : "+" + order).Limit(place.limit, place.offset);
  return http::FindIds(session_, sql);
}

Search::Way Search::Along(const Ladder& ladder) {
  if (ladder.tally == Tally::kCreated) return Way::kByCreated;
  return ladder.tally == Tally::kUpdated ? Way::kByUpdated : Way::kByNeither;
}

std::vector<std::string> Search::Walk(const Ladder& ladder, Place place) const {
  db::ClauseBuilder sql = Select("o.id");
  if (selection_.facets) LookAtFacets(sql);
  if (!ladder.rows.empty()) sql.And(ladder.rows);
  Narrow(sql, Along(ladder));
  sql.OrderBy(ladder.OrderBy(place.direction)).Limit(place.limit, place.offset);
  return http::FindIds(session_, sql);
}

// A list whose length is known.
std::vector<std::string> Search::WalkFromTheNearerEnd(const Ladder& ladder, Place place,
                                                      int64_t total) const {
  if (place.offset <= total / 2) return Walk(ladder, place);
  const int64_t limit = std::min(place.limit, total - place.offset);
  std::vector<std::string> ids =
      Walk(ladder, {Reversed(place.direction), total - place.offset - limit, limit});
  std::ranges::reverse(ids);
  return ids;
}

std::vector<std::string> Search::FindAny(const Ladder& ladder, Place place, int64_t total) const {
  if (GathersFor(ladder, total, place)) return Gather(ladder, place, total);
  return ladder.rows.empty() ? WalkFromTheNearerEnd(ladder, place, total) : Walk(ladder, place);
}

std::vector<std::string> Search::FindPage(Sorting sorting, const http::Paging& paging,
                                          int64_t total) const {
  std::vector<std::string> ids;
  int64_t offset = paging.offset();
  for (const Ladder& ladder : LaddersOf(sorting.by)) {
    const Place place = {sorting.direction, offset,
                         paging.per_page - static_cast<int64_t>(ids.size())};
    const bool tallied = CanTally(ladder);
    std::vector<std::string> more =
        tallied ? FindTallied(ladder, place) : FindAny(ladder, place, total);
    std::ranges::move(more, std::back_inserter(ids));
    if (std::cmp_equal(ids.size(), paging.per_page) || ladder.tally != Tally::kScheduled) break;
    // The rest comes from the list behind this one.
    const int64_t passed =
        tallied ? CountTallied(ladder) : CountOf(ladder, GathersFor(ladder, total, place));
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
