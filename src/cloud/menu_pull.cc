#include "cloud/menu_pull.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "base/concat.h"
#include "base/decimal.h"
#include "base/log.h"
#include "base/problem.h"
#include "base/text.h"
#include "cloud/journal_store.h"
#include "cloud/link.h"
#include "cloud/menu_body.h"
#include "cloud/menu_push.h"
#include "cloud/pending.h"
#include "cloud/restaurant_document.h"
#include "company/companies.h"
#include "crypto/derived_id.h"
#include "events/log.h"
#include "menu/catalogue.h"
#include "menu/json.h"
#include "orders/order.h"

namespace comanda::cloud {

using aliases::Kind;
using json::Value;

namespace {

// A product of a page.
struct PageProduct {
  Value record;
  Value category;
  int64_t category_place = 0;  // in the list of the page
  int64_t place = 0;           // in the list of its category
  std::string cloud_id;
  std::string fingerprint;
};

}  // namespace

struct MenuPage {
  std::vector<Value> categories;      // each id once
  std::vector<PageProduct> products;  // sorted by category
};

namespace {

// Products written in one transaction.
constexpr size_t kChunk = 50;
// Products whose stock is written in one transaction.
constexpr size_t kStockChunk = 200;
constexpr size_t kOrdersAtOnce = 50;
// While sales go on.
constexpr int kStockAttempts = 3;

std::optional<int64_t> Thousandths(Value record, std::string_view name, int decimals) {
  const auto value = record.kind() == json::Kind::kObject ? record.Find(name) : std::nullopt;
  if (!value || value->kind() != json::Kind::kNumber) return std::nullopt;
  const auto decimal = ParseDecimal(value->number_text());
  return decimal ? Scaled(*decimal, decimals) : std::nullopt;
}

// What a transaction that takes products knows of this box.
struct Here {
  company::Company company;
  std::set<std::string> stations;
  std::set<std::string> waiting;  // products whose push waits
  bool all_is_planned = true;     // every change of the event log is in the journal
  std::set<std::string> given;    // ids in the cloud of nested rows that got a new id
};

Here LookHere(db::Session& session, db::CompanyId company) {
  const std::vector<std::string> waiting = WaitingProducts(session, company);
  const std::optional<Link> link = FindLink(session, company);
  return {.company = company::Get(session, company),
          .stations = store::Stations(session, company),
          .waiting = {waiting.begin(), waiting.end()},
          .all_is_planned = !link || link->planned_seq >= events::ExtentOf(session, company).last,
          .given = {}};
}

// True if the product was changed here and the cloud does not have the change yet.
bool IsEditedHere(const Here& here, const menu::Product& box,
                  const std::optional<store::MenuState>& state) {
  if (here.waiting.contains(box.id)) return true;
  if (!state || here.all_is_planned) return false;
  return state->box_hash != ContentHash(box, here.company.currency_decimals);
}

// Gives the rows of a product their ids here.
class Nesting {
 public:
  Nesting(db::Session& session, Here& here, const menu::Product* box, bool was_in_step)
      : session_(session), here_(here), box_(box), was_in_step_(was_in_step) {}

  ProductRows Resolve(Value record, const std::string& product_id) {
    ProductRows rows = RowsUnderCloudIds(record);
    rows.id = product_id;
    ResolveVariants(rows);
    ResolveGroups(rows);
    return rows;
  }

 private:
  // The rows here that are none of the record's, to be paired by their keys.
  template <typename Row>
  std::vector<KeyedRow> Candidates(Kind kind, const std::vector<Row>& box,
                                   const std::set<std::string>& cloud_ids) const {
    std::vector<KeyedRow> candidates;
    for (const Row& row : box) {
      const auto alias = aliases::FindByBoxId(session_, here_.company.company_id, kind, row.id);
      if (alias && cloud_ids.contains(alias->cloud_id)) continue;
      candidates.push_back({.id = row.id, .keys = {NameKey(row.name)}});
      if constexpr (std::is_same_v<Row, menu::Variant>) {
        candidates.back().keys.insert(candidates.back().keys.begin(), SkuKey(row.sku.value_or("")));
      }
    }
    return candidates;
  }

