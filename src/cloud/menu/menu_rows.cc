#include "cloud/menu/menu_rows.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "aliases/aliases.h"
#include "base/concat.h"
#include "cloud/restaurant/restaurant_rows.h"
#include "crypto/derived_id.h"
#include "menu/fields.h"

namespace comanda::cloud {
namespace {

using aliases::Kind;

// The keys by which rows are paired (cloud/orders/pairing.h).

KeyedRow KeysOf(const menu::Variant& shown) {
  return Keyed(shown.id, {SkuKey(shown.sku.value_or("")),
                          shown.sent.shorthand ? NameKey("") : NameKey(shown.name)});
}

KeyedRow KeysOf(const menu::ModifierCategory& shown) {
  return Keyed(shown.id, {NameKey(shown.name)});
}

KeyedRow KeysOf(const menu::Modifier& shown) { return Keyed(shown.id, {NameKey(shown.name)}); }

// Gives the rows of a product their local ids.
class Nesting {
 public:
  Nesting(db::Session& session, const RowsHere& here)
      : session_(session),
        company_(here.company),
        given_(here.given),
        box_(here.box),
        was_in_step_(here.was_in_step) {}

  // `product` has its local id, and the rows below it those of the cloud. Modifier categories and
  // modifiers here that the cloud has no more are added to them, hidden.
  void Resolve(menu::Product& product) {
    ResolveVariants(product);
    ResolveGroups(product);
  }

 private:
  // The local rows that are none of the record's, to be paired by their keys.
  template <typename Row>
  std::vector<KeyedRow> Candidates(Kind kind, const std::vector<Row>& box,
                                   const std::set<std::string>& cloud_ids) const {
    std::vector<KeyedRow> candidates;
    for (const Row& row : box) {
      const auto alias = aliases::FindByBoxId(session_, company_.company_id, kind, row.id);
      if (!alias || !cloud_ids.contains(alias->cloud_id)) candidates.push_back(KeysOf(row));
    }
    return candidates;
  }

  void ResolveVariants(menu::Product& product) {
    std::vector<CloudRow> cloud;
    std::set<std::string> cloud_ids;
    for (const menu::Variant& variant : product.variants) {
      const std::vector<std::string> name =
          NameKey(variant.sent.shorthand ? product.name : variant.name);
      cloud.push_back({.cloud_id = variant.id,
                       .keyed = KeysOf(variant),
                       .seed = Concat({product.id, ":", name.empty() ? "" : name.front()})});
      cloud_ids.insert(variant.id);
    }
    static const std::vector<menu::Variant> kNone;
    const auto& here = box_ ? box_->variants : kNone;
    const std::vector<KeyedRow> candidates = Candidates(Kind::kVariant, here, cloud_ids);
    std::vector<std::string> ids = IdsAmong(session_, company_, Kind::kVariant, cloud, candidates);
    // A product of one price stays one, whatever its variant is called.
    const bool is_single = ids.size() == 1 && here.size() == 1;
    if (is_single && candidates.size() == 1) ids.front() = candidates.front().id;
    for (size_t i = 0; i < ids.size(); ++i) product.variants[i].id = std::move(ids[i]);
    PlaceNew(here, product.variants);
  }

  void ResolveGroups(menu::Product& product) {
    static const std::vector<menu::ModifierCategory> kNone;
    const auto& here = box_ ? box_->modifier_categories : kNone;
    std::vector<menu::ModifierCategory>& groups = product.modifier_categories;
    ResolveBelow(Kind::kModifierCategory, product.id, here, groups);
    for (menu::ModifierCategory& group : groups) ResolveModifiers(group);
    if (!product.sent.has_modifiers) return;
    AddGone(Kind::kModifierCategory, here, &menu::ModifierCategory::is_active, product.sent,
            groups);
  }

  void ResolveModifiers(menu::ModifierCategory& group) {
    static const std::vector<menu::Modifier> kNone;
    const menu::ModifierCategory* const box =
        box_ ? menu::FindById(box_->modifier_categories, group.id) : nullptr;
    const auto& here = box ? box->modifiers : kNone;
    ResolveBelow(Kind::kModifier, group.id, here, group.modifiers);
    if (!group.sent.has_modifiers) return;
    AddGone(Kind::kModifier, here, &menu::Modifier::visible, group.sent, group.modifiers);
  }

  // A new row has the place that it has in the cloud's list.
  template <typename Row>
  static void PlaceNew(const std::vector<Row>& box, std::vector<Row>& rows) {
    for (size_t i = 0; i < rows.size(); ++i) {
      if (menu::IsSent(rows[i], &Row::position) || menu::FindById(box, rows[i].id)) continue;
      rows[i].position = static_cast<int64_t>(i);
      rows[i].sent.fields |= menu::BitOf(&Row::position);
    }
  }

