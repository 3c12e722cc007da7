#pragma once

// What reports add up of an order, in one short row: its payments and lines as texts that are read
// without a look at the rows themselves. Rewritten with each change of them, in its transaction;
// the migration that brought the table writes the same texts in SQL. Pure.
//
// A field ends in the character 31, a row in 30: no text of an order has control characters.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "orders/order.h"

namespace comanda::orders {

struct SoldPayment {
  std::string_view method_id;
  Minor amount = 0, tip_amount = 0;
  bool canceled = false;
};

struct SoldModifier {
  std::string_view name;
  int64_t quantity = 0;  // thousandths
  Minor price = 0;
};

// The ids are empty where the line has none; the name stands in those without a product.
struct SoldLine {
  std::string_view product_id, variant_id, name;
  int64_t quantity = 0;  // thousandths
  Minor price = 0;
  bool canceled = false;
};

std::string PackPayments(const std::vector<Payment>& payments);
std::string PackLines(const std::vector<Combo>& combos);

// Reads a packed text from its beginning; the views are of it.
class SaleReader {
 public:
  explicit SaleReader(std::string_view packed) : rest_(packed) {}

  // False behind the last row.
  bool Next(SoldPayment& payment);
  bool Next(SoldLine& line);
  // Those of the line that was read last; a line's are skipped where nobody reads them.
  bool Next(SoldModifier& modifier);

 private:
  std::string_view Text();
  int64_t Number();
  void SkipRow();

  std::string_view rest_;
  bool in_row_ = false;
};

}  // namespace comanda::orders
