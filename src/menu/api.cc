#include "menu/api.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/id.h"
#include "company/companies.h"
#include "events/types.h"
#include "http/context.h"
#include "json/writer.h"
#include "menu/catalogue.h"
#include "menu/json.h"

namespace comanda::menu {
namespace {

using auth::Scope;

constexpr size_t kUpsertBytesMax = 8 * 1024 * 1024;

// -- what handlers share --------------------------------------------------------------------------

// Before the rows: they may then be newer than the tag, never older.
std::string CatalogueTag(http::Context& ctx) {
  return ctx.ListTag(static_cast<size_t>(events::Counter::kCatalogue));
}

company::Company CompanyOf(http::Context& ctx) {
  return ctx.Read([&](db::Snapshot& snapshot) { return company::Get(snapshot, ctx.company()); });
}

Costs CostsFor(const http::Context& ctx) {
  return ctx.principal().scopes.Has(Scope::kMenuWrite) ? Costs::kShown : Costs::kHidden;
}

Renderer RendererFor(const http::Context& ctx, const company::Company& company) {
  return Renderer(company, CostsFor(ctx));
}

template <typename... Record>
http::Response Answer(const Renderer& renderer, int status, const Record&... record) {
  std::string text;
  json::Writer out(text);
  renderer.Write(out, record...);
  return http::Data(text, status);
}

Body BodyOf(const http::Context& ctx) { return {ctx.body(), ctx.unknown_fields()}; }

// A job may run again, so ids of new rows are made before it.
class FreshIds {
 public:
  explicit FreshIds(http::Context& ctx) : now_(ctx.site().clock.Now()) {}

  void Give(VariantPatch& variant) const { variant.fresh_id = NewId(now_); }
  void Give(ProductPatch& product) const {
    product.fresh_id = NewId(now_);
    if (product.category_name) product.fresh_category_id = NewId(now_);
    for (VariantPatch& variant : product.variants) Give(variant);
    for (ModifierCategoryPatch& category : product.modifier_categories) {
      category.fresh_id = NewId(now_);
      for (ModifierPatch& modifier : category.modifiers) modifier.fresh_id = NewId(now_);
    }
  }

 private:
  UtcMs now_;
};

// -- reading --------------------------------------------------------------------------------------

Filter FilterOf(const http::Query& query) {
  return {.visible = query.ReadBoolean("filter[visible]"),
          .available = query.ReadBoolean("filter[available]"),
          .updated_since = query.ReadInstant("filter[updated_since]")};
}

// The whole catalogue is one page, unless the caller asks for pages of categories.
void WritePaging(json::Writer& out, const http::Paging& paging, bool paged, size_t total) {
  const auto count = static_cast<int64_t>(total);
  const int64_t per_page = paged ? paging.per_page : std::max<int64_t>(count, 1);
  out.BeginObject();
  out.Key("current_page").Integer(paging.page);
  out.Key("per_page").Integer(per_page);
  out.Key("total").Integer(count);
  out.Key("has_more").Boolean(paging.page * per_page < count);
  out.EndObject();
}

http::Response GetMenu(http::Context& ctx) {
  constexpr std::array<std::string_view, 5> kParameters = {
      "page", "per_page", "filter[visible]", "filter[available]", "filter[updated_since]"};
  ctx.query().AllowOnly(kParameters);
  const Filter filter = FilterOf(ctx.query());
  const http::Paging paging = ctx.query().ReadPaging();
  const bool paged = ctx.query().Find("page") || ctx.query().Find("per_page");
  std::string tag = CatalogueTag(ctx);
  if (ctx.HasMatch(tag)) return http::NotModified(std::move(tag));

  const Range range =
      paged ? Range{static_cast<size_t>(paging.offset()), static_cast<size_t>(paging.per_page)}
            : Range{};
  // Counts move without a new tag.
  const int64_t stock_moves = ctx.site().database.counters().StockMoves(ctx.company());
  return ctx.Shared(tag + ' ' + std::to_string(stock_moves), [&] {
    const Page page = ctx.Read([&](db::Snapshot& snapshot) {
      const company::Company company = company::Get(snapshot, ctx.company());
      return FindPage(snapshot, company, CostsFor(ctx), filter, range);
    });
    http::Response response;
    response.etag = tag;
    response.body = "{\"data\":{\"categories\":[" + page.categories + "]},\"pagination\":";
    json::Writer out(response.body);
    WritePaging(out, paging, paged, page.total);
    response.body += '}';
    return response;
  });
}

// One record by the id in the path.
template <typename Render>
http::Response GetRecord(http::Context& ctx, Render render) {
  ctx.query().AllowOnly({});
  const std::string id = ctx.UuidParameter("id");
  std::string tag = CatalogueTag(ctx);
  http::Response response = http::Data(ctx.Read([&](db::Snapshot& snapshot) {
    return render(snapshot, company::Get(snapshot, ctx.company()), CostsFor(ctx), id);
  }));
  response.etag = std::move(tag);
  return response;
}

http::Response GetOneCategory(http::Context& ctx) { return GetRecord(ctx, GetCategory); }

http::Response GetOneProduct(http::Context& ctx) {
  return GetRecord(ctx, [](db::Session& session, const company::Company& company, Costs costs,
                           std::string_view id) {
    std::string text;
    json::Writer out(text);
    Renderer(company, costs).Write(out, GetProduct(session, company.company_id, id));
    return text;
  });
}

// -- writing --------------------------------------------------------------------------------------

http::Response PostProduct(http::Context& ctx) {
  ctx.query().AllowOnly({});
  const company::Company company = CompanyOf(ctx);
  json::Errors errors;
  ProductPatch patch = ReadNewProduct(BodyOf(ctx), company.currency_decimals, errors);
  errors.ThrowIfAny();
  FreshIds(ctx).Give(patch);
  return ctx.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    const Product product = Create(tx, company, patch, stamp);
    http::Response response = Answer(RendererFor(ctx, company), 201, product);
    response.location = "/v1/menu/products/" + product.id;
    return response;
  });
}

