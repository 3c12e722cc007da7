#include "menu/catalogue.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <unordered_set>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "base/problem.h"
#include "company/companies.h"
#include "events/log.h"
#include "json/writer.h"
#include "menu/fields.h"
#include "menu/planner.h"
#include "menu/record.h"
#include "menu/store.h"

namespace comanda::menu {
namespace {

using company::UpsertResult;

bool Chooses(const Filter& filter, const StoredRecord& record) {
  return (!filter.visible || record.visible == *filter.visible) &&
         (!filter.available || record.available == *filter.available) &&
         (!filter.updated_since || record.updated_at >= *filter.updated_since);
}

enum class Counted : uint8_t { kCategories, kProducts };

// Writes the rows of categories, each with its matching products.
class CategoryWriter {
 public:
  CategoryWriter(http::PageRows& rows, db::Session& session, const company::Company& company,
                 Costs costs, const Filter& filter, Counted counted)
      : rows_(rows),
        session_(session),
        company_(company),
        costs_(costs),
        filter_(filter),
        counted_(counted) {}

  void Write(std::span<const Category> categories);
  // Of the category written last.
  size_t matching() const { return matching_; }

 private:
  void Begin(const Category& category);
  void Add(StoredRecord& record);

  http::PageRows& rows_;
  db::Session& session_;
  const company::Company& company_;
  const Costs costs_;
  const Filter& filter_;
  const Counted counted_;
  std::string* text_ = nullptr;
  size_t matching_ = 0;
  bool is_first_ = true;
};

void CategoryWriter::Begin(const Category& category) {
  text_ = &rows_.Begin();
  *text_ += '{';
  json::Writer out(*text_);
  WriteFields(out, category);
  *text_ += ",\"products\":[";
  matching_ = 0;
  is_first_ = true;
}

void CategoryWriter::Add(StoredRecord& record) {
  constexpr size_t kBytesOfStock = 32;
  if (record.json.empty()) {
    const Product product = GetProduct(session_, company_.company_id, record.product_id);
    record.available = IsAvailable(product);
    record.json = RenderMarked(company_, product);
  }
  if (!Chooses(filter_, record)) return;
  const size_t place = matching_++;
  if (place < filter_.products_offset) return;
  if (place - filter_.products_offset >= filter_.products_limit) return;
  if (counted_ == Counted::kProducts) rows_.CountPart();
  rows_.Require(record.json.size() + record.stocks.size() * kBytesOfStock);
  if (!std::exchange(is_first_, false)) *text_ += ',';
  if (!AppendFilled(*text_, record.json, costs_, record.stocks)) {
    throw Fault(Fault::Kind::kInternal,
                "the record of product " + record.product_id + " has not a mark for each stock");
  }
}

void CategoryWriter::Write(std::span<const Category> categories) {
  // The products come category by category, in the order of the categories' ids.
  std::vector<size_t> by_id(categories.size());
  std::iota(by_id.begin(), by_id.end(), size_t{0});
  std::ranges::sort(by_id, {}, [&](size_t i) -> const std::string& { return categories[i].id; });
  const size_t others = rows_.count();
  std::vector<size_t> ended;  // sorted
  size_t begun = 0;           // of by_id
  // Ends the category that was begun last, and begins the next one. False behind the last.
  const auto go_on = [&] {
    if (begun > 0) {
      *text_ += "]}";
      const auto place = std::ranges::upper_bound(ended, by_id[begun - 1]);
      rows_.MoveLast(others + static_cast<size_t>(place - ended.begin()));
      ended.insert(place, by_id[begun - 1]);
    }
    if (begun == by_id.size()) return false;
    Begin(categories[by_id[begun++]]);
    return true;
  };
  EachRecord(session_, company_.company_id, categories, kRenderVersion, company_.currency,
             [&](StoredRecord& record) {
               while (begun == 0 || categories[by_id[begun - 1]].id != record.category_id) {
                 CHECK(go_on(), "a product of these categories");
               }
               Add(record);
             });
  while (go_on()) continue;
}

// Writes the rows of a plan that are new or differ from the stored ones.
class Saver {
 public:
  Saver(db::Tx& tx, db::CompanyId company, const Plan& plan, const db::Stamp& stamp)
      : tx_(tx), company_(company), plan_(plan), stamp_(stamp) {}