  void ResolveVariants(ProductRows& rows) {
    std::vector<CloudRow> cloud;
    std::set<std::string> cloud_ids;
    for (const auto& [record, cloud_id] : rows.variants) {
      KeyedRow keyed = KeysOfVariant(record);
      const std::string name = keyed.keys[1].empty() ? "" : keyed.keys[1].front();
      if (record.offset() == rows.record.offset()) keyed = {.id = "", .keys = {keyed.keys[0], {}}};
      cloud.push_back(
          {.cloud_id = cloud_id, .keyed = std::move(keyed), .seed = Concat({rows.id, ":", name})});
      cloud_ids.insert(cloud_id);
    }
    std::vector<KeyedRow> candidates;
    if (box_) candidates = Candidates(Kind::kVariant, box_->variants, cloud_ids);
    std::vector<std::string> ids =
        IdsAmong(session_, here_.company, Kind::kVariant, cloud, candidates);
    // A product of one price stays one, whatever its variant is called.
    const bool is_single = ids.size() == 1 && box_ && box_->variants.size() == 1;
    if (is_single && candidates.size() == 1) ids.front() = candidates.front().id;
    for (size_t i = 0; i < ids.size(); ++i) rows.variants[i].second = std::move(ids[i]);
  }

  void ResolveGroups(ProductRows& rows) {
    static const std::vector<menu::ModifierCategory> kNone;
    std::vector<CloudRow> cloud;
    for (const ModifierCategoryRow& row : rows.modifier_categories) {
      cloud.push_back({.cloud_id = row.id, .keyed = KeysOfModifier(row.record)});
    }
    const auto& groups = box_ ? box_->modifier_categories : kNone;
    const auto ids = IdsBelow(Kind::kModifierCategory, rows.id, groups, cloud, rows.gone);
    for (size_t i = 0; i < ids.size(); ++i) {
      ModifierCategoryRow& row = rows.modifier_categories[i];
      row.id = ids[i];
      ResolveModifiers(row, rows.gone);
    }
  }

  void ResolveModifiers(ModifierCategoryRow& group, std::set<std::string>& gone) {
    static const std::vector<menu::Modifier> kNone;
    std::vector<CloudRow> cloud;
    for (const auto& [record, cloud_id] : group.modifiers) {
      cloud.push_back({.cloud_id = cloud_id, .keyed = KeysOfModifier(record)});
    }
    const menu::ModifierCategory* box = nullptr;
    for (size_t i = 0; box_ && i < box_->modifier_categories.size(); ++i) {
      if (box_->modifier_categories[i].id == group.id) box = &box_->modifier_categories[i];
    }
    const auto ids = IdsBelow(Kind::kModifier, group.id, box ? box->modifiers : kNone, cloud, gone);
    for (size_t i = 0; i < ids.size(); ++i) group.modifiers[i].second = ids[i];
  }

