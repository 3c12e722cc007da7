#include "cloud/menu/menu_pull.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "base/concat.h"
#include "base/log.h"
#include "base/problem.h"
#include "base/text.h"
#include "cloud/orders/journal_store.h"
#include "cloud/menu/menu_body.h"
#include "cloud/menu/menu_push.h"
#include "cloud/link/link.h"
#include "cloud/menu/menu_rows.h"
#include "company/companies.h"
#include "company/import_row.h"
#include "events/log.h"
#include "menu/catalogue.h"
#include "menu/fields.h"

namespace comanda::cloud {

using aliases::Kind;
using json::Value;

namespace {

struct PageCategory {
  Value record;
  std::string cloud_id;
  std::string name;
};

struct PageProduct {
  menu::Product shown;  // under the cloud's ids
  size_t category = 0;  // of the page
  int64_t place = 0;    // in the list of its category
  std::string fingerprint;
  UtcMs changed_at = 0;  // 0: not shown
  std::string refused;   // why it cannot be read; empty: it can
};

}  // namespace

struct MenuPage {
  std::vector<PageCategory> categories;  // each id once
  std::vector<PageProduct> products;     // sorted by category
};

namespace {

// Of the differences of the menu.
// Products written in one transaction.
constexpr size_t kChunk = 50;

// The keys by which products are paired (cloud/orders/pairing.h).
KeyedRow KeysOf(const menu::Product& shown, std::string_view category) {
  std::vector<std::string> skus;
  for (const menu::Variant& variant : shown.variants) {
    for (std::string& key : SkuKey(variant.sku.value_or(""))) skus.push_back(std::move(key));
  }
  return Keyed(shown.id, {std::move(skus), NameKey(category, shown.name), NameKey(shown.name)});
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
  return {.company = company::Get(session, company),
          .stations = store::Stations(session, company),
          .waiting = {waiting.begin(), waiting.end()},
          .all_is_planned = IsAllPlanned(session, company),
          .given = {}};
}

// True if the product was changed locally and the cloud does not have the change yet.
bool IsEditedHere(const Here& here, const menu::Product& box,
                  const std::optional<store::MenuState>& state) {
  if (here.waiting.contains(box.id)) return true;
  if (!state || here.all_is_planned) return false;
  return state->box_hash != ContentHash(box, here.company.currency_decimals);
}

// A product that is written in the transaction.
struct Taken {
  size_t index = 0;  // of the chunk
  const PageProduct* product = nullptr;
  menu::Product draft;
  bool was_in_step = false;  // what both sides had of it was known
  std::optional<menu::Product> box = {};
};

// One transaction that takes products of a page.
class ChunkWriter {
 public:
  // `lost` gets what MenuPull::lost_ has.
  ChunkWriter(const Importer& importer, const MenuPage& page, std::span<const PageProduct> products,
              bool went_back, std::map<std::string, std::string>& lost)
      : importer_(importer), page_(page), products_(products), went_back_(went_back), lost_(lost) {}

  void Write() {
    importer_.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
      refused_.clear();
      Here here = LookHere(tx, importer_.company);
      const std::vector<Taken> taken = LookAtAll(tx, here, stamp);
      menu::Draft draft{.form = menu::kCloudRecords};
      for (const Taken& one : taken) draft.products.push_back(one.draft);
      const menu::Upserted upserted = menu::Upsert(tx, importer_.company, std::move(draft), stamp);
      const bool is_told = menu::Announce(tx, here.company, upserted.written, stamp);
      if (!is_told && upserted.written.changed()) {
        events::RaiseCounter(tx, importer_.company, events::Counter::kCatalogue);
      }
      for (size_t i = 0; i < taken.size(); ++i) {
        const auto refused = upserted.refused.find(i);
        if (refused == upserted.refused.end()) {
          Finish(tx, here, taken[i], stamp);
        } else {
          refused_.emplace(taken[i].index, ReasonOf(refused->second));
        }
      }
    });
    Report(importer_, DifferenceKind::kMenu, refused_,
           [&](size_t index) { return products_[index].shown.id; });
  }

