#include "orders/stored_record.h"

#include <optional>
#include <string>
#include <utility>

#include "base/problem.h"
#include "events/log.h"
#include "orders/record.h"

namespace comanda::orders {

Record ReadRecord(db::Session& session, db::CompanyId company, std::string_view id,
                  const RecordLocation& location) {
  Record record{.id = std::string(id), .version = location.version, .json = {}};
  const bool is_stored = location.seq && location.render_version == kRenderVersion;
  if (is_stored) {
    std::optional<std::string> stored =
        events::RecordAt(session, company, *location.seq, id, location.version);
    if (stored) {
      record.json = *std::move(stored);
      return record;
    }
  }
  const std::optional<Order> order = Select(session, company, id);
  if (!order) {
    throw Fault(Fault::Kind::kDamaged,
                "order " + record.id + " is damaged: an index and its table disagree");
  }
  record.json = Render(*order);
  record.was_remade = is_stored;
  return record;
}

}  // namespace comanda::orders
