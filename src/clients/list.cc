#include "clients/list.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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

using http::Conditions;
using http::ListFilter;
using http::ListRequest;
using http::ListSort;
using http::Operands;

// -- filters --------------------------------------------------------------------------------------

Operands ReadEmail(const ListRequest& request, std::string_view name) {
  return {AsciiLower(request.Value(name))};  // as it is stored
}

constexpr std::string_view kSearchParameter = "filter[search]";
constexpr std::string_view kPhoneParameter = "filter[phone]";
constexpr std::string_view kStartParameter = "filter[start_date]";
constexpr std::string_view kEndParameter = "filter[end_date]";
constexpr std::array kFilters = {
    ListFilter{"filter[email]", "c.email = {}", ReadEmail},
    ListFilter{kStartParameter, "c.created_at >= {}", http::ReadStart},
    ListFilter{kEndParameter, "c.created_at < {}", http::ReadEnd},
    ListFilter{"filter[updated_since]", "c.updated_at >= {}", http::ReadInstant},
    // The plus keeps the planner from walking this index instead of the one that sorts.
    ListFilter{http::kSnapshotParameter, "+c.created_seq <= {}", http::ReadSnapshot,
               http::Counted::kYes},
};

// -- sorts ----------------------------------------------------------------------------------------

constexpr std::array kSorts = {
    ListSort{"name", "c.name_folded, c.id", "c.name_folded DESC, c.id DESC"},
    ListSort{"created_at", "c.created_at, c.id", "c.created_at DESC, c.id DESC"},
    ListSort{"last_order_at", "c.last_order_at NULLS LAST, c.id",
             "c.last_order_at DESC NULLS LAST, c.id DESC"},
};

std::string_view ReadSort(const http::Query& query) {
  return http::ReadSort(query, kSorts, "-created_at");
}

// The planner does not know that a filter leaves few rows, and would walk all clients in order. A
// plus before the first sort key leaves it no other index than the filter's.
std::string ByFilter(std::string_view sort) { return "+" + std::string(sort); }

std::string OrderBy(const http::Query& query, const Conditions& conditions) {
  const std::string_view sort = ReadSort(query);
  const bool by_date = conditions.Find(kStartParameter) || conditions.Find(kEndParameter);
  if (by_date && sort.starts_with("c.created_at")) return std::string(sort);
  return conditions.AllCounted() ? std::string(sort) : ByFilter(sort);
}

// -- search ---------------------------------------------------------------------------------------

constexpr size_t kTermsMax = 10;

std::vector<Term> ReadSearch(std::string_view text) {
  std::vector<Term> terms = ReadTerms(text);
  if (terms.empty()) {
    throw http::MalformedFilter(kSearchParameter, "must have at least one letter or digit.");
  }
  if (terms.size() > kTermsMax) {
    throw http::MalformedFilter(kSearchParameter,
                                "must have at most " + std::to_string(kTermsMax) + " words.");
  }
  return terms;
}

std::string ReadPhoneDigits(std::string_view text) {
  constexpr std::string_view kMarks = "+0123456789 -().";
  std::string digits = Digits(text);
  if (digits.empty() || text.find_first_not_of(kMarks) != std::string_view::npos) {
    throw http::MalformedFilter(kPhoneParameter, "must be a number, such as 51987654321.");
  }
  return digits;
}

void Intersect(ClientSet& set, const ClientSet& other) {
  set.resize(std::min(set.size(), other.size()));
  for (size_t seq = 0; seq < set.size(); ++seq) set[seq] = set[seq] && other[seq];
}

ClientSet Matching(const ListRequest& request, const Term& term) {
  ClientSet set;
  AddByWord(request.session, request.company, term.words.front(), set);
  for (size_t i = 1; i < term.words.size(); ++i) {
    ClientSet next;
    AddByWord(request.session, request.company, term.words[i], next);
    Intersect(set, next);
  }
  if (!term.phone_end.empty()) AddByPhone(request.session, request.company, term.phone_end, set);
  return set;
}

// Those that search and phone leave, created up to the snapshot; nothing where neither is asked.
std::optional<ClientSet> FindMatches(const ListRequest& request) {
  std::optional<ClientSet> found;
  const auto narrow = [&found](ClientSet set) {
    if (found) {
      Intersect(*found, set);
    } else {
      found = std::move(set);
    }
  };
  if (const auto text = request.query.Find(kSearchParameter)) {
    for (const Term& term : ReadSearch(*text)) narrow(Matching(request, term));
  }
  if (const auto text = request.query.Find(kPhoneParameter)) {
    ClientSet set;
    AddByWholePhone(request.session, request.company, ReadPhoneDigits(*text), set);
    narrow(std::move(set));
  }
  const auto snapshot = http::ReadSnapshot(request.query);
  if (found && snapshot && std::cmp_less(*snapshot, found->size())) {
    found->resize(static_cast<size_t>(*snapshot) + 1);
  }
  return found;
}

