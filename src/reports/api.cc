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

std::string Render(const MethodRow& row, int decimals) {
  std::string text;
  json::Writer out(text);
  out.BeginObject();
  out.Key("payment_method_id").Text(row.payment_method_id);
  out.Key("code").Text(row.code);
  out.Key("name").Text(row.name);
  out.Key("count").Integer(row.count);
  out.Key("sum_total").Scaled(row.sum_total, decimals);
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
  out.Key("payment_method_id").Text(row.payment_method_id);
  out.Key("code").Text(row.code);
  out.Key("name").Text(row.name);
  out.Key("count").Integer(row.count);
  out.Key("sum_total").Scaled(row.sum_total, decimals);
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

// One page of the rows that `find` makes.
template <typename Find>
http::Response Answer(http::Context& ctx, Find find) {
  const http::Paging paging = ctx.query().ReadPaging();
  return ctx.Read([&](db::Snapshot& snapshot) {
    const company::Company company = company::Get(snapshot, ctx.company());
    const Question question = ReadQuestion(ctx.query(), company, ctx.site().clock.Now());
    const auto all = find(snapshot, question);
    const auto total = static_cast<int64_t>(all.size());
    const int64_t end = std::min(total, paging.offset() + paging.per_page);
    std::vector<std::string> rows;
    for (int64_t i = std::min(total, paging.offset()); i < end; ++i) {
      rows.push_back(Render(all[static_cast<size_t>(i)], company.currency_decimals));
    }
    http::Response response;
    response.body = http::ListBody(rows, paging, total);
    return response;
  });
}

http::Response GetByPaymentMethods(http::Context& ctx) {
  RequireParameters(ctx.query());
  return Answer(ctx, ByPaymentMethods);
}

http::Response GetByTips(http::Context& ctx) {
  RequireParameters(ctx.query());
  return Answer(ctx, ByTips);
}

http::Response GetProductsSold(http::Context& ctx) {
  RequireParameters(ctx.query(), std::array{kIncludeParameter});
  const Lines lines = ReadLines(ctx.query());
  return Answer(ctx, [lines](db::Session& session, const Question& question) {
    return ProductsSold(session, question, lines);
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
