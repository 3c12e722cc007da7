#include "clients/list.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "clients/clients.h"
#include "clients/json.h"
#include "clients/search.h"
#include "clients/store.h"
#include "company/companies.h"

namespace comanda::clients {
namespace {

using http::ListRequest;
using http::ListSort;

// -- sorts ----------------------------------------------------------------------------------------

constexpr std::array kSorts = {
    ListSort{"name", "c.name_folded, c.id", "c.name_folded DESC, c.id DESC"},
    ListSort{"created_at", "c.created_at, c.id", "c.created_at DESC, c.id DESC"},
    ListSort{"last_order_at", "c.last_order_at NULLS LAST, c.id",
             "c.last_order_at DESC NULLS LAST, c.id DESC"},
};

// -- filters --------------------------------------------------------------------------------------

constexpr std::string_view kSearch = "filter[search]";
constexpr std::string_view kPhone = "filter[phone]";
constexpr std::string_view kEmail = "filter[email]";
constexpr std::string_view kStartDate = "filter[start_date]";
constexpr std::string_view kEndDate = "filter[end_date]";
constexpr std::string_view kUpdatedSince = "filter[updated_since]";

constexpr size_t kWordsMax = 10;

std::vector<Term> ReadSearch(std::string_view text) {
  std::vector<Term> terms = ReadTerms(text);
  size_t words = 0;
  for (const Term& term : terms) words += term.words.size();
  if (words == 0 || words > kWordsMax) {
    throw http::MalformedFilter(
        kSearch, "must have 1 to " + std::to_string(kWordsMax) + " words of letters or digits.");
  }
  return terms;
}

std::string ReadPhoneDigits(std::string_view text) {
  constexpr std::string_view kMarks = "+0123456789 -().";
  std::string digits = Digits(text);
  if (digits.empty() || text.find_first_not_of(kMarks) != std::string_view::npos) {
    throw http::MalformedFilter(kPhone, "must be a number, such as 51987654321.");
  }
  return digits;
}

// Whom the term finds; nothing where one of its words, or the end of its number, is common to more
// than `most`.
std::optional<ClientSet> FindByTerm(const ListRequest& request, const Term& term, int64_t most) {
  db::Session& session = request.session;
  std::optional<ClientSet> found;
  for (const std::string& word : term.words) {
    ClientSet set;
    if (!AddByWord(session, request.company, word, set, most)) return std::nullopt;
    if (found) set.Intersect(*found);
    found = std::move(set);
  }
  const bool is_whole =
      term.phone_end.empty() || AddByPhone(session, request.company, term.phone_end, *found, most);
  return is_whole ? std::move(found) : std::nullopt;
}

bool Finds(const Term& term, const Findable& client) {
  const auto begins_a_word = [&](const std::string& beginning) {
    return std::ranges::any_of(
        client.words, [&](const std::string& word) { return word.starts_with(beginning); });
  };
  return std::ranges::all_of(term.words, begins_a_word) ||
         (!term.phone_end.empty() && client.phone_reversed.starts_with(term.phone_end));
}

// Whom all terms find. The end of nearly every e-mail address is that of the others too: words so
// common are not looked up, where the rare ones leave a few clients to look at.
ClientSet FindByTerms(const ListRequest& request, const std::vector<Term>& terms) {
  constexpr int64_t kRare = 4096;
  constexpr int64_t kFewToRead = 512;
  std::optional<ClientSet> found;
  std::vector<const Term*> common;
  for (const Term& term : terms) {
    std::optional<ClientSet> set = FindByTerm(request, term, kRare);
    if (!set) {
      common.push_back(&term);
      continue;
    }
    if (found) set->Intersect(*found);
    found = std::move(set);
  }
  if (common.empty()) return *std::move(found);
  if (found && found->Count() <= kFewToRead) {
    ClientSet left;
    for (const int64_t seq : found->Members()) {
      const Findable client = SelectFindable(request.session, request.company, seq);
      const bool matches =
          std::ranges::all_of(common, [&](const Term* term) { return Finds(*term, client); });
      if (matches) left.Add(seq);
    }
    return left;
  }
  for (const Term* term : common) {
    ClientSet set = *FindByTerm(request, *term, INT64_MAX);
    if (found) set.Intersect(*found);
    found = std::move(set);
  }
  return *std::move(found);
}

ClientSet FindByDates(const ListRequest& request) {
  UtcMs from = std::numeric_limits<UtcMs>::min();
  UtcMs to = std::numeric_limits<UtcMs>::max();
  if (request.query.Find(kStartDate)) {
    from = std::get<UtcMs>(http::ReadStart(request, kStartDate).front());
  }
  if (request.query.Find(kEndDate)) {
    to = std::get<UtcMs>(http::ReadEnd(request, kEndDate).front());
  }
  ClientSet set;
  AddCreated(request.session, request.company, from, to, set);
  return set;
}

// Whom each filter finds.
std::vector<ClientSet> FindByEach(const ListRequest& request) {
  const http::Query& query = request.query;
  std::vector<ClientSet> sets;
  if (const auto text = query.Find(kSearch)) {
    sets.push_back(FindByTerms(request, ReadSearch(*text)));
  }
  if (const auto text = query.Find(kPhone)) {
    AddByWholePhone(request.session, request.company, ReadPhoneDigits(*text), sets.emplace_back());
  }
  if (const auto text = query.Find(kEmail)) {  // stored in lower case
    AddByEmail(request.session, request.company, AsciiLower(*text), sets.emplace_back());
  }
  if (query.Find(kStartDate) || query.Find(kEndDate)) sets.push_back(FindByDates(request));
  if (const auto since = query.ReadInstant(kUpdatedSince)) {
    AddUpdated(request.session, request.company, *since, sets.emplace_back());
  }
  return sets;
}

// Whom all filters find, created up to the snapshot; nothing where there is no filter.
std::optional<ClientSet> FindMatches(const ListRequest& request) {
  std::vector<ClientSet> sets = FindByEach(request);
  if (sets.empty()) return std::nullopt;
  ClientSet& found = sets.front();
  for (const ClientSet& set : sets) found.Intersect(set);
  if (const auto snapshot = http::ReadSnapshot(request.query)) found.KeepUpTo(*snapshot);
  return std::move(found);
}

// -- pages ----------------------------------------------------------------------------------------

struct Found {
  std::vector<std::string> ids;  // of the page
  int64_t total = 0;
};

Found FindAll(const ListRequest& request, std::string_view sort, const http::Paging& paging) {
  // Numbered without a gap: the last number is the count.
  const int64_t count = LastCreated(request.session, request.company);
  const int64_t last = std::min(http::SnapshotOf(request.query, count), count);
  db::ClauseBuilder sql("SELECT c.id FROM client c WHERE c.company_id = $1", {request.company});
  // The plus keeps the planner from walking this index instead of the one that sorts.
  sql.And("+c.created_seq <= {}", last).OrderBy(sort).Limit(paging.per_page, paging.offset());
  return {http::FindIds(request.session, sql), last};
}

// A few are taken by their numbers, and sorted. The join says in which order: left to itself the
// planner, which cannot know how many clients there are, reads them all.
Found FindFew(const ListRequest& request, const ClientSet& set, std::string_view sort,
              const http::Paging& paging) {
  const std::vector<int64_t> members = set.Members();
  if (members.empty()) return {};
  std::vector<db::Bound> values{request.company};
  values.insert(values.end(), members.begin(), members.end());
  // Filled up with what is nobody's number, so that there are few different statements.
  values.resize(1 + std::bit_ceil(values.size() - 1), int64_t{0});

  std::string numbers = "($2)";
  for (size_t i = 2; i < values.size(); ++i) numbers += ", ($" + std::to_string(i + 1) + ")";
  db::ClauseBuilder sql("SELECT c.id FROM (VALUES " + numbers +
                            ") AS n CROSS JOIN client c"
                            " WHERE c.company_id = $1 AND c.created_seq = n.column1",
                        values);
  sql.OrderBy(sort).Limit(paging.per_page, paging.offset());
  return {http::FindIds(request.session, sql), std::ssize(members)};
}

// Many are met soon on a walk in the order of the sort, which reads nothing but its index; nothing
// where that takes more than `steps`.
std::optional<Found> FindMany(const ListRequest& request, const ClientSet& set, int64_t count,
                              std::string_view sort, const http::Paging& paging, int64_t steps) {
  db::ClauseBuilder sql("SELECT c.created_seq, c.id FROM client c WHERE c.company_id = $1",
                        {request.company});
  sql.OrderBy(sort);
  db::Rows rows = request.session.QueryBound(sql.sql(), sql.values());
  Found found{{}, count};
  const int64_t end = std::min(paging.offset() + paging.per_page, count);
  for (int64_t met = 0; met < end && rows.Next();) {
    if (steps-- == 0) return std::nullopt;
    if (!set.Has(rows.Int(0))) continue;
    if (met >= paging.offset()) found.ids.push_back(rows.Text(1));
    ++met;
  }
  return found;
}

Found FindClients(const ListRequest& request, const http::Paging& paging) {
  constexpr int64_t kFew = 256;
  constexpr int64_t kSome = 4096;
  constexpr int64_t kStepsOfOne = 20;  // what it costs to take one by its number
  const std::string_view sort = http::ReadSort(request.query, kSorts, "-created_at");
  const std::optional<ClientSet> set = FindMatches(request);
  if (!set) return FindAll(request, sort, paging);
  const int64_t count = set->Count();
  if (count > kFew) {
    // Those who have something in common may stand far down together.
    const int64_t steps = count <= kSome ? count * kStepsOfOne : INT64_MAX;
    if (auto found = FindMany(request, *set, count, sort, paging, steps)) return *std::move(found);
  }
  return FindFew(request, *set, sort, paging);
}

}  // namespace

void RequireListParameters(const http::Query& query) {
  constexpr std::array kFilters = {
      kSearch, kPhone, kEmail, kStartDate, kEndDate, kUpdatedSince, http::kSnapshotParameter};
  http::RequireListParameters(query, {}, kFilters);
}

http::ListPage FindPage(db::Session& session, db::CompanyId company, const http::Query& query) {
  const ListRequest request{session, company, query, company::FindZone};
  http::ListPage page;
  page.paging = query.ReadPaging();
  const Found found = FindClients(request, page.paging);
  for (const std::string& id : found.ids) {
    const auto client = Select(session, company, id);
    CHECK(client.has_value(), "an id that was just listed");
    page.rows.push_back(Render(*client, SelectAddresses(session, company, id)));
  }
  page.total = found.total;
  page.snapshot = http::SnapshotOf(query, LastCreated(session, company));
  return page;
}

}  // namespace comanda::clients