  // Ids of rows below one parent. The cloud may show one row below several products; here each
  // product has its own, and the first has the alias.
  template <typename Row>
  std::vector<std::string> IdsBelow(Kind kind, const std::string& parent,
                                    const std::vector<Row>& box, const std::vector<CloudRow>& cloud,
                                    std::set<std::string>& gone) {
    const db::CompanyId company = here_.company.company_id;
    const auto is_below = [&](const std::string& id) {
      return std::ranges::find(box, id, &Row::id) != box.end();
    };
    std::vector<std::string> ids;
    std::vector<KeyedRow> unknown;
    std::vector<size_t> indexes;
    std::set<std::string> cloud_ids;
    for (const CloudRow& row : cloud) {
      const std::string own = OwnId(kind, parent, row);
      const auto alias = row.cloud_id.empty()
                             ? std::nullopt
                             : aliases::FindBoxId(session_, company, kind, row.cloud_id);
      cloud_ids.insert(row.cloud_id);
      ids.push_back(alias && is_below(*alias) ? *alias : is_below(own) ? own : "");
      if (!ids.back().empty()) continue;
      unknown.push_back(row.keyed);
      indexes.push_back(ids.size() - 1);
    }
    std::vector<KeyedRow> candidates = Candidates(kind, box, cloud_ids);
    std::erase_if(candidates,
                  [&](const KeyedRow& row) { return std::ranges::find(ids, row.id) != ids.end(); });
    const auto pairs = Pair(unknown, candidates);
    for (size_t i = 0; i < unknown.size(); ++i) {
      const size_t index = indexes[i];
      ids[index] = pairs[i] ? candidates[*pairs[i]].id : NewIdBelow(kind, parent, cloud[index]);
    }
    NoteGone(kind, box, ids, gone);
    return ids;
  }

  std::string OwnId(Kind kind, const std::string& parent, const CloudRow& row) const {
    const std::string& key = row.cloud_id.empty() && !row.keyed.keys[0].empty()
                                 ? row.keyed.keys[0].front()
                                 : row.cloud_id;
    return crypto::DerivedId(here_.company.id,
                             Concat({"cloud:", static_cast<int>(kind), ":", parent, ":", key}));
  }

  std::string NewIdBelow(Kind kind, const std::string& parent, const CloudRow& row) {
    const db::CompanyId company = here_.company.company_id;
    const bool is_taken =
        row.cloud_id.empty() || aliases::FindBoxId(session_, company, kind, row.cloud_id) ||
        !here_.given.insert(Concat({static_cast<int>(kind), ":", row.cloud_id})).second;
    return is_taken ? OwnId(kind, parent, row)
                    : FreshId(session_, here_.company, kind, row.cloud_id);
  }

  // What the cloud had and has no more is hidden. Of a product that is taken for the first time,
  // rows that only this box has stay.
  template <typename Row>
  void NoteGone(Kind kind, const std::vector<Row>& box, const std::vector<std::string>& ids,
                std::set<std::string>& gone) const {
    for (const Row& row : box) {
      if (std::ranges::find(ids, row.id) != ids.end()) continue;
      const bool was_there =
          was_in_step_ ||
          aliases::FindByBoxId(session_, here_.company.company_id, kind, row.id).has_value();
      if (was_there) gone.insert(row.id);
    }
  }

  db::Session& session_;
  Here& here_;
  const menu::Product* const box_;
  const bool was_in_step_;
};

// A product that is written in the transaction.
struct Taken {
  size_t row = 0;  // of the chunk
  const PageProduct* product = nullptr;
  ProductRows rows;
  std::optional<menu::Product> box;
};

// Writes the aliases of the rows below a product. One that exists is that of the same row below
// another product.
void PutAliases(db::Tx& tx, db::CompanyId company, Value record, const ProductRows& rows) {
  const ProductRows there = RowsUnderCloudIds(record);
  const auto put = [&](Kind kind, const std::string& cloud_id, const std::string& box_id) {
    if (cloud_id.empty() || aliases::FindBoxId(tx, company, kind, cloud_id)) return;
    PutAlias(tx, company, kind, cloud_id, box_id);
  };
  for (size_t i = 0; i < rows.variants.size(); ++i) {
    put(Kind::kVariant, there.variants[i].second, rows.variants[i].second);
  }
  for (size_t i = 0; i < rows.modifier_categories.size(); ++i) {
    const ModifierCategoryRow& group = rows.modifier_categories[i];
    const ModifierCategoryRow& group_there = there.modifier_categories[i];
    put(Kind::kModifierCategory, group_there.id, group.id);
    for (size_t j = 0; j < group.modifiers.size(); ++j) {
      put(Kind::kModifier, group_there.modifiers[j].second, group.modifiers[j].second);
    }
  }
}

// One transaction that takes products of a page.
class ChunkWriter {
 public:
  ChunkWriter(const Importer& importer, std::span<const PageProduct> products)
      : importer_(importer), products_(products) {}