 private:
  std::vector<Taken> LookAtAll(db::Tx& tx, Here& here, const db::Stamp& stamp) {
    std::set<std::string> categories;
    for (menu::Category& category : menu::AllCategories(tx, importer_.company)) {
      categories.insert(std::move(category.id));
    }
    std::vector<Taken> taken;
    for (size_t i = 0; i < products_.size(); ++i) {
      auto one = Look(tx, here, i, stamp);
      if (!one) continue;
      std::string refused = products_[i].refused;
      if (refused.empty() && !categories.contains(one->draft.category_id)) {
        refused = "category is left out";
      }
      if (!refused.empty()) {
        refused_.emplace(i, std::move(refused));
        continue;
      }
      GiveRowsTheirIds(tx,
                       {.company = here.company,
                        .box = one->box ? &*one->box : nullptr,
                        .was_in_step = one->was_in_step,
                        .given = here.given},
                       one->draft);
      taken.push_back(*std::move(one));
    }
    return taken;
  }

  // Nothing where the product has nothing new, or a change of this box goes first. The rows of the
  // draft have the ids of the cloud.
  std::optional<Taken> Look(db::Tx& tx, Here& here, size_t index, const db::Stamp& stamp) {
    const db::CompanyId company = importer_.company;
    const PageProduct& product = products_[index];
    const auto known = aliases::FindBoxId(tx, company, Kind::kProduct, product.shown.id);
    const std::string id =
        known ? *known : FreshId(tx, here.company, Kind::kProduct, product.shown.id);
    std::optional<menu::Product> box = menu::FindWhole(tx, company, id);
    const auto state = store::FindMenuState(tx, company, id);
    if (box && IsEditedHere(here, *box, state)) {
      NoteCloudEdit(tx, here.company, *box, product.shown, stamp);
      return std::nullopt;
    }
    std::string category = CategoryHere(tx, here, product);
    const bool is_same =
        box && state && state->cloud_hash == product.fingerprint && box->category_id == category;
    if (is_same) return std::nullopt;
    if (box && state && state->pushed_at != 0) {
      if (IsLost(*state, product.changed_at, went_back_)) {
        // Without another sign that the cloud went back, somebody may have edited it there: a
        // difference says so.
        lost_.insert_or_assign(id, went_back_ ? product.fingerprint : state->cloud_hash);
        return std::nullopt;
      }
      if (went_back_ && product.changed_at > state->pushed_at) {
        NoteChangedSince(tx, here.company, *box, product.shown, stamp);
      }
    }
    Taken taken{.index = index,
                .product = &product,
                .draft = product.shown,
                .was_in_step = state && !state->cloud_hash.empty()};
    taken.draft.id = id;
    // Hidden by this box, for as long as it is sold out here.
    if (box && box->sold_out && !taken.draft.visible) {
      taken.draft.sent.fields &= ~menu::BitOf(&menu::Product::visible);
    }
    Place(taken.draft, std::move(category), here,
          box ? std::nullopt : std::optional(product.place));
    taken.box = std::move(box);
    return taken;
  }

  // What this box decides of a product: its stations and stock are its own.
  static void Place(menu::Product& draft, std::string category, const Here& here,
                    std::optional<int64_t> place) {
    const auto send = [&](auto field) { draft.sent.fields |= menu::BitOf(field); };
    draft.category_id = std::move(category);
    send(&menu::Product::category_id);
    if (place && !menu::IsSent(draft, &menu::Product::position)) {
      draft.position = *place;
      send(&menu::Product::position);
    }
    if (draft.kitchen_id && !here.stations.contains(*draft.kitchen_id)) {
      draft.kitchen_id.reset();
      draft.sent.fields &= ~menu::BitOf(&menu::Product::kitchen_id);
    }
    for (menu::Variant& variant : draft.variants) variant.stock.reset();
  }

  std::string CategoryHere(db::Session& session, const Here& here, const PageProduct& product) {
    const std::string& cloud_id = page_.categories[product.category].cloud_id;
    const auto known = aliases::FindBoxId(session, importer_.company, Kind::kCategory, cloud_id);
    return known ? *known : FreshId(session, here.company, Kind::kCategory, cloud_id);
  }

  void Finish(db::Tx& tx, const Here& here, const Taken& taken, const db::Stamp& stamp) {
    const db::CompanyId company = importer_.company;
    const PageProduct& product = *taken.product;
    const std::string& id = taken.draft.id;
    PutAlias(tx, company, Kind::kProduct, product.shown.id, id);
    PutRowAliases(tx, company, product.shown, taken.draft);
    const menu::Product now = menu::GetProduct(tx, company, id);
    const auto state = store::FindMenuState(tx, company, id);
    const UtcMs pushed_at = state ? state->pushed_at : 0;
    const bool is_answer = pushed_at == store::kNotShownYet;
    store::PutMenuState(tx, company, id,
                        {.cloud_hash = product.fingerprint,
                         .box_hash = ContentHash(now, here.company.currency_decimals),
                         .pushed_at = is_answer ? product.changed_at : pushed_at});
    TellLeftVariants(tx, taken, stamp);
  }