  Written Save();

 private:
  // What happened to the rows below a product. kStockMoved: only stock counts changed.
  enum class Below : uint8_t { kUnchanged, kStockMoved, kChanged };

  void SaveStations();
  Effect SaveProduct(const PlannedProduct& row);
  Below SaveVariants(const Product& before, const Product& after);
  Below SaveModifiers(const Product& before, const Product& after);

  // `stored` is the row below the same parent. Without it the row is new, or moves from another
  // parent.
  template <typename Row>
  UpsertResult ResultOf(const Row* stored, const Row& row) const {
    if (stored) return SameFields(*stored, row) ? UpsertResult::kUnchanged : UpsertResult::kUpdated;
    return plan_.moved.contains(row.id) ? UpsertResult::kUpdated : UpsertResult::kInserted;
  }
  // Two variants may swap their skus, so all old ones are released first.
  void FreeSkus();

  db::Tx& tx_;
  const db::CompanyId company_;
  const Plan& plan_;
  const db::Stamp& stamp_;
  Written written_;
};

Written Saver::Save() {
  SaveStations();
  for (const Category& category : plan_.categories) Upsert(tx_, company_, category);
  written_.stations = plan_.station_counts;
  written_.categories = plan_.category_counts;
  FreeSkus();
  std::unordered_set<std::string> former_products = plan_.former_products;
  for (const PlannedProduct& row : plan_.products) {
    const auto with_sku = std::ranges::find_if(
        row.after.variants, [](const Variant& variant) { return variant.sku.has_value(); });
    written_.rows.push_back(
        {.id = row.after.id,
         .sku = with_sku == row.after.variants.end() ? std::nullopt : with_sku->sku,
         .effect = SaveProduct(row)});
    former_products.erase(row.after.id);
  }
  for (const std::string& id : former_products) {
    Touch(tx_, company_, id, stamp_);
    written_.former_products.push_back(id);
  }
  std::ranges::sort(written_.former_products);
  return std::move(written_);
}

void Saver::SaveStations() {
  if (plan_.stations.empty()) return;
  const std::vector<Station> former = SelectStations(tx_, company_);
  for (const Station& station : plan_.stations) {
    const Station* const before = FindById(former, station.id);
    const bool prepared = before == nullptr || before->prepares;
    if (prepared != station.prepares) written_.switched_stations.push_back(station.id);
    Upsert(tx_, company_, station);
  }
}

void Saver::FreeSkus() {
  for (const PlannedProduct& row : plan_.products) {
    for (const Variant& variant : row.after.variants) {
      const Variant* stored = row.before ? FindById(row.before->variants, variant.id) : nullptr;
      const bool changes = stored && stored->sku != variant.sku;
      if (changes || plan_.moved.contains(variant.id)) {
        FreeOtherSku(tx_, company_, variant);
      }
    }
  }
}

Effect Saver::SaveProduct(const PlannedProduct& row) {
  static const Product kNothing;
  const Product& before = row.before ? *row.before : kNothing;
  const Product& after = row.after;
  const bool own_changed = !row.before || !SameFields(before, after);
  if (own_changed) Upsert(tx_, company_, after, stamp_);
  const Below variants = SaveVariants(before, after);
  const Below modifiers = SaveModifiers(before, after);
  const bool below_changed = variants == Below::kChanged || modifiers == Below::kChanged ||
                             plan_.former_products.contains(after.id);
  if (below_changed && !own_changed) Touch(tx_, company_, after.id, stamp_);

  company::ImportCounts& products = written_.products;
  if (!row.before) {
    products.Count(UpsertResult::kInserted);
    return Effect::kCreated;
  }
  products.Count(own_changed || below_changed ? UpsertResult::kUpdated : UpsertResult::kUnchanged);
  if (own_changed || below_changed) return Effect::kUpdated;
  return variants == Below::kStockMoved ? Effect::kStockMoved : Effect::kUnchanged;
}

Saver::Below Saver::SaveVariants(const Product& before, const Product& after) {
  const auto changes_record = [&](const Variant* stored, const Variant& variant) {
    if (!stored || IsAvailable(before, *stored) != IsAvailable(after, variant)) return true;
    // Starting or ending to count the stock is a change of the variant.
    if (stored->stock.has_value() != variant.stock.has_value()) return true;
    Variant recounted = variant;
    recounted.stock = stored->stock;
    return !SameFields(*stored, recounted);
  };
  Below below = Below::kUnchanged;
  for (const Variant& variant : after.variants) {
    const Variant* stored = FindById(before.variants, variant.id);
    const UpsertResult outcome = ResultOf(stored, variant);
    if (changes_record(stored, variant)) {
      below = Below::kChanged;
    } else if (outcome != UpsertResult::kUnchanged && below == Below::kUnchanged) {
      below = Below::kStockMoved;
    }
    if (outcome == UpsertResult::kUnchanged) continue;
    Upsert(tx_, company_, variant, after.id);
    written_.variants.Count(outcome);
  }
  return below;
}

Saver::Below Saver::SaveModifiers(const Product& before, const Product& after) {
  Below below = Below::kUnchanged;
  for (const ModifierCategory& category : after.modifier_categories) {
    const ModifierCategory* stored = FindById(before.modifier_categories, category.id);
    const UpsertResult outcome = ResultOf(stored, category);
    if (outcome != UpsertResult::kUnchanged) {
      Upsert(tx_, company_, category, after.id);
      if (!stored && outcome == UpsertResult::kUpdated) {
        MoveModifiers(tx_, company_, category, after.id);
      }
      written_.modifier_categories.Count(outcome);
      below = Below::kChanged;
    }
    for (const Modifier& modifier : category.modifiers) {
      const Modifier* old = stored ? FindById(stored->modifiers, modifier.id) : nullptr;
      const UpsertResult modified = ResultOf(old, modifier);
      if (modified == UpsertResult::kUnchanged) continue;
      Upsert(tx_, company_, modifier, category.id, after.id);
      written_.modifiers.Count(modified);
      below = Below::kChanged;
    }
  }
  return below;
}

// The rest of the draft's rows.
void CountUnchanged(const Draft& draft, Written& written) {
  const auto rest = [](size_t sent, company::ImportCounts& counts) {
    counts.unchanged = static_cast<int>(sent) - counts.inserted - counts.updated;
  };
  size_t variants = 0, categories = 0, modifiers = 0;
  for (const Product& product : draft.products) {
    variants += product.variants.size();
    categories += product.modifier_categories.size();
    for (const ModifierCategory& category : product.modifier_categories) {
      modifiers += category.modifiers.size();
    }
  }
  rest(variants, written.variants);
  rest(categories, written.modifier_categories);
  rest(modifiers, written.modifiers);
}

// Groups that the draft makes or changes.
void LogUnsatisfiable(const Plan& plan) {
  for (const PlannedProduct& row : plan.products) {
    for (const ModifierCategory& category : row.after.modifier_categories) {
      const ModifierCategory* before =
          row.before ? FindById(row.before->modifier_categories, category.id) : nullptr;
      if (CanBeSatisfied(category) || (before && *before == category)) continue;
      log::Warning("a group of the cloud's menu requires more than a guest can choose",
                   {{"product", row.after.name},
                    {"group", category.name},
                    {"min_modifiers", category.min_modifiers}});
    }
  }
}

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
                 {.company_uuid = company.id,
                  .type = type,
                  .changes = type == events::Type::kProductUpdated ? Fields() : events::Changes(),
                  .subject_id = product.id,
                  .subject_version = product.version,
                  .body = body});
}