  void Write(const std::vector<size_t>& rows) {
    importer_.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
      placed_.clear();
      Here here = LookHere(tx, importer_.company);
      std::vector<Taken> taken;
      for (const size_t row : rows) {
        if (auto one = Look(tx, here, row, stamp)) taken.push_back(*std::move(one));
      }
      if (taken.empty()) return;
      importer_.import(tx, DocumentOf(tx, here, taken), stamp);
      for (const Taken& one : taken) Finish(tx, here, one, stamp);
    });
  }

  // The rows of the last document to which a field belongs.
  std::vector<size_t> RowsOfField(std::string_view field) const {
    constexpr std::string_view kCategories = "companies[0].categories";
    const auto category = IndexIn(field, kCategories);
    if (!category || *category >= placed_.size()) return {};
    const auto& rows = placed_[*category];
    const std::string below = Concat({kCategories, "[", *category, "].products"});
    const auto product = IndexIn(field, below);
    if (!product) return rows;
    if (*product >= rows.size()) return {};
    return {rows[*product]};
  }

 private:
  // Nothing where the product has nothing new, or a change of this box goes first.
  std::optional<Taken> Look(db::Tx& tx, Here& here, size_t row, const db::Stamp& stamp) {
    const db::CompanyId company = importer_.company;
    const PageProduct& product = products_[row];
    const auto known = aliases::FindBoxId(tx, company, Kind::kProduct, product.cloud_id);
    const std::string id =
        known ? *known : FreshId(tx, here.company, Kind::kProduct, product.cloud_id);
    std::optional<menu::Product> box = menu::FindWhole(tx, company, id);
    const auto state = store::FindMenuState(tx, company, id);
    if (box && IsEditedHere(here, *box, state)) {
      NoteCloudEdit(tx, here.company, *box, product.record, stamp);
      return std::nullopt;
    }
    const bool is_same = box && state && state->cloud_hash == product.fingerprint &&
                         box->category_id == CategoryHere(tx, here, product);
    if (is_same) return std::nullopt;
    ProductRows rows =
        Nesting(tx, here, box ? &*box : nullptr, state.has_value() && !state->cloud_hash.empty())
            .Resolve(product.record, id);
    return Taken{.row = row, .product = &product, .rows = std::move(rows), .box = std::move(box)};
  }

  std::string CategoryHere(db::Session& session, const Here& here, const PageProduct& product) {
    const std::string cloud_id = IdOf(product.category);
    const auto known = aliases::FindBoxId(session, importer_.company, Kind::kCategory, cloud_id);
    return known ? *known : FreshId(session, here.company, Kind::kCategory, cloud_id);
  }

  std::string DocumentOf(db::Tx& tx, const Here& here, const std::vector<Taken>& taken) {
    const std::vector<menu::Category> categories = menu::AllCategories(tx, importer_.company);
    return Document(here.company, nullptr, {}, [&](json::Writer& out) {
      out.Key("categories").BeginArray();
      for (size_t i = 0; i < taken.size();) {
        const PageProduct& first = *taken[i].product;
        const std::string id = CategoryHere(tx, here, first);
        const auto box = std::ranges::find(categories, id, &menu::Category::id);
        placed_.emplace_back();
        out.BeginObject();
        WriteCategory(out, first.category, id, first.category_place,
                      box == categories.end() ? nullptr : &*box);
        out.Key("products").BeginArray();
        for (; i < taken.size() && taken[i].product->category_place == first.category_place; ++i) {
          placed_.back().push_back(taken[i].row);
          WriteProduct(out, taken[i].rows,
                       {.box = taken[i].box ? &*taken[i].box : nullptr,
                        .decimals = here.company.currency_decimals,
                        .position = taken[i].product->place,
                        .stations = &here.stations});
        }
        out.EndArray().EndObject();
      }
      out.EndArray();
    });
  }

