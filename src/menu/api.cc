#include "menu/api.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "company/companies.h"
#include "events/types.h"
#include "http/context.h"
#include "json/writer.h"
#include "menu/catalogue.h"
#include "menu/fields.h"
#include "menu/json.h"
#include "menu/sold_out.h"

namespace comanda::menu {
namespace {

using auth::Scope;

constexpr size_t kUpsertBytesMax = 8 * 1024 * 1024;

// Read before the rows: the rows may then be newer than the tag, but never older.
std::string CatalogueTag(http::Context& ctx) {
  return ctx.ListTag(static_cast<size_t>(events::Counter::kCatalogue));
}

company::Company CompanyOf(http::Context& ctx) {
  return ctx.Read([&](db::Snapshot& snapshot) { return company::Get(snapshot, ctx.company()); });
}

Costs CostsFor(const http::Context& ctx) {
  return ctx.principal().scopes.Has(Scope::kMenuWrite) ? Costs::kShown : Costs::kHidden;
}

// Reading.

Filter FilterOf(const http::Query& query) {
  return {.visible = query.ReadBoolean("filter[visible]"),
          .available = query.ReadBoolean("filter[available]"),
          .updated_since = query.ReadInstant("filter[updated_since]")};
}

bool IsPaged(const http::Query& query) { return query.Find("page") || query.Find("per_page"); }

// The whole catalogue is one page, unless the client asks for pages of categories.
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
  Filter filter = FilterOf(ctx.query());
  const http::Paging paging = ctx.query().ReadPaging();
  const bool paged = IsPaged(ctx.query());
  std::string tag = CatalogueTag(ctx);
  if (ctx.HasMatch(tag)) return http::NotModified(std::move(tag));

  if (paged) {
    filter.categories_offset = static_cast<size_t>(paging.offset());
    filter.categories_limit = static_cast<size_t>(paging.per_page);
  }
  // Stock counts change without a new tag, so the cache key needs their counter too.
  const int64_t stock_moves = ctx.site().database.counters().StockMoves(ctx.company());
  return ctx.Shared(tag + ' ' + std::to_string(stock_moves), [&] {
    const auto read = [&](db::Snapshot& snapshot, http::PageRows& rows) {
      const company::Company company = company::Get(snapshot, ctx.company());
      const size_t total = AddCategories(rows, snapshot, company, CostsFor(ctx), filter);
      http::Response response;
      response.etag = tag;
      response.body = rows.End("]},\"pagination\":");
      json::Writer out(response.body);
      WritePaging(out, paging, paged, total);
      response.body += '}';
      return response;
    };
    return ctx.ReadPage(read, R"({"data":{"categories":[)");
  });
}

http::Response GetOneCategory(http::Context& ctx) {
  constexpr std::array<std::string_view, 2> kParameters = {"page", "per_page"};
  ctx.query().AllowOnly(kParameters);
  const std::string id = ctx.UuidParameter("id");
  const http::Paging paging = ctx.query().ReadPaging();
  const bool paged = IsPaged(ctx.query());
  const std::string tag = CatalogueTag(ctx);
  Filter filter;
  if (paged) {
    filter.products_offset = static_cast<size_t>(paging.offset());
    filter.products_limit = static_cast<size_t>(paging.per_page);
  }
  const auto read = [&](db::Snapshot& snapshot, http::PageRows& rows) {
    const company::Company company = company::Get(snapshot, ctx.company());
    const size_t total = AddCategory(rows, snapshot, company, CostsFor(ctx), id, filter);
    http::Response response;
    response.body = rows.End(paged ? ",\"pagination\":" : "}");
    if (paged) {
      json::Writer out(response.body);
      WritePaging(out, paging, paged, total);
      response.body += '}';
    }
    response.etag = tag;
    return response;
  };
  return ctx.ReadPage(read, R"({"data":)");
}

http::Response GetOneProduct(http::Context& ctx) {
  ctx.query().AllowOnly({});
  const std::string id = ctx.UuidParameter("id");
  std::string tag = CatalogueTag(ctx);
  http::Response response = http::Data(ctx.Read([&](db::Snapshot& snapshot) {
    const company::Company company = company::Get(snapshot, ctx.company());
    std::string text;
    json::Writer out(text);
    Renderer(company, CostsFor(ctx)).Write(out, GetProduct(snapshot, company.company_id, id));
    return text;
  }));
  response.etag = std::move(tag);
  return response;
}

// Writing.

Draft ReadDraft(http::Context& ctx, const Form& form, const company::Company& company,
                json::Errors& errors) {
  return ReadBody({ctx.body(), ctx.unknown_fields()}, form, company, ctx.site().clock.Now(),
                  errors);
}

// Overwrites the row's id with that of the path.
template <typename Row>
void Name(const std::string& id, Row& row) {
  row.id = id;
  row.sent.has_id = true;
}

// Writes a product or one of its variants, and answers its record.
http::Response WriteRecord(http::Context& ctx, const Form& form) {
  ctx.query().AllowOnly({});
  const std::string id = form.needs_product() ? ctx.UuidParameter("id") : "";
  const std::string variant_id = form == kPatchVariant ? ctx.UuidParameter("variantId") : "";
  const company::Company company = CompanyOf(ctx);
  json::Errors errors;
  Draft draft = ReadDraft(ctx, form, company, errors);
  errors.ThrowIfAny();
  Product& sent = draft.products.front();
  if (!id.empty()) Name(id, sent);
  if (!variant_id.empty()) Name(variant_id, sent.variants.front());
  return ctx.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    const Product product = WriteOne(tx, company, draft, stamp);
    std::string text;
    json::Writer out(text);
    const Renderer renderer(company, CostsFor(ctx));
    if (form.top == Form::Top::kVariant) {
      renderer.Write(out, product, *FindById(product.variants, sent.variants.front().id));
    } else {
      renderer.Write(out, product);
    }
    http::Response response = http::Data(text, form.is_change ? 200 : 201);
    if (form == kPostProduct) response.location = "/v1/menu/products/" + product.id;
    return response;
  });
}