  // The menu cannot hide a single variant. One that the cloud has removed stays here, and a
  // difference names it.
  void TellLeftVariants(db::Tx& tx, const Taken& taken, const db::Stamp& stamp) {
    if (!taken.box || taken.draft.variants.empty()) return;
    for (const menu::Variant& variant : taken.box->variants) {
      if (menu::FindById(taken.draft.variants, variant.id)) continue;
      const auto alias = aliases::FindByBoxId(tx, importer_.company, Kind::kVariant, variant.id);
      if (!alias) continue;
      const std::string detail = Concat({"the cloud has no variant ", variant.name, " of ",
                                         taken.box->name, " any more; it is still sold here"});
      if (store::HasDifference(tx, importer_.company, DifferenceKind::kMenu, alias->cloud_id,
                               detail))
        continue;
      store::InsertDifference(tx, importer_.company,
                              {.order_id = "",
                               .kind = DifferenceKind::kMenu,
                               .box = variant.name,
                               .cloud = alias->cloud_id,
                               .detail = detail},
                              stamp.now);
    }
  }

  const Importer& importer_;
  const MenuPage& page_;
  const std::span<const PageProduct> products_;
  const bool went_back_;
  std::map<std::string, std::string>& lost_;
  Refused refused_;
};

// Hides one product. It keeps its alias, in case the cloud shows it again.
void Hide(db::Tx& tx, const company::Company& company, const std::string& id,
          const db::Stamp& stamp) {
  const menu::Product hidden = menu::SetVisible(tx, company, id, false, stamp);
  store::PutMenuState(tx, company.company_id, id,
                      {.cloud_hash = std::string(store::kGone),
                       .box_hash = ContentHash(hidden, company.currency_decimals)});
}

// Products are paired in two rounds: those of one name are first looked for in the category of the
// same name (KeysOf() of a product).
KeyedRow ForRound(KeyedRow row, bool within_category) {
  constexpr size_t kKeysOfProduct = 3;
  if (row.keys.size() == kKeysOfProduct)
    row.keys.erase(row.keys.begin() + (within_category ? 2 : 1));
  return row;
}

void TakeCategories(const Importer& importer, const std::vector<PageCategory>& categories) {
  if (categories.empty()) return;
  std::vector<CloudRow> rows;
  for (const PageCategory& one : categories) {
    rows.push_back({.cloud_id = one.cloud_id, .keyed = Keyed(one.cloud_id, {NameKey(one.name)})});
  }
  Refused refused;
  importer.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    refused.clear();
    const company::Company company = company::Get(tx, importer.company);
    const std::vector<menu::Category> box = menu::AllCategories(tx, importer.company);
    const std::vector<std::string> ids = IdsHere(tx, company, Kind::kCategory, rows);
    menu::Draft draft{.form = menu::kCloudRecords};
    for (size_t i = 0; i < rows.size(); ++i) {
      const menu::Category* const known = menu::FindById(box, ids[i]);
      menu::Category category = known ? *known : menu::Category{};
      category.id = ids[i];
      if (!known) category.position = static_cast<int64_t>(i);
      json::Errors errors;
      menu::ReadShown(categories[i].record, category, errors);
      if (errors.empty()) {
        draft.categories.push_back(std::move(category));
        PutAlias(tx, importer.company, Kind::kCategory, rows[i].cloud_id, ids[i]);
      } else {
        refused.emplace(i, ReasonOf(errors.First()));
      }
    }
    if (menu::Write(tx, importer.company, draft, stamp).changed()) {
      events::RaiseCounter(tx, importer.company, events::Counter::kCatalogue);
    }
  });
  Report(importer, DifferenceKind::kMenu, refused,
         [&](size_t index) { return categories[index].cloud_id; });
}

void TakeProducts(const Importer& importer, const MenuPage& page, bool went_back,
                  std::map<std::string, std::string>& lost) {
  for (size_t begin = 0; begin < page.products.size(); begin += kChunk) {
    const auto chunk =
        std::span(page.products).subspan(begin, std::min(kChunk, page.products.size() - begin));
    ChunkWriter(importer, page, chunk, went_back, lost).Write();
  }
}

}  // namespace