// Stores the rendered record.
void Keep(db::Tx& tx, const company::Company& company, const Product& product) {
  PutRecord(tx, company.company_id, product, kRenderVersion, company.currency,
            RenderMarked(company, product));
}

}  // namespace

size_t AddCategories(http::PageRows& rows, db::Session& session, const company::Company& company,
                     Costs costs, const Filter& filter) {
  const std::vector<Category> all = SelectCategories(session, company.company_id);
  const size_t begin = std::min(filter.categories_offset, all.size());
  const size_t count = std::min(filter.categories_limit, all.size() - begin);
  const std::span<const Category> page = std::span(all).subspan(begin, count);
  // A large answer may have to be refused with the number of categories that fit: the first ones.
  const size_t at_once = rows.may_be_large() ? 1 : page.size();
  CategoryWriter writer(rows, session, company, costs, filter, Counted::kCategories);
  for (size_t i = 0; i < page.size(); i += at_once) writer.Write(page.subspan(i, at_once));
  return all.size();
}

size_t AddCategory(http::PageRows& rows, db::Session& session, const company::Company& company,
                   Costs costs, std::string_view id, const Filter& filter) {
  const std::optional<Category> category = SelectCategory(session, company.company_id, id);
  if (!category) throw NoSuch("category", id);
  CategoryWriter writer(rows, session, company, costs, filter, Counted::kProducts);
  writer.Write(std::span(&*category, 1));
  return writer.matching();
}

