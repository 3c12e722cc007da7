#include "menu/record.h"

#include <algorithm>

#include "base/decimal.h"

namespace comanda::menu {

std::string RenderMarked(const company::Company& company, const Product& product) {
  std::string text;
  json::Writer out(text);
  Renderer(company, Costs::kMarked).Write(out, product);
  return text;
}

bool AppendFilled(std::string& out, std::string_view marked, Costs costs,
                  std::span<const int64_t> stocks) {
  const std::string_view marks(kMarks, sizeof kMarks);
  while (true) {
    const size_t mark = std::min(marked.find_first_of(marks), marked.size());
    out += marked.substr(0, mark);
    if (mark == marked.size()) return stocks.empty();
    const bool is_stock = marked[mark] == kStockMark;
    marked.remove_prefix(mark + 1);
    if (is_stock) {
      if (stocks.empty()) return false;
      AppendScaled(out, stocks.front(), kStockDecimals);
      stocks = stocks.subspan(1);
    } else {
      const size_t end = std::min(marked.find(kCostMark), marked.size());
      if (costs == Costs::kShown) out += marked.substr(0, end);
      marked.remove_prefix(std::min(end + 1, marked.size()));
    }
  }
}

}  // namespace comanda::menu