  void Finish(db::Tx& tx, const Here& here, const Taken& taken, const db::Stamp& stamp) {
    const db::CompanyId company = importer_.company;
    const std::string& id = taken.rows.id;
    PutAlias(tx, company, Kind::kCategory, IdOf(taken.product->category),
             CategoryHere(tx, here, *taken.product));
    PutAlias(tx, company, Kind::kProduct, taken.product->cloud_id, id);
    PutAliases(tx, company, taken.product->record, taken.rows);
    const menu::Product now = menu::GetProduct(tx, company, id);
    store::PutMenuState(tx, company, id,
                        {.cloud_hash = taken.product->fingerprint,
                         .box_hash = ContentHash(now, here.company.currency_decimals)});
    TellLeftVariants(tx, taken, stamp);
  }

  // The menu cannot hide a single variant. One that the cloud has removed stays here, and a
  // difference names it.
  void TellLeftVariants(db::Tx& tx, const Taken& taken, const db::Stamp& stamp) {
    if (!taken.box) return;
    for (const menu::Variant& variant : taken.box->variants) {
      const auto is_it = [&](const auto& row) { return row.second == variant.id; };
      if (std::ranges::any_of(taken.rows.variants, is_it)) continue;
      const auto alias = aliases::FindByBoxId(tx, importer_.company, Kind::kVariant, variant.id);
      if (!alias) continue;
      const std::string detail = Concat({"the cloud has no variant ", variant.name, " of ",
                                         taken.box->name, " any more; it is still sold here"});
      if (store::HasDifference(tx, importer_.company, "menu", alias->cloud_id, detail)) continue;
      store::InsertDifference(tx, importer_.company,
                              {.order_id = "",
                               .kind = "menu",
                               .box = variant.name,
                               .cloud = alias->cloud_id,
                               .detail = detail},
                              stamp.now);
    }
  }

  const Importer& importer_;
  const std::span<const PageProduct> products_;
  // The rows of each category of the last document.
  std::vector<std::vector<size_t>> placed_;
};

// Hides one product. It keeps its alias, in case the cloud shows it again.
void Hide(db::Tx& tx, const company::Company& company, const std::string& id,
          const db::Stamp& stamp) {
  const json::Document change = json::Document::Parse(R"({"visible":false})");
  json::Errors errors;
  menu::Draft draft = menu::ReadBody({change, json::UnknownFields::kRefused}, menu::kPatchProduct,
                                     company, stamp.now, errors);
  errors.ThrowIfAny();
  draft.products.front().id = id;
  draft.products.front().sent.has_id = true;
  const menu::Product hidden = menu::WriteOne(tx, company, draft, stamp);
  store::PutMenuState(tx, company.company_id, id,
                      {.cloud_hash = std::string(store::kGone),
                       .box_hash = ContentHash(hidden, company.currency_decimals)});
}

// False where the rules for products refuse what the job writes, which is logged: a stored product
// that is refused must not end every reading.
template <typename Job>
bool WriteUnlessRefused(db::Database& database, const Job& job) {
  try {
    database.Write(job);
    return true;
  } catch (const Refusal& refusal) {
    log::Warning("the menu cannot be brought up to date", {{"reason", refusal.detail}});
    return false;
  }
}

