#include "menu/catalogue.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "base/problem.h"
#include "company/companies.h"
#include "events/log.h"
#include "json/writer.h"
#include "menu/json.h"
#include "menu/planner.h"
#include "menu/record.h"
#include "menu/store.h"

namespace comanda::menu {
namespace {

Refusal NoSuch(std::string_view noun, std::string_view id) {
  return Refusal(Problem::kNotFound,
                 "there is no " + std::string(noun) + " " + std::string(id) + " in the menu");
}

// -- reading --------------------------------------------------------------------------------------

bool Chooses(const Filter& filter, const StoredRecord& record) {
  return (!filter.visible || record.visible == *filter.visible) &&
         (!filter.available || record.available == *filter.available) &&
         (!filter.updated_since || record.updated_at >= *filter.updated_since);
}

// The records of the category's products, all of them rendered.
std::vector<StoredRecord> FreshRecords(db::Session& session, const company::Company& company,
                                       std::string_view category_id) {
  std::vector<StoredRecord> records =
      SelectRecords(session, company.company_id, category_id, kRenderVersion, company.currency);
  const bool any_stale =
      std::ranges::any_of(records, [](const StoredRecord& record) { return record.json.empty(); });
  if (!any_stale) return records;
  const std::vector<Product> products = SelectProducts(session, company.company_id, category_id);
  CHECK(products.size() == records.size(), "one snapshot shows a category's products once");
  for (size_t i = 0; i < products.size(); ++i) {
    if (!records[i].json.empty()) continue;
    records[i].available = IsAvailable(products[i]);
    records[i].json = RenderMarked(company, products[i]);
  }
  return records;
}

void AppendCategory(std::string& text, db::Session& session, const company::Company& company,
                    Costs costs, const Category& category, const Filter& filter) {
  const std::vector<StoredRecord> records = FreshRecords(session, company, category.id);
  const std::vector<StockRow> rows = SelectStocks(session, company.company_id, category.id);
  auto row = rows.begin();
  std::vector<int64_t> stocks;
  text += '{';
  json::Writer out(text);
  WriteFields(out, category);
  text += ",\"products\":[";
  bool first = true;
  for (const StoredRecord& record : records) {
    for (stocks.clear(); row != rows.end() && row->product_id == record.product_id; ++row) {
      stocks.push_back(row->stock);
    }
    if (!Chooses(filter, record)) continue;
    if (!std::exchange(first, false)) text += ',';
    if (!AppendFilled(text, record.json, costs, stocks)) {
      throw Fault(Fault::Kind::kInternal,
                  "the record of product " + record.product_id + " has not a mark for each stock");
    }
  }
  text += "]}";
}

// -- saving a plan --------------------------------------------------------------------------------

template <typename Row>
const Row* FindById(const std::vector<Row>& rows, const std::string& id) {
  const auto found = std::ranges::find(rows, id, &Row::id);
  return found == rows.end() ? nullptr : &*found;
}

auto OwnFields(const Product& product) {
  return std::tie(product.category_id, product.name, product.slug, product.description,
                  product.image_url, product.images, product.position, product.visible,
                  product.stock_enabled, product.messages_for_customers, product.kitchen_id);
}

auto OwnFields(const ModifierCategory& category) {
  return std::tie(category.name, category.type, category.required, category.min_modifiers,
                  category.max_modifiers, category.is_active, category.position);
}

// Whether it is counted at all is no matter of counts.
bool DiffersInMoreThanStock(const Variant& before, Variant after) {
  if (before.stock.has_value() != after.stock.has_value()) return true;
  after.stock = before.stock;
  return after != before;
}

class Saver {
 public:
  Saver(db::Tx& tx, db::CompanyId company, const db::Stamp& stamp)
      : tx_(tx), company_(company), stamp_(stamp) {}

  Effect Save(const Planned& row) {
    static const Product kNothing;
    const Product& before = row.before ? *row.before : kNothing;
    const Product& after = row.after;
    record_changed_ = stock_moved_ = false;
    const bool own_changed = !row.before || OwnFields(before) != OwnFields(after);
    if (own_changed) Upsert(tx_, company_, after, stamp_);
    for (const Variant& variant : after.variants) SaveVariant(before, after, variant);
    SaveModifiers(before, after);
    if (!row.before) return Effect::kCreated;
    if (record_changed_ && !own_changed) Touch(tx_, company_, after.id, stamp_);
    if (own_changed || record_changed_) return Effect::kUpdated;
    return stock_moved_ ? Effect::kStockMoved : Effect::kUnchanged;
  }

 private:
  void SaveVariant(const Product& before, const Product& after, const Variant& variant) {
    const Variant* stored = FindById(before.variants, variant.id);
    if (stored && IsAvailable(before, *stored) != IsAvailable(after, variant)) {
      record_changed_ = true;
    }
    if (stored && *stored == variant) return;
    if (!stored || DiffersInMoreThanStock(*stored, variant)) {
      record_changed_ = true;
    } else {
      stock_moved_ = true;
    }
    Upsert(tx_, company_, variant, after.id);
    if (stored && stored->stock && !variant.stock) ClearStock(tx_, company_, variant.id);
  }

