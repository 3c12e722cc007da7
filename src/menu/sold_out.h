#pragma once

// Sold out for a while, "86" (contract section 9): what the kitchen says of a product or a
// modifier. An order that names a sold-out dish is taken all the same.
//
// The end is a date that a person named: reached by settled time, and then written down by clearing
// all that says so, so that no clock brings it back (base/time/ends.h). Ending it is a change of
// the product like any other, with its event.

#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/time/clock.h"
#include "company/company.h"
#include "db/database.h"
#include "db/session.h"
#include "menu/product.h"

namespace comanda::menu {

// What the answer of …/sold-out shows.
struct SoldOutState {
  std::string name;
  bool is_available = false;
  std::optional<SoldOut> sold_out;
};
// Says that the product is sold out, or, with nothing, that it is not. The same again (whoever says
// it) changes nothing; another end keeps `since`. Throws Refusal(kNotFound).
SoldOutState SetProductSoldOut(db::Tx& tx, const company::Company& company, std::string_view id,
                               const std::optional<SoldOut>& wanted, const db::Stamp& stamp);
// The same of a modifier.
SoldOutState SetModifierSoldOut(db::Tx& tx, const company::Company& company, std::string_view id,
                                const std::optional<SoldOut>& wanted, const db::Stamp& stamp);

// The ends of one database. Any thread.
class SoldOutEnds {
 public:
  SoldOutEnds(db::Database& database, const Clock& clock) : database_(database), clock_(clock) {}

  // Milliseconds until the next end. Blocks for a read.
  std::optional<int64_t> DueInMs() const;
  // Ends what has reached its end. Blocks for the writer where something has. Throws Fault; the
  // time that was reached stays known, and the next call goes by it.
  void WriteDown();

 private:
  db::Database& database_;
  const Clock& clock_;
  std::mutex mutex_;
  std::optional<UtcMs> reached_;  // guarded by mutex_; of ends that are not written down yet
};

}  // namespace comanda::menu