// The quantities that the cloud has not counted yet, in thousandths, by the variant's id in the
// cloud. In short reads, since there may be a week of orders.
std::map<std::string, int64_t> UncountedQuantities(
    db::Database& database, db::CompanyId company,
    const std::map<std::string, std::string>& ids_of_skus) {
  const std::vector<std::string> orders = database.Read(
      [&](db::Snapshot& snapshot) { return store::WaitingOrders(snapshot, company); });
  Uncounted uncounted;
  for (size_t begin = 0; begin < orders.size(); begin += kOrdersAtOnce) {
    const auto some =
        std::span(orders).subspan(begin, std::min(kOrdersAtOnce, orders.size() - begin));
    database.Read([&](db::Snapshot& snapshot) {
      for (const std::string& id : some) AddUncounted(uncounted, snapshot, company, id);
    });
  }
  std::map<std::string, int64_t> quantities;
  database.Read([&](db::Snapshot& snapshot) {
    for (const auto& [variant, quantity] : uncounted.by_variant) {
      const auto alias = aliases::FindByBoxId(snapshot, company, Kind::kVariant, variant);
      if (alias) quantities[alias->cloud_id] += quantity;
    }
  });
  for (const auto& [sku, quantity] : uncounted.by_sku) {
    const auto found = ids_of_skus.find(FoldedCode(sku));
    if (found != ids_of_skus.end()) quantities[found->second] += quantity;
  }
  return quantities;
}

// A count of a variant here that is to be written.
struct Recount {
  std::string product_id, variant_id;
  int64_t stock = 0;
};

void WriteStock(db::Tx& tx, const company::Company& company, std::span<const Recount> recounts,
                const db::Stamp& stamp) {
  std::string body;
  json::Writer out(body);
  out.BeginObject().Key("products").BeginArray();
  for (size_t i = 0; i < recounts.size();) {
    const std::string& product_id = recounts[i].product_id;
    out.BeginObject().Key("id").Text(product_id).Key("variants").BeginArray();
    for (; i < recounts.size() && recounts[i].product_id == product_id; ++i) {
      out.BeginObject().Key("id").Text(recounts[i].variant_id);
      out.Key("stock").Scaled(recounts[i].stock, menu::kStockDecimals).EndObject();
    }
    out.EndArray().EndObject();
  }
  out.EndArray().EndObject();
  const json::Document document = json::Document::Parse(body);
  json::Errors errors;
  const menu::Draft draft = menu::ReadBody({document, json::UnknownFields::kRefused},
                                           menu::kPutProducts, company, stamp.now, errors);
  errors.ThrowIfAny();
  menu::Announce(tx, company, menu::Write(tx, company.company_id, draft, stamp), stamp);
}

// Products are paired in two rounds: those of one name are first looked for in the category of the
// same name (cloud/restaurant_document.h, KeysOfProduct).
KeyedRow ForRound(KeyedRow row, bool within_category) {
  constexpr size_t kKeysOfProduct = 3;
  if (row.keys.size() == kKeysOfProduct)
    row.keys.erase(row.keys.begin() + (within_category ? 2 : 1));
  return row;
}

void TakeProducts(const Importer& importer, const std::vector<PageProduct>& products) {
  for (size_t begin = 0; begin < products.size(); begin += kChunk) {
    const std::span<const PageProduct> chunk =
        std::span(products).subspan(begin, std::min(kChunk, products.size() - begin));
    ChunkWriter writer(importer, chunk);
    WriteBatch(importer,
               {.size = chunk.size(),
                .write = [&](const std::vector<size_t>& rows) { writer.Write(rows); },
                .rows_of = [&](std::string_view field) { return writer.RowsOfField(field); },
                .id_of = [&](size_t row) { return chunk[row].cloud_id; },
                .difference = "menu"});
  }
}

}  // namespace

MenuPage MenuPull::PageOf(const std::vector<Value>& categories) {
  MenuPage page;
  std::map<std::string, int64_t> places;
  for (const Value category : categories) {
    const std::string id = IdOf(category);
    if (id.empty()) continue;
    const auto [category_place, is_first] =
        places.emplace(id, static_cast<int64_t>(page.categories.size()));
    if (is_first) page.categories.push_back(category);
    seen_categories_.insert(id);
    int64_t place = 0;
    for (const Value record : RowsOf(category, "products")) {
      std::string cloud_id = IdOf(record);
      if (cloud_id.empty() || !seen_.insert(cloud_id).second) continue;
      page.products.push_back({.record = record,
                               .category = category,
                               .category_place = category_place->second,
                               .place = place++,
                               .cloud_id = std::move(cloud_id),
                               .fingerprint = Fingerprint(record)});
      CollectStock(record);
    }
  }
  std::ranges::stable_sort(page.products, {}, &PageProduct::category_place);
  return page;
}