MenuPage MenuPull::PageOf(const std::vector<Value>& categories) {
  const company::Company company = importer_.database.Read(
      [&](db::Snapshot& snapshot) { return company::Get(snapshot, importer_.company); });
  MenuPage page;
  std::map<std::string, size_t> places;
  for (const Value category : categories) {
    const std::string id = company::ShownId(category);
    if (id.empty()) continue;
    const auto [place_of_category, is_first] = places.emplace(id, page.categories.size());
    if (is_first) {
      page.categories.push_back({.record = category,
                                 .cloud_id = id,
                                 .name = std::string(Trimmed(net::TextAt(category, "name")))});
    }
    seen_categories_.insert(id);
    int64_t place = 0;
    for (const Value record : RowsOf(category, "products")) {
      if (company::ShownId(record).empty() || !seen_.insert(company::ShownId(record)).second) {
        continue;
      }
      json::Errors errors;
      PageProduct product{
          .shown = menu::ReadShown(record, company,
                                   Concat({"products[", page.products.size(), "]"}), errors),
          .category = place_of_category->second,
          .place = place++};
      if (!errors.empty()) product.refused = ReasonOf(errors.First());
      product.fingerprint = Fingerprint(product.shown);
      product.changed_at = ParseInstant(net::TextAt(record, "updated_at")).value_or(0);
      stock_.Collect(product.shown);
      page.products.push_back(std::move(product));
    }
  }
  std::ranges::stable_sort(page.products, {}, &PageProduct::category);
  return page;
}

bool MenuPull::TakePage(const std::vector<Value>& categories, bool is_whole) {
  const size_t categories_before = seen_categories_.size();
  const MenuPage page = PageOf(categories);
  if (is_whole) HideMissing();
  PairPage(page, is_whole);
  TakeCategories(importer_, page.categories);
  TakeProducts(importer_, page, went_back_, lost_);
  return !page.products.empty() || seen_categories_.size() > categories_before;
}

void MenuPull::PairPage(const MenuPage& page, bool is_whole) {
  std::vector<CloudRow> categories, products;
  std::set<std::string> category_ids;
  for (const PageCategory& category : page.categories) {
    categories.push_back({.cloud_id = category.cloud_id,
                          .keyed = Keyed(category.cloud_id, {NameKey(category.name)})});
    category_ids.insert(category.cloud_id);
  }
  for (const PageProduct& product : page.products) {
    products.push_back({.cloud_id = product.shown.id,
                        .keyed = KeysOf(product.shown, page.categories[product.category].name)});
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
      if (went_back_ && state && state->pushed_at != 0) continue;  // PushLost
      if (box && !IsEditedHere(here, *box, state)) ids.push_back(id);
    }
    return ids;
  };
  for (;;) {
    const auto found =
        importer_.database.Read([&](db::Snapshot& snapshot) { return missing(snapshot); });
    if (found.empty()) return;
    log::Info("hiding products that the cloud no longer has", {{"count", found.size()}});
    const auto hide = [&](db::Tx& tx, const db::Stamp& stamp) {
      const company::Company company = company::Get(tx, importer_.company);
      for (const std::string& id : missing(tx)) Hide(tx, company, id, stamp);
    };
    if (!WriteUnlessRefused(importer_.database, hide)) return;
  }
}

void MenuPull::PushLost() {
  if (!went_back_ && lost_.empty()) return;
  importer_.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    const db::CompanyId company = importer_.company;
    std::map<std::string, std::string> lost = lost_;
    const std::vector<std::string> waiting = WaitingProducts(tx, company);
    for (const auto& [id, cloud_id] : store::AliasesOf(tx, company, Kind::kProduct)) {
      const auto state = store::FindMenuState(tx, company, id);
      const bool is_missing = went_back_ && !seen_.contains(cloud_id);
      if (is_missing && state && state->pushed_at != 0) lost.emplace(id, "");
    }
    for (const auto& [id, fingerprint] : lost) {
      const auto product = menu::FindWhole(tx, company, id);
      if (!product || std::ranges::find(waiting, id) != waiting.end()) continue;
      // The cloud does not list what is hidden.
      const bool is_hidden = !product->visible || product->sold_out;
      if (fingerprint.empty() && is_hidden) continue;
      const auto category =
          aliases::FindByBoxId(tx, company, Kind::kCategory, product->category_id);
      const bool knows_category = category && seen_categories_.contains(category->cloud_id);
      PushAgain(tx, company, id, fingerprint, knows_category, stamp);
    }
    if (went_back_) PutVisit(tx, company, kSentMenuPart, {.at = stamp.now});
  });
}

}  // namespace comanda::cloud