// -- rows and totals ------------------------------------------------------------------------------

struct Found {
  std::vector<std::string> ids;  // of the page
  int64_t total = 0;
};

Found FindByFilters(const ListRequest& request, const Conditions& conditions,
                    const http::Paging& paging) {
  db::ClauseBuilder sql("SELECT c.id FROM client c WHERE c.company_id = $1", {request.company});
  conditions.Narrow(sql);
  const std::string order = OrderBy(request.query, conditions);
  sql.OrderBy(order).Limit(paging.per_page, paging.offset());
  Found found;
  found.ids = http::FindIds(request.session, sql);
  if (conditions.AllCounted()) {
    // Numbered without a gap: the last number is the count.
    const int64_t all = LastCreated(request.session, request.company);
    found.total = std::min(http::SnapshotOf(request.query, all), all);
    return found;
  }
  db::ClauseBuilder count("SELECT count(*) FROM client c WHERE c.company_id = $1",
                          {request.company});
  conditions.Narrow(count);
  found.total = http::Count(request.session, count);
  return found;
}

constexpr size_t kFew = 512;

// A few are taken by their numbers, and sorted.
Found FindFew(const ListRequest& request, const Conditions& conditions, const ClientSet& set,
              const http::Paging& paging) {
  std::vector<db::Bound> seqs;
  for (size_t seq = 0; seq < set.size(); ++seq) {
    if (set[seq]) seqs.emplace_back(static_cast<int64_t>(seq));
  }
  if (seqs.empty()) return {};
  const auto count = static_cast<int64_t>(seqs.size());
  // Filled up to a power of two, so that there are few different statements.
  seqs.resize(std::bit_ceil(seqs.size()), seqs.back());

  constexpr std::string_view kAmong = "c.created_seq IN ({})";
  db::ClauseBuilder sql("SELECT c.id FROM client c WHERE c.company_id = $1", {request.company});
  sql.And(kAmong, seqs);
  conditions.Narrow(sql);
  sql.OrderBy(ByFilter(ReadSort(request.query))).Limit(paging.per_page, paging.offset());
  Found found{http::FindIds(request.session, sql), count};
  if (conditions.AllCounted()) return found;
  db::ClauseBuilder counting("SELECT count(*) FROM client c WHERE c.company_id = $1",
                             {request.company});
  counting.And(kAmong, seqs);
  conditions.Narrow(counting);
  found.total = http::Count(request.session, counting);
  return found;
}

// Many are met soon on a walk in the order of the sort, which reads nothing but its index.
Found FindMany(const ListRequest& request, const Conditions& conditions, const ClientSet& set,
               const http::Paging& paging) {
  db::ClauseBuilder sql("SELECT c.created_seq, c.id FROM client c WHERE c.company_id = $1",
                        {request.company});
  conditions.Narrow(sql);
  sql.OrderBy(OrderBy(request.query, conditions));
  db::Rows rows = request.session.QueryBound(sql.sql(), sql.values());
  Found found;
  const bool total_known = conditions.AllCounted();
  const int64_t end = paging.offset() + paging.per_page;
  while ((!total_known || found.total < end) && rows.Next()) {
    const auto seq = static_cast<size_t>(rows.Int(0));
    if (seq >= set.size() || !set[seq]) continue;
    if (found.total >= paging.offset() && found.total < end) found.ids.push_back(rows.Text(1));
    ++found.total;
  }
  if (total_known) found.total = std::ranges::count(set, true);
  return found;
}

Found FindClients(const ListRequest& request, const http::Paging& paging) {
  const Conditions conditions = Conditions::Read(request, kFilters);
  const std::optional<ClientSet> set = FindMatches(request);
  if (!set) return FindByFilters(request, conditions, paging);
  return std::cmp_less_equal(std::ranges::count(*set, true), kFew)
             ? FindFew(request, conditions, *set, paging)
             : FindMany(request, conditions, *set, paging);
}

}  // namespace

void RequireListParameters(const http::Query& query) {
  http::RequireListParameters(query, kFilters, std::array{kSearchParameter, kPhoneParameter});
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
