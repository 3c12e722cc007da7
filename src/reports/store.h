#pragma once

// All SQL of the room: the rows that a question chooses, one call each. Texts are valid during the
// call.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "db/session.h"
#include "reports/report.h"

namespace comanda::reports::store {

// `counts` is false for rows of an order whose status stays out of the main figures: of those only
// what was cancelled is counted.

struct Payment {
  std::string_view method_id;
  Minor amount = 0, tip_amount = 0;
  bool canceled = false;
  bool counts = true;
};
void EachPayment(db::Session& session, const Question& question,
                 const std::function<void(const Payment&)>& add);

// Lines of products of the menu, or the others. The ids are empty where the line has none.
enum class LineKind : uint8_t { kLinked, kFreehand };
struct Line {
  std::string_view order_id, product_id, variant_id, name;
  int64_t quantity = 0;  // thousandths
  Minor price = 0;
  bool canceled = false;
  bool counts = true;
};
void EachLine(db::Session& session, const Question& question, LineKind kind,
              const std::function<void(const Line&)>& add);

// Modifiers of the lines that are linked to the menu, not cancelled, and count.
struct Modifier {
  std::string_view product_id, variant_id, name;
  int64_t quantity = 0;  // thousandths
  Minor price = 0;
};
void EachModifier(db::Session& session, const Question& question,
                  const std::function<void(const Modifier&)>& add);

// How a line of the order called what it sold.
struct SoldAs {
  std::string product_name;
  std::optional<std::string> variant_name;
};
std::optional<SoldAs> FindName(db::Session& session, db::CompanyId company,
                               std::string_view order_id, std::string_view product_id,
                               const std::optional<std::string>& variant_id);

}  // namespace comanda::reports::store
