#include "reports/api.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "company/companies.h"
#include "http/context.h"
#include "json/writer.h"
#include "reports/query.h"
#include "reports/reports.h"

namespace comanda::reports {
namespace {

constexpr int kQuantityDecimals = 3;

// The members that both reports on payments share.
template <typename Row>
void WriteMethod(json::Writer& out, const Row& row, int decimals) {
  out.Key("payment_method_id").Text(row.payment_method_id);
  out.Key("code").Text(row.code);
  out.Key("name").Text(row.name);
  out.Key("count").Integer(row.count);
  out.Key("sum_total").Scaled(row.sum_total, decimals);
}

std::string Render(const MethodRow& row, int decimals) {
  std::string text;
  json::Writer out(text);
  out.BeginObject();
  WriteMethod(out, row, decimals);
  out.Key("tips_total").Scaled(row.tips_total, decimals);
  out.Key("canceled_count").Integer(row.canceled_count);
  out.Key("canceled_total").Scaled(row.canceled_total, decimals);
  out.EndObject();
  return text;
}

std::string Render(const TipRow& row, int decimals) {
  std::string text;
  json::Writer out(text);
  out.BeginObject();
  WriteMethod(out, row, decimals);
  out.EndObject();
  return text;
}

std::string Render(const SoldRow& row, int decimals) {
  std::string text;
  json::Writer out(text);
  out.BeginObject();
  out.Key("product_id").Text(row.product_id);
  out.Key("variant_id").Text(row.variant_id);
  out.Key("product_name").Text(row.product_name);
  out.Key("variant_name").Text(row.variant_name);
  out.Key("product_quantity").Scaled(row.quantity, kQuantityDecimals);
  out.Key("average_price").Scaled(AveragePrice(row.total_sales, row.quantity), decimals);
  out.Key("total_sales").Scaled(row.total_sales, decimals);
  out.Key("canceled_quantity").Scaled(row.canceled_quantity, kQuantityDecimals);
  out.Key("modifiers").BeginArray();
  for (const SoldModifier& modifier : row.modifiers) {
    out.BeginObject();
    out.Key("modifier_name").Text(modifier.name);
    out.Key("modifier_quantity").Scaled(modifier.quantity, kQuantityDecimals);
    out.Key("total_sales").Scaled(modifier.total_sales, decimals);
    out.EndObject();
  }
  out.EndArray();
  out.EndObject();
  return text;
}

// A figure by which rows can be sorted. The first one of a report is its default, in descending
// order.
template <typename Row>
struct Figure {
  std::string_view field;
  int64_t Row::*member;
};

constexpr std::array kMethodFigures = {
    Figure<MethodRow>{"sum_total", &MethodRow::sum_total},
    Figure<MethodRow>{"count", &MethodRow::count},
    Figure<MethodRow>{"tips_total", &MethodRow::tips_total},
    Figure<MethodRow>{"canceled_count", &MethodRow::canceled_count},
    Figure<MethodRow>{"canceled_total", &MethodRow::canceled_total},
};
constexpr std::array kTipFigures = {
    Figure<TipRow>{"sum_total", &TipRow::sum_total},
    Figure<TipRow>{"count", &TipRow::count},
};
constexpr std::array kSoldFigures = {
    Figure<SoldRow>{"product_quantity", &SoldRow::quantity},
    Figure<SoldRow>{"total_sales", &SoldRow::total_sales},
    Figure<SoldRow>{"canceled_quantity", &SoldRow::canceled_quantity},
};

template <typename Row>
http::Sort ReadSort(const http::Query& query, std::span<const Figure<Row>> figures) {
  std::vector<std::string_view> fields;
  for (const Figure<Row>& figure : figures) fields.push_back(figure.field);
  return query.ReadSort(fields, '-' + std::string(fields.front()));
}

// Stable, so that rows with equal figures stay sorted by id, in both directions.
template <typename Row>
void SortBy(int64_t Row::*member, bool descending, std::vector<Row>& rows) {
  std::ranges::stable_sort(rows, [&](const Row& a, const Row& b) {
    return descending ? b.*member < a.*member : a.*member < b.*member;
  });
}

// One page of the rows that `find` returns.
template <typename Row, typename Find>
http::Response Answer(http::Context& ctx, std::span<const Figure<Row>> figures, Find find) {
  const http::Paging paging = ctx.query().ReadPaging();
  const http::Sort sort = ReadSort(ctx.query(), figures);
  return ctx.ReadPage([&](db::Snapshot& snapshot, http::PageRows& rows) {
    const company::Company company = company::Get(snapshot, ctx.company());
    const OrderFilter filter = ReadOrderFilter(ctx.query(), company, ctx.site().clock.Now());
    std::vector<Row> all = find(snapshot, filter);
    SortBy(figures[sort.index].member, sort.descending, all);
    const auto total = static_cast<int64_t>(all.size());
    const int64_t end = std::min(total, paging.offset() + paging.per_page);
    for (int64_t i = std::min(total, paging.offset()); i < end; ++i) {
      rows.Add(Render(all[static_cast<size_t>(i)], company.currency_decimals));
    }
    http::Response response;
    response.body = rows.End(paging, total);
    return response;
  });
}

http::Response GetByPaymentMethods(http::Context& ctx) {
  RequireParameters(ctx.query(), std::array{kByParameter});
  const DatedBy dated_by = ReadDatedBy(ctx.query());
  return Answer<MethodRow>(ctx, kMethodFigures,
                           [dated_by](db::Session& session, const OrderFilter& filter) {
                             return ByPaymentMethods(session, filter, dated_by);
                           });
}

http::Response GetByTips(http::Context& ctx) {
  RequireParameters(ctx.query(), std::array{kByParameter});
  const DatedBy dated_by = ReadDatedBy(ctx.query());
  return Answer<TipRow>(ctx, kTipFigures,
                        [dated_by](db::Session& session, const OrderFilter& filter) {
                          return ByTips(session, filter, dated_by);
                        });
}

http::Response GetProductsSold(http::Context& ctx) {
  RequireParameters(ctx.query(), std::array{kIncludeParameter});
  const Lines lines = ReadLines(ctx.query());
  return Answer<SoldRow>(ctx, kSoldFigures,
                         [lines](db::Session& session, const OrderFilter& filter) {
                           return ProductsSold(session, filter, lines);
                         });
}

constexpr auto kRoutes = http::With(
    http::Space::kPlenty,
    std::array{
        http::Get("/v1/orders/by-payment-methods", auth::Scope::kOrdersRead, GetByPaymentMethods),
        http::Get("/v1/orders/by-tips", auth::Scope::kOrdersRead, GetByTips),
        http::Get("/v1/orders/products-sold", auth::Scope::kOrdersRead, GetProductsSold),
    });

}  // namespace

std::span<const http::Route> Routes() { return kRoutes; }

}  // namespace comanda::reports