bool MenuPull::TakePage(const std::vector<Value>& categories, bool is_whole) {
  const size_t categories_before = seen_categories_.size();
  const MenuPage page = PageOf(categories);
  if (is_whole) HideMissing();
  PairPage(page, is_whole);
  TakeCategories(importer_, page.categories);
  TakeProducts(importer_, page.products);
  return !page.products.empty() || seen_categories_.size() > categories_before;
}

void MenuPull::PairPage(const MenuPage& page, bool is_whole) {
  std::vector<CloudRow> categories, products;
  std::set<std::string> category_ids;
  for (const Value category : page.categories) {
    categories.push_back({.cloud_id = IdOf(category), .keyed = KeysOfTable(category)});
    category_ids.insert(IdOf(category));
  }
  for (const PageProduct& product : page.products) {
    products.push_back(
        {.cloud_id = product.cloud_id, .keyed = KeysOfProduct(product.record, product.category)});
  }
  const auto has_unknown = [&](db::Session& session, Kind kind, const std::vector<CloudRow>& rows) {
    return std::ranges::any_of(rows, [&](const CloudRow& row) {
      return !aliases::FindBoxId(session, importer_.company, kind, row.cloud_id);
    });
  };
  const bool any = importer_.database.Read([&](db::Snapshot& snapshot) {
    return has_unknown(snapshot, Kind::kCategory, categories) ||
           has_unknown(snapshot, Kind::kProduct, products);
  });
  if (!any) return;
  importer_.database.Write([&](db::Tx& tx, const db::Stamp&) {
    // A category that the cloud has deleted and made again is the same one here.
    for (const auto& [id, cloud_id] : store::AliasesOf(tx, importer_.company, Kind::kCategory)) {
      if (!is_whole || category_ids.contains(cloud_id)) continue;
      aliases::Remove(tx, importer_.company, Kind::kCategory, id);
    }
    PairRows(tx, Kind::kCategory, categories);
    PairRows(tx, Kind::kProduct, products);
  });
}

void MenuPull::PairRows(db::Tx& tx, Kind kind, std::vector<CloudRow> rows) {
  const db::CompanyId company = importer_.company;
  std::erase_if(rows, [&](const CloudRow& row) {
    return aliases::FindBoxId(tx, company, kind, row.cloud_id).has_value();
  });
  std::vector<KeyedRow> candidates;
  for (store::UnpairedRow& row : store::Unpaired(tx, company, kind)) {
    const auto alias = aliases::FindByBoxId(tx, company, kind, row.keyed.id);
    if (!alias || !seen_.contains(alias->cloud_id)) candidates.push_back(std::move(row.keyed));
  }
  for (const bool within_category : {true, false}) {
    std::vector<KeyedRow> cloud;
    for (const CloudRow& row : rows) cloud.push_back(ForRound(row.keyed, within_category));
    std::vector<KeyedRow> box;
    for (const KeyedRow& row : candidates) box.push_back(ForRound(row, within_category));
    const auto pairs = Pair(cloud, box);
    std::vector<CloudRow> rest;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (pairs[i]) {
        PutAlias(tx, company, kind, rows[i].cloud_id, box[*pairs[i]].id);
        std::erase_if(candidates, [&](const KeyedRow& row) { return row.id == box[*pairs[i]].id; });
      } else {
        rest.push_back(std::move(rows[i]));
      }
    }
    rows = std::move(rest);
  }
}

