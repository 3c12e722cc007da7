#pragma once

// Takes the menu of the cloud into this box, page by page (cloud/restaurant.h). One object for one
// reading; one thread.

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cloud/restaurant_rows.h"
#include "cloud/restaurant_store.h"
#include "menu/product.h"

namespace comanda::cloud {

// The categories and products of one page (menu_pull.cc).
struct MenuPage;

class MenuPull {
 public:
  explicit MenuPull(const Importer& importer) : importer_(importer) {}

  // Takes the categories of a page with their products. `is_whole`: the menu has this page alone;
  // what it lacks is then hidden first, so that a product that the cloud deleted and made again is
  // found again here by its sku. False where it has nothing that an earlier page had not.
  bool TakePage(const std::vector<json::Value>& categories, bool is_whole);
  // After the last page of a menu that was read completely: products that it lacks become
  // invisible.
  void HideMissing();
  // Sets the stock of each variant to the cloud's count less the items of steps that wait. `plan`
  // brings the journal up to date with the event log. False where sales went on too fast for that.
  bool SetStock(const std::function<void()>& plan);

 private:
  MenuPage PageOf(const std::vector<json::Value>& categories);
  // Pairs categories and products that have no alias yet with those of this box.
  void PairPage(const MenuPage& page, bool is_whole);
  void PairRows(db::Tx& tx, aliases::Kind kind, std::vector<CloudRow> rows);
  void CollectStock(const menu::Product& shown);

  const Importer& importer_;
  // Ids in the cloud.
  std::set<std::string> seen_, seen_categories_;
  // The cloud's counts, in thousandths, by the variant's id there; those of a sku.
  std::map<std::string, int64_t> counts_;
  std::map<std::string, std::string> ids_of_skus_;
};

}  // namespace comanda::cloud