http::Response PatchProduct(http::Context& ctx) {
  ctx.query().AllowOnly({});
  const std::string id = ctx.UuidParameter("id");
  const company::Company company = CompanyOf(ctx);
  json::Errors errors;
  ProductPatch patch = ReadProductChange(BodyOf(ctx), company.currency_decimals, errors);
  errors.ThrowIfAny();
  FreshIds(ctx).Give(patch);
  return ctx.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    return Answer(RendererFor(ctx, company), 200, Change(tx, company, id, patch, stamp));
  });
}

http::Response PostVariant(http::Context& ctx) {
  ctx.query().AllowOnly({});
  const std::string id = ctx.UuidParameter("id");
  const company::Company company = CompanyOf(ctx);
  json::Errors errors;
  VariantPatch patch = ReadNewVariant(BodyOf(ctx), company.currency_decimals, errors);
  errors.ThrowIfAny();
  FreshIds(ctx).Give(patch);
  return ctx.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    const ChangedVariant added = AddVariant(tx, company, id, patch, stamp);
    return Answer(RendererFor(ctx, company), 201, added.product, added.variant);
  });
}

http::Response PatchVariant(http::Context& ctx) {
  ctx.query().AllowOnly({});
  const std::string id = ctx.UuidParameter("id");
  const std::string variant_id = ctx.UuidParameter("variantId");
  const company::Company company = CompanyOf(ctx);
  json::Errors errors;
  const VariantPatch patch = ReadVariantChange(BodyOf(ctx), company.currency_decimals, errors);
  errors.ThrowIfAny();
  return ctx.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    const ChangedVariant changed = ChangeVariant(tx, company, id, variant_id, patch, stamp);
    return Answer(RendererFor(ctx, company), 200, changed.product, changed.variant);
  });
}

std::string_view ResultName(Effect effect) {
  switch (effect) {
    case Effect::kCreated:
      return "created";
    case Effect::kUpdated:
    case Effect::kStockMoved:
      return "updated";
    case Effect::kUnchanged:
      return "unchanged";
  }
  return "unchanged";
}

http::Response UpsertAnswer(const std::vector<Upserted>& rows) {
  const auto count = [&](std::string_view name) {
    return std::ranges::count(rows, name,
                              [](const Upserted& row) { return ResultName(row.effect); });
  };
  std::string text;
  json::Writer out(text);
  out.BeginObject();
  for (const std::string_view name : {"created", "updated", "unchanged"}) {
    out.Key(name).Integer(count(name));
  }
  out.Key("products").BeginArray();
  for (size_t i = 0; i < rows.size(); ++i) {
    out.BeginObject();
    out.Key("index").Integer(static_cast<int64_t>(i));
    out.Key("id").Text(rows[i].id);
    out.Key("sku").Text(rows[i].sku);
    out.Key("result").Text(ResultName(rows[i].effect));
    out.EndObject();
  }
  out.EndArray().EndObject();
  return http::Data(text);
}

http::Response PutProducts(http::Context& ctx) {
  ctx.query().AllowOnly({});
  const company::Company company = CompanyOf(ctx);
  json::Errors errors;
  std::vector<ProductPatch> patches = ReadUpsert(BodyOf(ctx), company.currency_decimals, errors);
  const FreshIds fresh(ctx);
  for (ProductPatch& patch : patches) fresh.Give(patch);
  if (!errors.empty()) {
    ctx.Read(
        [&](db::Snapshot& snapshot) { RefuseUpsert(snapshot, ctx.company(), patches, errors); });
  }
  http::Response response = ctx.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    return UpsertAnswer(Upsert(tx, company, patches, stamp));
  });
  RenderStale(ctx.site().database);
  return response;
}

constexpr http::Route UpsertRoute() {
  http::Route route = http::Put("/v1/menu/products", Scope::kMenuWrite, PutProducts);
  route.body_max = kUpsertBytesMax;
  route.space = http::Space::kPlenty;
  return route;
}

constexpr std::array kRoutes = {
    http::Get("/v1/menu", Scope::kMenuRead, GetMenu),
    http::Get("/v1/menu/categories/{id}", Scope::kMenuRead, GetOneCategory),
    http::Get("/v1/menu/products/{id}", Scope::kMenuRead, GetOneProduct),
    UpsertRoute(),
    http::Post("/v1/menu/products", Scope::kMenuWrite, PostProduct),
    http::Patch("/v1/menu/products/{id}", Scope::kMenuWrite, PatchProduct),
    http::Post("/v1/menu/products/{id}/variants", Scope::kMenuWrite, PostVariant),
    http::Patch("/v1/menu/products/{id}/variants/{variantId}", Scope::kMenuWrite, PatchVariant),
};

}  // namespace

std::span<const http::Route> Routes() { return kRoutes; }

}  // namespace comanda::menu
