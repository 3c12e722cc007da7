#include "app/import_api.h"

#include <algorithm>
#include <array>

#include "app/import.h"
#include "http/context.h"
#include "json/writer.h"

namespace comanda::app {
namespace {

// A restaurant with a thousand products takes about 1 MiB.
constexpr size_t kImportBytesMax = 8 * 1024 * 1024;
// Of the products that the file leaves out, so many are named.
constexpr size_t kLeftOutNamed = 10;

void WriteCounts(json::Writer& out, const ImportCounts& counts) {
  out.BeginObject();
  out.Key("kind").Text(counts.kind);
  out.Key("inserted").Integer(counts.inserted);
  out.Key("updated").Integer(counts.updated);
  out.Key("unchanged").Integer(counts.unchanged);
  out.EndObject();
}

// Reads the body itself: its limit is larger than that of other endpoints.
http::Response ImportDocument(http::Context& ctx) {
  constexpr std::array<std::string_view, 1> kParameters = {"new_company"};
  ctx.query().AllowOnly(kParameters);
  const NewCompanies new_companies = ctx.query().ReadBoolean("new_company").value_or(false)
                                         ? NewCompanies::kTaken
                                         : NewCompanies::kByIdAlone;
  const std::string document = ctx.ReadBody(kImportBytesMax);
  db::Database& database = ctx.site().database;
  const ImportSummary summary = document == R"("demo")" ? ImportDemo(database, new_companies)
                                                        : Import(database, document, new_companies);

  std::string body;
  json::Writer out(body);
  out.BeginArray();
  for (const CompanySummary& company : summary.companies) {
    out.BeginObject().Key("id").Text(company.id).Key("name").Text(company.name);
    out.Key("counts").BeginArray();
    for (const ImportCounts& counts : company.counts) WriteCounts(out, counts);
    out.EndArray();
    out.Key("left_out").Integer(static_cast<int64_t>(company.left_out.size()));
    out.Key("left_out_products").BeginArray();
    for (size_t i = 0; i < std::min(company.left_out.size(), kLeftOutNamed); ++i) {
      const menu::ShownProduct& product = company.left_out[i];
      out.BeginObject().Key("id").Text(product.id).Key("name").Text(product.name);
      out.Key("category_name").Text(product.category_name).EndObject();
    }
    out.EndArray().EndObject();
  }
  out.EndArray();
  return http::Data(body);
}

constexpr http::Route ImportRoute() {
  http::Route route = {http::Method::kPost, "/control/import",   http::Access::kLocal,
                       std::nullopt,        http::Replay::kNone, false,
                       ImportDocument,      kImportBytesMax};
  route.space = http::Space::kPlenty;
  route.of_one_company = false;
  return route;
}

constexpr std::array kRoutes = {ImportRoute()};

}  // namespace

std::span<const http::Route> ImportRoutes() { return kRoutes; }

}  // namespace comanda::app
