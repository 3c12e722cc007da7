#include "cloud/menu/menu_stock.h"

#include <algorithm>
#include <span>

#include "aliases/aliases.h"
#include "base/text.h"
#include "cloud/orders/journal_store.h"
#include "cloud/orders/pending.h"
#include "cloud/restaurant/restaurant_store.h"
#include "company/companies.h"

namespace comanda::cloud {
namespace {

using aliases::Kind;

// Products whose stock is written in one transaction.
constexpr size_t kChunk = 200;
constexpr size_t kOrdersAtOnce = 50;
// While sales go on.
constexpr int kAttempts = 3;

}  // namespace

void MenuStock::Collect(const menu::Product& shown) {
  for (const menu::Variant& variant : shown.variants) {
    if (variant.id.empty() || !variant.stock) continue;
    counts_.emplace(variant.id, *variant.stock);
    if (variant.sku) ids_of_skus_.emplace(FoldedCode(*variant.sku), variant.id);
  }
}

// In short reads, since there may be a week of orders.
MenuStock::Quantities MenuStock::CountUncounted() const {
  db::Database& database = importer_.database;
  const db::CompanyId company = importer_.company;
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
  Quantities quantities;
  database.Read([&](db::Snapshot& snapshot) {
    for (const auto& [variant, quantity] : uncounted.by_variant) {
      const auto alias = aliases::FindByBoxId(snapshot, company, Kind::kVariant, variant);
      if (alias) quantities[alias->cloud_id] += quantity;
    }
  });
  for (const auto& [sku, quantity] : uncounted.by_sku) {
    const auto found = ids_of_skus_.find(FoldedCode(sku));
    if (found != ids_of_skus_.end()) quantities[found->second] += quantity;
  }
  return quantities;
}

std::vector<menu::Stock> MenuStock::Changed(db::Session& session,
                                            const Quantities& uncounted) const {
  const auto stocks = store::Stocks(session, importer_.company);
  std::vector<menu::Stock> changed;
  for (const auto& [cloud_id, count] : counts_) {
    const auto id = aliases::FindBoxId(session, importer_.company, Kind::kVariant, cloud_id);
    const auto box = id ? stocks.find(*id) : stocks.end();
    if (box == stocks.end()) continue;
    const auto sold = uncounted.find(cloud_id);
    const int64_t stock =
        std::max<int64_t>(0, count - (sold == uncounted.end() ? 0 : sold->second));
    if (box->second.stock == stock) continue;
    changed.push_back({.product_id = box->second.product_id, .variant_id = *id, .units = stock});
  }
  std::ranges::sort(changed, {}, &menu::Stock::product_id);
  return changed;
}

bool MenuStock::Write(const std::function<void()>& plan) {
  if (counts_.empty()) return true;
  Quantities uncounted = CountUncounted();
  const bool is_any = importer_.database.Read(
      [&](db::Snapshot& snapshot) { return !Changed(snapshot, uncounted).empty(); });
  if (!is_any) return true;
  bool is_written = false;
  const auto write = [&](db::Tx& tx, const db::Stamp& stamp) {
    // A sale that was made since they were counted is not among them.
    is_written = IsAllPlanned(tx, importer_.company);
    if (!is_written) return;
    const company::Company company = company::Get(tx, importer_.company);
    const std::vector<menu::Stock> changed = Changed(tx, uncounted);
    for (std::span<const menu::Stock> left = changed; !left.empty();) {
      const size_t some = std::min(kChunk, left.size());
      menu::SetStock(tx, company, left.first(some), stamp);
      left = left.subspan(some);
    }
  };
  for (int attempt = 0; !is_written && attempt < kAttempts; ++attempt) {
    plan();
    uncounted = CountUncounted();
    if (!WriteUnlessRefused(importer_.database, write)) return true;
  }
  return is_written;
}

}  // namespace comanda::cloud