  // Rows below one parent. The cloud may show one row below several products; here each product has
  // its own, and the first has the alias.
  template <typename Row>
  void ResolveBelow(Kind kind, const std::string& parent, const std::vector<Row>& box,
                    std::vector<Row>& rows) {
    const db::CompanyId company = company_.company_id;
    std::vector<std::string> ids;
    std::vector<KeyedRow> unknown;
    std::vector<size_t> indexes;
    std::set<std::string> cloud_ids;
    for (const Row& row : rows) {
      const std::string own = OwnId(kind, parent, row);
      const auto alias =
          row.id.empty() ? std::nullopt : aliases::FindBoxId(session_, company, kind, row.id);
      cloud_ids.insert(row.id);
      const bool is_known = alias && menu::FindById(box, *alias);
      ids.push_back(is_known ? *alias : menu::FindById(box, own) ? own : "");
      if (!ids.back().empty()) continue;
      unknown.push_back(KeysOf(row));
      indexes.push_back(ids.size() - 1);
    }
    std::vector<KeyedRow> candidates = Candidates(kind, box, cloud_ids);
    std::erase_if(candidates,
                  [&](const KeyedRow& row) { return std::ranges::find(ids, row.id) != ids.end(); });
    const auto pairs = Pair(unknown, candidates);
    for (size_t i = 0; i < unknown.size(); ++i) {
      const size_t index = indexes[i];
      ids[index] = pairs[i] ? candidates[*pairs[i]].id : NewIdBelow(kind, parent, rows[index]);
    }
    for (size_t i = 0; i < rows.size(); ++i) rows[i].id = std::move(ids[i]);
    PlaceNew(box, rows);
  }

  template <typename Row>
  std::string OwnId(Kind kind, const std::string& parent, const Row& row) const {
    const std::vector<std::string> name = NameKey(row.name);
    const std::string& key = row.id.empty() && !name.empty() ? name.front() : row.id;
    return crypto::DerivedId(company_.id,
                             Concat({"cloud:", static_cast<int>(kind), ":", parent, ":", key}));
  }

  template <typename Row>
  std::string NewIdBelow(Kind kind, const std::string& parent, const Row& row) {
    const db::CompanyId company = company_.company_id;
    const bool is_taken = row.id.empty() || aliases::FindBoxId(session_, company, kind, row.id) ||
                          !given_.insert(Concat({static_cast<int>(kind), ":", row.id})).second;
    return is_taken ? OwnId(kind, parent, row) : FreshId(session_, company_, kind, row.id);
  }

  // What the cloud had and has no more is hidden. Of a product that is taken for the first time,
  // rows that only this box has stay.
  template <typename Row>
  void AddGone(Kind kind, const std::vector<Row>& box, bool Row::*is_shown,
               const menu::Sent& parent, std::vector<Row>& rows) const {
    for (const Row& row : box) {
      if (menu::FindById(rows, row.id)) continue;
      const bool was_there =
          was_in_step_ ||
          aliases::FindByBoxId(session_, company_.company_id, kind, row.id).has_value();
      if (!was_there) continue;
      Row& gone = rows.emplace_back();
      gone.id = row.id;
      gone.*is_shown = false;
      gone.sent = {.fields = menu::BitOf(is_shown), .has_id = true, .path = parent.path};
    }
  }

  db::Session& session_;
  const company::Company& company_;
  std::set<std::string>& given_;
  const menu::Product* const box_;
  const bool was_in_step_;
};

}  // namespace

void GiveRowsTheirIds(db::Session& session, const RowsHere& here, menu::Product& product) {
  Nesting(session, here).Resolve(product);
}

void PutRowAliases(db::Tx& tx, db::CompanyId company, const menu::Product& shown,
                   const menu::Product& here) {
  // One that exists is that of the same row below another product.
  const auto put = [&](Kind kind, const std::string& cloud_id, const std::string& box_id) {
    if (cloud_id.empty() || aliases::FindBoxId(tx, company, kind, cloud_id)) return;
    PutAlias(tx, company, kind, cloud_id, box_id);
  };
  for (size_t i = 0; i < shown.variants.size(); ++i) {
    put(Kind::kVariant, shown.variants[i].id, here.variants[i].id);
  }
  for (size_t i = 0; i < shown.modifier_categories.size(); ++i) {
    const menu::ModifierCategory& there = shown.modifier_categories[i];
    const menu::ModifierCategory& group = here.modifier_categories[i];
    put(Kind::kModifierCategory, there.id, group.id);
    for (size_t j = 0; j < there.modifiers.size(); ++j) {
      put(Kind::kModifier, there.modifiers[j].id, group.modifiers[j].id);
    }
  }
}

}  // namespace comanda::cloud