std::vector<Category> AllCategories(db::Session& session, db::CompanyId company) {
  return SelectCategories(session, company);
}

std::optional<Product> FindWhole(db::Session& session, db::CompanyId company, std::string_view id) {
  return SelectWhole(session, company, id, Depth::kModifiers);
}

Product GetProduct(db::Session& session, db::CompanyId company, std::string_view id) {
  std::optional<Product> product = FindWhole(session, company, id);
  if (!product) throw NoSuch("product", id);
  return *std::move(product);
}

void Check(db::Session& session, db::CompanyId company, const Draft& draft, json::Errors& errors) {
  MakePlan(session, company, draft, errors);
}

Written Write(db::Tx& tx, db::CompanyId company, const Draft& draft, const db::Stamp& stamp) {
  json::Errors errors;
  const Plan plan = MakePlan(tx, company, draft, errors);
  errors.ThrowIfAny();
  if (draft.form.is_of_cloud) LogUnsatisfiable(plan);
  Written written = Saver(tx, company, plan, stamp).Save();
  CountUnchanged(draft, written);
  return written;
}

Upserted Upsert(db::Tx& tx, db::CompanyId company, Draft draft, const db::Stamp& stamp) {
  Upserted upserted;
  std::vector<size_t> indexes(draft.products.size());
  std::iota(indexes.begin(), indexes.end(), size_t{0});
  while (true) {
    try {
      upserted.written = Write(tx, company, draft, stamp);
      return upserted;
    } catch (const Refusal& refusal) {
      // At least one is left out each time, so that this ends.
      std::vector<size_t> kept;
      std::vector<Product> products;
      for (size_t i = 0; i < draft.products.size(); ++i) {
        const auto error = std::ranges::find_if(refusal.errors, [&](const FieldError& one) {
          return one.field.starts_with(draft.products[i].sent.path + ".");
        });
        if (error != refusal.errors.end()) {
          upserted.refused.emplace(indexes[i], *error);
        } else {
          kept.push_back(indexes[i]);
          products.push_back(std::move(draft.products[i]));
        }
      }
      // An error that names no product of the draft must not end every reading.
      if (kept.size() == indexes.size()) {
        if (refusal.errors.empty() || kept.empty()) throw;
        for (const size_t index : kept) upserted.refused.emplace(index, refusal.errors.front());
        kept.clear();
        products.clear();
      }
      indexes = std::move(kept);
      draft.products = std::move(products);
    }
  }
}

std::vector<ShownProduct> FindLeftOut(db::Session& session, db::CompanyId company,
                                      const Draft& draft) {
  if (draft.categories.empty()) return {};
  std::unordered_set<std::string_view> sent;
  for (const Product& product : draft.products) sent.insert(product.id);
  std::vector<ShownProduct> left_out = SelectShown(session, company);
  std::erase_if(left_out, [&](const ShownProduct& one) { return sent.contains(one.id); });
  return left_out;
}

