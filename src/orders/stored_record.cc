#include "orders/stored_record.h"

#include <optional>
#include <string>
#include <utility>

#include "base/problem.h"
#include "events/log.h"
#include "orders/record.h"

namespace comanda::orders {

bool UseRecord(db::Session& session, db::CompanyId company, const std::string& id,
               const RecordLocation& location,
               const std::function<void(std::string_view json)>& use) {
  const bool is_stored = location.seq && location.render_version == kRenderVersion;
  if (is_stored &&
      events::UseRecordAt(session, company, *location.seq, id, location.version, use)) {
    return false;
  }
  const std::optional<Order> order = Select(session, company, id);
  if (!order) {
    throw Fault(Fault::Kind::kDamaged,
                "order " + id + " is damaged: an index and its table disagree");
  }
  use(Render(*order));
  return is_stored;
}

Record ReadRecord(db::Session& session, db::CompanyId company, std::string_view id,
                  const RecordLocation& location) {
  Record record{.id = std::string(id), .version = location.version, .json = {}};
  record.was_remade = UseRecord(session, company, record.id, location,
                                [&](std::string_view json) { record.json = json; });
  return record;
}

}  // namespace comanda::orders