  void SaveModifiers(const Product& before, const Product& after) {
    for (const ModifierCategory& category : after.modifier_categories) {
      const ModifierCategory* stored = FindById(before.modifier_categories, category.id);
      if (!stored || OwnFields(*stored) != OwnFields(category)) {
        Upsert(tx_, company_, category, after.id);
        record_changed_ = true;
      }
      for (const Modifier& modifier : category.modifiers) {
        const Modifier* stored_modifier =
            stored ? FindById(stored->modifiers, modifier.id) : nullptr;
        if (stored_modifier && *stored_modifier == modifier) continue;
        Upsert(tx_, company_, modifier, category.id, after.id);
        record_changed_ = true;
      }
    }
  }

  db::Tx& tx_;
  const db::CompanyId company_;
  const db::Stamp& stamp_;
  bool record_changed_ = false;  // of what GET shows, stock counts apart
  bool stock_moved_ = false;
};

// Two variants may swap their skus, so all of them let go first.
void LetGoOfSkus(db::Tx& tx, db::CompanyId company, const Planner& plan) {
  for (const Planned& row : plan.rows()) {
    if (!row.before) continue;
    for (const Variant& variant : row.after.variants) {
      const Variant* stored = FindById(row.before->variants, variant.id);
      if (stored && stored->sku && stored->sku != variant.sku) {
        FreeOtherSku(tx, company, variant.id, variant.sku);
      }
    }
  }
}

std::vector<Effect> Save(db::Tx& tx, db::CompanyId company, const Planner& plan,
                         const db::Stamp& stamp) {
  for (const Category& category : plan.new_categories()) Upsert(tx, company, category);
  LetGoOfSkus(tx, company, plan);
  Saver saver(tx, company, stamp);
  std::vector<Effect> effects;
  for (const Planned& row : plan.rows()) effects.push_back(saver.Save(row));
  return effects;
}

// -- telling --------------------------------------------------------------------------------------

events::Changes Fields() {
  events::Changes changes;
  changes.Add(events::Change::kFields);
  return changes;
}

void Announce(db::Tx& tx, const company::Company& company, events::Type type,
              const Product& product, const db::Stamp& stamp) {
  std::string body;
  json::Writer out(body);
  Renderer(company, Costs::kHidden).Write(out, product);
  events::Append(tx, company.company_id, stamp,
                 {.type = type,
                  .changes = type == events::Type::kProductUpdated ? Fields() : events::Changes(),
                  .subject_id = product.id,
                  .subject_version = product.version,
                  .body = body});
}

// What readers of the whole menu join.
void Keep(db::Tx& tx, const company::Company& company, const Product& product) {
  PutRecord(tx, company.company_id, product, kRenderVersion, company.currency,
            RenderMarked(company, product));
}

// Saves a plan of one product, tells, and shows it as GET does.
Product SaveOne(db::Tx& tx, const company::Company& company, Planner& plan,
                const db::Stamp& stamp) {
  plan.Finish();
  CHECK(plan.rows().size() == 1, "a plan without errors has its row");
  const Effect effect = Save(tx, company.company_id, plan, stamp).front();
  Product product = GetProduct(tx, company.company_id, plan.rows().front().after.id);
  if (effect == Effect::kCreated || effect == Effect::kUpdated) Keep(tx, company, product);
  if (effect == Effect::kCreated) {
    Announce(tx, company, events::Type::kProductCreated, product, stamp);
  } else if (effect == Effect::kUpdated) {
    Announce(tx, company, events::Type::kProductUpdated, product, stamp);
  }
  return product;
}

void AnnounceAll(db::Tx& tx, const company::Company& company, const std::vector<Upserted>& rows,
                 const db::Stamp& stamp) {
  Announcement products;
  for (const Upserted& row : rows) {
    if (row.effect == Effect::kCreated) products.created.push_back(row.id);
    if (row.effect == Effect::kUpdated) products.updated.push_back(row.id);
  }
  products.all_created = products.created.size() == rows.size();
  Announce(tx, company.company_id, products, stamp);
}

std::optional<std::string> FirstSku(const Product& product) {
  for (const Variant& variant : product.variants) {
    if (variant.sku) return variant.sku;
  }
  return std::nullopt;
}

void PlanUpsert(Planner& plan, const std::vector<ProductPatch>& patches) {
  for (const ProductPatch& patch : patches) {
    if (!patch.wrong) plan.Upsert(patch);
  }
  plan.Finish();
}

}  // namespace

// -- reading --------------------------------------------------------------------------------------

Page FindPage(db::Session& session, const company::Company& company, Costs costs,
              const Filter& filter, Range range) {
  Page page;
  const std::vector<Category> all = SelectCategories(session, company.company_id);
  page.total = all.size();
  for (size_t i = range.offset; i < all.size() && i - range.offset < range.limit; ++i) {
    if (i > range.offset) page.categories += ',';
    AppendCategory(page.categories, session, company, costs, all[i], filter);
  }
  return page;
}

std::string GetCategory(db::Session& session, const company::Company& company, Costs costs,
                        std::string_view id) {
  const std::optional<Category> category = SelectCategory(session, company.company_id, id);
  if (!category) throw NoSuch("category", id);
  std::string text;
  AppendCategory(text, session, company, costs, *category, {});
  return text;
}

Product GetProduct(db::Session& session, db::CompanyId company, std::string_view id) {
  std::optional<Product> product = SelectWhole(session, company, id, Depth::kModifiers);
  if (!product) throw NoSuch("product", id);
  return *std::move(product);
}

// -- writing --------------------------------------------------------------------------------------

void Announce(db::Tx& tx, db::CompanyId company, const Announcement& products,
              const db::Stamp& stamp) {
  if (products.created.empty() && products.updated.empty()) return;
  std::string body;
  json::Writer out(body);
  const auto list = [&](std::string_view name, const std::vector<std::string>& ids) {
    out.Key(name).BeginArray();
    for (const std::string& id : ids) out.Text(id);
    out.EndArray();
  };
  out.BeginObject();
  list("created", products.created);
  list("updated", products.updated);
  out.EndObject();
  const bool all = products.all_created;
  events::Append(tx, company, stamp,
                 {.type = all ? events::Type::kProductCreated : events::Type::kProductUpdated,
                  .changes = all ? events::Changes() : Fields(),
                  .subject_id = "",
                  .subject_version = 0,
                  .body = body});
}

Product Create(db::Tx& tx, const company::Company& company, const ProductPatch& patch,
               const db::Stamp& stamp) {
  json::Errors errors;
  Planner plan(tx, company.company_id, errors);
  plan.Insert(patch);
  return SaveOne(tx, company, plan, stamp);
}

Product Change(db::Tx& tx, const company::Company& company, std::string_view product_id,
               const ProductPatch& patch, const db::Stamp& stamp) {
  json::Errors errors;
  Planner plan(tx, company.company_id, errors);
  plan.Change(patch, GetProduct(tx, company.company_id, product_id));
  return SaveOne(tx, company, plan, stamp);
}

ChangedVariant AddVariant(db::Tx& tx, const company::Company& company, std::string_view product_id,
                          const VariantPatch& patch, const db::Stamp& stamp) {
  ProductPatch product_patch;
  product_patch.variants.push_back(patch);
  product_patch.variants.front().is_new = true;
  Product product = Change(tx, company, product_id, product_patch, stamp);
  const Variant* variant = FindById(product.variants, patch.fresh_id);
  CHECK(variant != nullptr, "a variant that was added is there");
  Variant added = *variant;
  return {std::move(product), std::move(added)};
}

ChangedVariant ChangeVariant(db::Tx& tx, const company::Company& company,
                             std::string_view product_id, std::string_view variant_id,
                             VariantPatch patch, const db::Stamp& stamp) {
  const std::string id(variant_id);
  const Product before = GetProduct(tx, company.company_id, product_id);
  if (!FindById(before.variants, id)) throw NoSuch("variant", variant_id);
  patch.id = id;
  ProductPatch product_patch;
  product_patch.variants.push_back(std::move(patch));
  Product product = Change(tx, company, product_id, product_patch, stamp);
  Variant changed = *FindById(product.variants, id);
  return {std::move(product), std::move(changed)};
}

std::vector<Upserted> Upsert(db::Tx& tx, const company::Company& company,
                             const std::vector<ProductPatch>& patches, const db::Stamp& stamp) {
  json::Errors errors;
  Planner plan(tx, company.company_id, errors);
  PlanUpsert(plan, patches);
  const std::vector<Effect> effects = Save(tx, company.company_id, plan, stamp);
  std::vector<Upserted> rows;
  for (size_t i = 0; i < effects.size(); ++i) {
    const Product& product = plan.rows()[i].after;
    rows.push_back({product.id, FirstSku(product), effects[i]});
  }
  AnnounceAll(tx, company, rows, stamp);
  return rows;
}

void RefuseUpsert(db::Session& session, db::CompanyId company,
                  const std::vector<ProductPatch>& patches, json::Errors& errors) {
  Planner plan(session, company, errors);
  PlanUpsert(plan, patches);
}

void RenderStale(db::Database& database, const std::function<void()>& progress) {
  constexpr int kProductsAJob = 50;
  const auto select = [](db::Session& session) {
    return SelectStale(session, kRenderVersion, kProductsAJob);
  };
  while (!database.Read(select).empty()) {
    database.Write([&](db::Tx& tx, const db::Stamp&) {
      std::optional<company::Company> company;
      for (const StaleRow& row : select(tx)) {
        if (!company || company->company_id != row.company) {
          company = company::Get(tx, row.company);
        }
        Keep(tx, *company, GetProduct(tx, row.company, row.product_id));
      }
    });
    progress();
  }
}

void NoteChange(db::Tx& tx, const company::Company& company, std::string_view product_id,
                const db::Stamp& stamp) {
  Touch(tx, company.company_id, product_id, stamp);
  const Product product = GetProduct(tx, company.company_id, product_id);
  Keep(tx, company, product);
  Announce(tx, company, events::Type::kProductUpdated, product, stamp);
}

}  // namespace comanda::menu