bool Announce(db::Tx& tx, const company::Company& company, const Written& written,
              const db::Stamp& stamp) {
  std::string body;
  json::Writer out(body);
  size_t created = 0, updated = written.former_products.size();
  out.BeginObject().Key("created").BeginArray();
  for (const Written::Row& row : written.rows) {
    if (row.effect != Effect::kCreated) continue;
    out.Text(row.id);
    ++created;
  }
  out.EndArray().Key("updated").BeginArray();
  for (const Written::Row& row : written.rows) {
    if (row.effect != Effect::kUpdated) continue;
    out.Text(row.id);
    ++updated;
  }
  for (const std::string& id : written.former_products) out.Text(id);
  out.EndArray().EndObject();
  if (created + updated == 0) return false;

  const bool all_created = created == written.rows.size() && updated == 0;
  events::Append(
      tx, company.company_id, stamp,
      {.company_uuid = company.id,
       .type = all_created ? events::Type::kProductCreated : events::Type::kProductUpdated,
       .changes = all_created ? events::Changes() : Fields(),
       .subject_id = "",
       .subject_version = 0,
       .body = body});
  return true;
}

Product WriteOne(db::Tx& tx, const company::Company& company, const Draft& draft,
                 const db::Stamp& stamp) {
  const Written written = Write(tx, company.company_id, draft, stamp);
  CHECK(written.rows.size() == 1, "a draft of one product writes one");
  const Written::Row& row = written.rows.front();
  Product product = GetProduct(tx, company.company_id, row.id);
  if (row.effect == Effect::kCreated || row.effect == Effect::kUpdated) {
    Keep(tx, company, product);
    Announce(tx, company,
             row.effect == Effect::kCreated ? events::Type::kProductCreated
                                            : events::Type::kProductUpdated,
             product, stamp);
  }
  return product;
}

Product SetVisible(db::Tx& tx, const company::Company& company, std::string_view product_id,
                   bool visible, const db::Stamp& stamp) {
  Draft draft{.form = kPatchProduct};
  Product& product = draft.products.emplace_back();
  product.id = product_id;
  product.visible = visible;
  product.sent = {.fields = BitOf(&Product::visible), .has_id = true};
  return WriteOne(tx, company, draft, stamp);
}

void SetStock(db::Tx& tx, const company::Company& company, std::span<const Stock> stocks,
              const db::Stamp& stamp) {
  Draft draft{.form = kPutProducts};
  for (const Stock& stock : stocks) {
    if (draft.products.empty() || draft.products.back().id != stock.product_id) {
      Product& product = draft.products.emplace_back();
      product.id = stock.product_id;
      product.sent.has_id = product.sent.has_variants = true;
    }
    Variant& variant = draft.products.back().variants.emplace_back();
    variant.id = stock.variant_id;
    variant.stock = stock.units;
    variant.sent = {.fields = BitOf(&Variant::stock), .has_id = true};
  }
  Announce(tx, company, Write(tx, company.company_id, draft, stamp), stamp);
}

void LogTwinSkus(db::Database& database) {
  for (const TwinSkus& twins : database.Read(SelectTwinSkus)) {
    std::string skus;
    for (const std::string& sku : twins.skus) skus += (skus.empty() ? "" : ", ") + sku;
    log::Warning(
        "skus that differ only in case or in blanks: an order that names one is linked to "
        "the row that spells it alike, else to the oldest; give each a code of its own",
        {{"company", twins.company.value}, {"skus", skus}});
  }
}

void RenderStale(db::Database& database, const std::function<void()>& progress) {
  constexpr int kProductsAJob = 50;
  const auto companies =
      database.Read([](db::Snapshot& snapshot) { return company::All(snapshot); });
  for (const company::Company& listed : companies) {
    const auto select = [&](db::Session& session) {
      const company::Company company = company::Get(session, listed.company_id);
      return SelectStale(session, company.company_id, kRenderVersion, company.currency,
                         kProductsAJob);
    };
    while (!database.Read(select).empty()) {
      database.Write([&](db::Tx& tx, const db::Stamp&) {
        const company::Company company = company::Get(tx, listed.company_id);
        for (const std::string& id : select(tx)) {
          Keep(tx, company, GetProduct(tx, company.company_id, id));
        }
      });
      progress();
    }
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
