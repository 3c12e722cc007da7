#include "orders/list.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "company/companies.h"
#include "events/log.h"
#include "http/list.h"
#include "orders/orders.h"
#include "orders/page_store.h"
#include "orders/store.h"

namespace comanda::orders {
namespace {

// -- filters --------------------------------------------------------------------------------------

using http::Conditions;
using http::Counted;
using http::ListFilter;
using http::ListRequest;
using http::Operand;
using http::Operands;

Operands ReadPublicId(const ListRequest& request, std::string_view name) {
  constexpr size_t kSize = 13;
  std::optional<std::string> key = NormalisedKey(request.Value(name));
  if (!key || key->size() != kSize) {
    throw http::MalformedFilter(name, "must be a public id, such as PE-7222853393.");
  }
  return {*std::move(key)};
}

// A comma list of channels. Those of other boxes and years are not known here, so any word is one.
Operands ReadSources(const ListRequest& request, std::string_view name) {
  const std::vector<std::string> words = request.query.ReadCapitals(name);
  return {words.begin(), words.end()};
}

// Those of facets, times and the snapshot are answered in page_store.cc.
constexpr std::string_view kStatus = "filter[status]";
constexpr std::string_view kServiceType = "filter[service_type]";
constexpr std::string_view kSource = "filter[source]";
constexpr std::string_view kPaid = "filter[paid]";
constexpr std::string_view kDeliveryStatus = "filter[delivery_status]";
constexpr std::string_view kStartDate = "filter[start_date]";
constexpr std::string_view kEndDate = "filter[end_date]";
constexpr std::string_view kUpdatedSince = "filter[updated_since]";

constexpr std::array kFilters = {
    ListFilter{kStatus, "", http::ReadWordIndexes<kStatusNames>, Counted::kYes},
    ListFilter{kStartDate, "", http::ReadStart, Counted::kYes},
    ListFilter{kEndDate, "", http::ReadEnd, Counted::kYes},
    ListFilter{kServiceType, "", http::ReadWordIndexes<kServiceTypeNames>, Counted::kYes},
    ListFilter{kSource, "", ReadSources, Counted::kYes},
    ListFilter{"filter[client_id]", "o.client_id = {}", http::ReadUuid},
    ListFilter{"filter[table_id]", "o.table_id = {}", http::ReadUuid},
    ListFilter{"filter[reference]", "o.reference = {}", http::ReadText},
    ListFilter{"filter[public_id]", "o.public_id = {}", ReadPublicId},
    ListFilter{kPaid, "", http::ReadBoolean, Counted::kYes},
    ListFilter{kDeliveryStatus, "", http::ReadWordIndexes<kDeliveryStatusNames>, Counted::kYes},
    ListFilter{kUpdatedSince, "", http::ReadInstant, Counted::kYes},
    ListFilter{http::kSnapshotParameter, "", http::ReadSnapshot, Counted::kYes},
};

template <typename Value>
bool Allows(const Operands* operands, const Value& value) {
  return !operands || std::ranges::find(*operands, Operand(value)) != operands->end();
}

// Nothing where no filter looks at them.
std::optional<std::vector<Facet>> FindFacets(const ListRequest& request,
                                             const Conditions& conditions) {
  const Operands* status = conditions.Find(kStatus);
  const Operands* service_type = conditions.Find(kServiceType);
  const Operands* source = conditions.Find(kSource);
  const Operands* paid = conditions.Find(kPaid);
  const Operands* delivery_status = conditions.Find(kDeliveryStatus);
  if (!status && !service_type && !source && !paid && !delivery_status) return std::nullopt;
  std::vector<Facet> facets = SelectFacets(request.session, request.company);
  std::erase_if(facets, [&](const Facet& facet) {
    constexpr int64_t kNone = -1;
    const int64_t delivery =
        facet.delivery_status ? static_cast<int64_t>(*facet.delivery_status) : kNone;
    return !Allows(status, static_cast<int64_t>(facet.status)) ||
           !Allows(service_type, static_cast<int64_t>(facet.service_type)) ||
           !Allows(source, facet.source) || !Allows(paid, int64_t{facet.paid}) ||
           !Allows(delivery_status, delivery);
  });
  return facets;
}

Selection Select(const ListRequest& request, const Conditions& conditions) {
  const auto number = [&](std::string_view parameter, int64_t otherwise) {
    const Operands* operands = conditions.Find(parameter);
    return operands ? std::get<int64_t>(operands->front()) : otherwise;
  };
  Selection selection;
  selection.facets = FindFacets(request, conditions);
  selection.created.from = number(kStartDate, selection.created.from);
  selection.created.to = number(kEndDate, selection.created.to);
  selection.updated.from = number(kUpdatedSince, selection.updated.from);
  selection.snapshot = http::ReadSnapshot(request.query);
  selection.others = &conditions;
  return selection;
}

// -- sorts ----------------------------------------------------------------------------------------

// In the order of SortBy.
constexpr std::array<std::string_view, 5> kSorts = {
    "created_at", "updated_at", "scheduled_delivery_date", "total", "order_number"};

Sorting ReadSorting(const http::Query& query) {
  const http::Sort sort = query.ReadSort(kSorts, "-created_at");
  return {static_cast<SortBy>(sort.index),
          sort.descending ? Direction::kDescending : Direction::kAscending};
}

// -- which lists ----------------------------------------------------------------------------------

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

// -- rows -----------------------------------------------------------------------------------------

std::string ReadRow(const ListRequest& request, const std::string& id, Include include) {
  std::optional<Record> record = Find(request.session, request.company, id, include);
  CHECK(record.has_value(), "every order has its rendered record");
  return std::move(record->json);
}

std::vector<std::string> ReadRows(const ListRequest& request, const std::vector<std::string>& ids) {
  const Include include = ReadInclude(request.query);
  std::vector<std::string> records;
  records.reserve(ids.size());
  for (const std::string& id : ids) records.push_back(ReadRow(request, id, include));
  return records;
}

// What the text of a row depends on: the order, its version, what is left out.
std::string NameOf(const ListRequest& request, const std::string& id, Include include) {
  const std::optional<int64_t> version = SelectVersion(request.session, request.company, id);
  CHECK(version.has_value(), "every order has its rendered record");
  const int parts = include.combos + 2 * include.payments + 4 * include.discounts;
  constexpr size_t kSizeUsual = 64;
  std::string name;
  name.reserve(kSizeUsual);
  name.append(std::to_string(request.company)).append(".").append(std::to_string(parts));
  return name.append(id).append(std::to_string(*version));
}

std::string JoinRows(const ListRequest& request, const std::vector<std::string>& ids,
                     std::string_view tail, http::PieceStore& pieces) {
  const Include include = ReadInclude(request.query);
  std::vector<std::string> names;
  names.reserve(ids.size());
  for (const std::string& id : ids) names.push_back(NameOf(request, id, include));
  return pieces.Join(names, tail, [&](size_t row) { return ReadRow(request, ids[row], include); });
}

}  // namespace

void RequireListParameters(const http::Query& query) {
  http::RequireListParameters(query, kFilters, std::array{kIncludeParameter});
}

Page FindPage(db::Session& session, db::CompanyId company, const http::Query& query,
              http::PieceStore* pieces) {
  const ListRequest request{session, company, query, company::FindZone};
  const Conditions conditions = Conditions::Read(request, kFilters);
  Page page;
  page.paging = query.ReadPaging();
  const Found found =
      FindOrders(session, company, Select(request, conditions), ReadSorting(query), page.paging);
  page.total = found.total;
  if (pieces != nullptr) {
    page.gzip = JoinRows(request, found.ids, http::ListTail(page.paging, page.total), *pieces);
  }
  if (page.gzip.empty()) page.rows = ReadRows(request, found.ids);
  page.snapshot = http::SnapshotOf(query, CurrentSeq(session, company));
  page.cursor = events::CurrentCursor(session, company);
  return page;
}

}  // namespace comanda::orders
