#pragma once

// Takes the menu of the cloud into this box, page by page (cloud/restaurant/restaurant.h). One
// object for one reading; one thread.

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cloud/menu/menu_stock.h"
#include "cloud/restaurant/restaurant_rows.h"
#include "cloud/restaurant/restaurant_store.h"
#include "menu/product.h"

namespace comanda::cloud {

// The categories and products of one page (menu_pull.cc).
struct MenuPage;

class MenuPull {
 public:
  // `went_back`: the cloud may have lost what was pushed (cloud/menu/menu_push.h).
  MenuPull(const Importer& importer, bool went_back)
      : importer_(importer), went_back_(went_back), stock_(importer) {}

  // Takes the categories of a page with their products. `is_whole`: the menu has this page alone;
  // what it lacks is then hidden first, so that a product that the cloud deleted and made again is
  // found again here by its sku. False where it has nothing that an earlier page had not.
  bool TakePage(const std::vector<json::Value>& categories, bool is_whole);
  // After the last page of a menu that was read completely: products that it lacks become
  // invisible.
  void HideMissing();
  // After the last page of such a menu, of a cloud that went back.
  void PushLost();
  // cloud/menu/menu_stock.h, Write().
  bool SetStock(const std::function<void()>& plan) { return stock_.Write(plan); }

 private:
  MenuPage PageOf(const std::vector<json::Value>& categories);
  // Pairs categories and products that have no alias yet with those of this box.
  void PairPage(const MenuPage& page, bool is_whole);
  void PairRows(db::Tx& tx, aliases::Kind kind, std::vector<CloudRow> rows);

  const Importer& importer_;
  const bool went_back_;
  // What is pushed again: fingerprints in the cloud, by the local id; empty: it shows none.
  std::map<std::string, std::string> lost_;
  // Ids in the cloud.
  std::set<std::string> seen_, seen_categories_;
  MenuStock stock_;
};

}  // namespace comanda::cloud
