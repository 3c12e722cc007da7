#pragma once

// The stock that the cloud counts (contract section 15.4): a local variant has the cloud's count
// less what this box has sold and the cloud has not counted yet. One object for one reading of the
// menu; one thread.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cloud/restaurant/restaurant_rows.h"
#include "menu/catalogue.h"
#include "menu/product.h"

namespace comanda::cloud {

class MenuStock {
 public:
  explicit MenuStock(const Importer& importer) : importer_(importer) {}

  // Keeps the counts of a product as the cloud shows it.
  void Collect(const menu::Product& shown);
  // Sets the stock of each variant. `plan` brings the journal up to date with the event log. False
  // where sales went on too fast for that.
  bool Write(const std::function<void()>& plan);

 private:
  // Quantities in thousandths, by the variant's id in the cloud.
  using Quantities = std::map<std::string, int64_t>;

  Quantities CountUncounted() const;
  std::vector<menu::Stock> Changed(db::Session& session, const Quantities& uncounted) const;

  const Importer& importer_;
  Quantities counts_;
  std::map<std::string, std::string> ids_of_skus_;
};

}  // namespace comanda::cloud
