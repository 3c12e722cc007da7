#include "clients/list.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "clients/json.h"
#include "clients/search.h"
#include "clients/store.h"
#include "company/companies.h"

namespace comanda::clients {
namespace {

using http::ListFilter;
using http::ListRequest;
using http::ListSort;
using http::Operands;

// Sorts.

constexpr std::array kSorts = {
    ListSort{"name", "c.name_folded, c.id", "c.name_folded DESC, c.id DESC"},
    ListSort{"created_at", "c.created_at, c.id", "c.created_at DESC, c.id DESC"},
    ListSort{"last_order_at", "c.last_order_at NULLS LAST, c.id",
             "c.last_order_at DESC NULLS LAST, c.id DESC"},
};

// Filters.

constexpr std::string_view kSearch = "filter[search]";
constexpr std::string_view kPhone = "filter[phone]";

// E-mail addresses are stored in lower case.
Operands ReadEmail(const ListRequest& request, std::string_view name) {
  return {AsciiLower(request.Value(name))};
}

// Filters with one value; search and phone take several and are handled by Selection.
constexpr std::array kFilters = {
    // A range instead of an equality: for an equality SQLite scans the index that sorts, because
    // its statistics count all clients of a company as equally rare as those with one e-mail
    // address.
    ListFilter{"filter[email]", "c.email >= {} AND c.email <= {}", ReadEmail},
    ListFilter{"filter[start_date]", "c.created_at >= {}", http::ReadStart},
    ListFilter{"filter[end_date]", "c.created_at < {}", http::ReadEnd},
    ListFilter{"filter[updated_since]", "c.updated_at >= {}", http::ReadInstant},
    ListFilter{http::kSnapshotParameter, "NOT c.created_seq > {}", http::ReadSnapshot},
};

Days FindDays(const ListRequest& request) {
  return {.zone = company::FindZone(company::Get(request.session, request.company))};
}

std::optional<PhoneTwins> ReadPhone(const http::Query& query) {
  constexpr std::string_view kMarks = "+0123456789 -().";
  const std::optional<std::string_view> text = query.Find(kPhone);
  if (!text) return std::nullopt;
  std::string digits = Digits(*text);
  if (digits.empty() || text->find_first_not_of(kMarks) != std::string_view::npos) {
    throw http::MalformedFilter(kPhone, "must be a number, such as 51987654321.");
  }
  return TwinsOf(digits);
}

// The parsed parameters; the statements of a page refer to its values.
class Selection {
 public:
  explicit Selection(const ListRequest& request)
      : terms_(ReadSearch(request.query)),
        phone_(ReadPhone(request.query)),
        conditions_(http::Conditions::Read(request, kFilters)) {}

  // The first term selects the rows that the statement reads; Narrow() adds the other conditions.
  const Term* FirstTerm() const { return terms_.empty() ? nullptr : &terms_.front(); }
  void Narrow(db::ClauseBuilder& sql) const {
    for (size_t i = 1; i < terms_.size(); ++i) AndMatches(sql, terms_[i]);
    if (phone_) AndHasPhone(sql, *phone_);
    conditions_.Narrow(sql);
  }

 private:
  std::vector<Term> terms_;
  std::optional<PhoneTwins> phone_;
  http::Conditions conditions_;
};

}  // namespace

std::vector<Term> ReadSearch(const http::Query& query) {
  constexpr size_t kWordsMax = 10;
  const std::optional<std::string_view> text = query.Find(kSearch);
  if (!text) return {};
  std::vector<Term> terms = ReadTerms(*text);
  if (terms.empty() || terms.size() > kWordsMax) {
    throw http::MalformedFilter(
        kSearch, "must have 1 to " + std::to_string(kWordsMax) + " words of letters or digits.");
  }
  return terms;
}

void RequireListParameters(const http::Query& query) {
  http::RequireListParameters(query, kFilters, std::array{kSearch, kPhone});
}

http::ListPage FindPage(db::Session& session, db::CompanyId company, const http::Query& query,
                        http::PageRows& rows) {
  const ListRequest request{session, company, query, FindDays};
  const Selection selection(request);
  http::ListPage page;
  page.paging = query.ReadPaging();

  db::ClauseBuilder sql = PageOf(company, selection.FirstTerm());
  selection.Narrow(sql);
  sql.OrderBy(http::ReadSort(query, kSorts, "-created_at"))
      .Limit(page.paging.per_page, page.paging.offset());
  for (const Listed& listed : SelectPage(session, company, sql)) {
    rows.Add(Render(listed.client, listed.addresses));
  }

  db::ClauseBuilder count = CountOf(company, selection.FirstTerm());
  selection.Narrow(count);
  page.total = session.GetInt(count);
  page.snapshot = http::SnapshotOf(query, LastCreated(session, company));
  return page;
}

}  // namespace comanda::clients