http::Response PostProduct(http::Context& ctx) { return WriteRecord(ctx, kPostProduct); }
http::Response PatchProduct(http::Context& ctx) { return WriteRecord(ctx, kPatchProduct); }
http::Response PostVariant(http::Context& ctx) { return WriteRecord(ctx, kPostVariant); }
http::Response PatchVariant(http::Context& ctx) { return WriteRecord(ctx, kPatchVariant); }

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

http::Response UpsertAnswer(const std::vector<Written::Row>& rows) {
  const auto count = [&](std::string_view name) {
    return std::ranges::count(rows, name,
                              [](const Written::Row& row) { return ResultName(row.effect); });
  };
  std::string text;
  json::Writer out(text);
  out.BeginObject();
  for (const std::string_view name : {"created", "updated", "unchanged"}) {
    out.KeyOf(name).Integer(count(name));
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
  const Draft draft = ReadDraft(ctx, kPutProducts, company, errors);
  if (!errors.empty()) {
    ctx.Read([&](db::Snapshot& snapshot) { Check(snapshot, ctx.company(), draft, errors); });
    errors.ThrowIfAny();
  }
  http::Response response = ctx.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    const Written written = Write(tx, ctx.company(), draft, stamp);
    Announce(tx, company, written, stamp);
    return UpsertAnswer(written.rows);
  });
  RenderStale(ctx.site().database);
  return response;
}

// Sold out.

using SetSoldOut = SoldOutState (*)(db::Tx&, const company::Company&, std::string_view,
                                    const std::optional<SoldOut>&, const db::Stamp&);

http::Response WriteSoldOut(http::Context& ctx, SetSoldOut set, bool is_sold_out) {
  ctx.query().AllowOnly({});
  const std::string id = ctx.UuidParameter("id");
  SoldOutUntil until;
  if (is_sold_out) {
    until = ReadSoldOut(ctx.body(), ctx.unknown_fields(), ctx.site().clock.Now());
  }
  const company::Company company = CompanyOf(ctx);
  return ctx.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    std::optional<SoldOut> wanted;
    if (is_sold_out) {
      wanted = SoldOut{.since = stamp.now, .until = until.until, .by = ctx.principal().name};
    }
    const SoldOutState state = set(tx, company, id, wanted, stamp);
    return http::Data(RenderSoldOut(id, state.name, state.is_available, state.sold_out));
  });
}

http::Response PutProductSoldOut(http::Context& ctx) {
  return WriteSoldOut(ctx, SetProductSoldOut, true);
}
http::Response DeleteProductSoldOut(http::Context& ctx) {
  return WriteSoldOut(ctx, SetProductSoldOut, false);
}
http::Response PutModifierSoldOut(http::Context& ctx) {
  return WriteSoldOut(ctx, SetModifierSoldOut, true);
}
http::Response DeleteModifierSoldOut(http::Context& ctx) {
  return WriteSoldOut(ctx, SetModifierSoldOut, false);
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
    http::Put("/v1/menu/products/{id}/sold-out", Scope::kKitchenWrite, PutProductSoldOut),
    http::Delete("/v1/menu/products/{id}/sold-out", Scope::kKitchenWrite, DeleteProductSoldOut),
    http::Put("/v1/menu/modifiers/{id}/sold-out", Scope::kKitchenWrite, PutModifierSoldOut),
    http::Delete("/v1/menu/modifiers/{id}/sold-out", Scope::kKitchenWrite, DeleteModifierSoldOut),
};

}  // namespace

std::span<const http::Route> Routes() { return kRoutes; }

}  // namespace comanda::menu