void MenuPull::HideMissing() {
  const auto missing = [&](db::Session& session) {
    const Here here = LookHere(session, importer_.company);
    const std::set<std::string> visible = store::VisibleProducts(session, importer_.company);
    std::vector<std::string> ids;
    for (const auto& [id, cloud_id] :
         store::AliasesOf(session, importer_.company, Kind::kProduct)) {
      if (ids.size() == kChunk) break;
      if (seen_.contains(cloud_id) || !visible.contains(id)) continue;
      const auto box = menu::FindWhole(session, importer_.company, id);
      const auto state = store::FindMenuState(session, importer_.company, id);
      if (box && !IsEditedHere(here, *box, state)) ids.push_back(id);
    }
    return ids;
  };
  for (;;) {
    const auto found =
        importer_.database.Read([&](db::Snapshot& snapshot) { return missing(snapshot); });
    if (found.empty()) return;
    log::Info("products that the cloud has no more become invisible", {{"count", found.size()}});
    const auto hide = [&](db::Tx& tx, const db::Stamp& stamp) {
      const company::Company company = company::Get(tx, importer_.company);
      for (const std::string& id : missing(tx)) Hide(tx, company, id, stamp);
    };
    if (!WriteUnlessRefused(importer_.database, hide)) return;
  }
}

void MenuPull::CollectStock(Value product) {
  for (const auto& [variant, cloud_id] : RowsUnderCloudIds(product).variants) {
    const auto count = Thousandths(variant, "stock", menu::kStockDecimals);
    if (cloud_id.empty() || !count) continue;
    counts_.emplace(cloud_id, *count);
    const std::string sku = FoldedCode(TextMember(variant, "sku"));
    if (!sku.empty()) ids_of_skus_.emplace(sku, cloud_id);
  }
}

bool MenuPull::SetStock(const std::function<void()>& plan) {
  if (counts_.empty()) return true;
  std::map<std::string, int64_t> uncounted;
  const auto count_again = [&] {
    uncounted = UncountedQuantities(importer_.database, importer_.company, ids_of_skus_);
  };
  const auto changed = [&](db::Session& session) {
    const auto stocks = store::Stocks(session, importer_.company);
    std::vector<Recount> recounts;
    for (const auto& [cloud_id, count] : counts_) {
      const auto id = aliases::FindBoxId(session, importer_.company, Kind::kVariant, cloud_id);
      const auto box = id ? stocks.find(*id) : stocks.end();
      if (box == stocks.end()) continue;
      const auto sold = uncounted.find(cloud_id);
      const int64_t stock =
          std::max<int64_t>(0, count - (sold == uncounted.end() ? 0 : sold->second));
      if (box->second.stock == stock) continue;
      recounts.push_back({.product_id = box->second.product_id, .variant_id = *id, .stock = stock});
    }
    std::ranges::sort(recounts, {}, &Recount::product_id);
    return recounts;
  };
  const auto is_any = [&](db::Snapshot& snapshot) { return !changed(snapshot).empty(); };
  count_again();
  if (!importer_.database.Read(is_any)) return true;
  bool is_written = false;
  const auto write = [&](db::Tx& tx, const db::Stamp& stamp) {
    // A sale that was made since they were counted is not among them.
    is_written = LookHere(tx, importer_.company).all_is_planned;
    if (!is_written) return;
    const company::Company company = company::Get(tx, importer_.company);
    const std::vector<Recount> recounts = changed(tx);
    for (size_t begin = 0; begin < recounts.size(); begin += kStockChunk) {
      WriteStock(tx, company,
                 std::span(recounts).subspan(begin, std::min(kStockChunk, recounts.size() - begin)),
                 stamp);
    }
  };
  for (int attempt = 0; !is_written && attempt < kStockAttempts; ++attempt) {
    plan();
    count_again();
    if (!WriteUnlessRefused(importer_.database, write)) return true;
  }
  return is_written;
}

}  // namespace comanda::cloud
