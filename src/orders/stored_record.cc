#include "orders/stored_record.h"

#include <optional>

#include "base/problem.h"
#include "events/log.h"
#include "orders/record.h"

namespace comanda::orders {

bool IsStored(const RecordLocation& location) {
  return location.seq && location.render_version == kRenderVersion;
}

std::string RenderFromRows(db::Session& session, db::CompanyId company, const std::string& id) {
  const std::optional<Order> order = Select(session, company, id);
  if (!order) {
    throw Fault(Fault::Kind::kDamaged,
                "order " + id + " is damaged: an index and its table disagree");
  }
  return Render(*order);
}

Record ReadRecord(db::Session& session, db::CompanyId company, std::string_view id,
                  const RecordLocation& location) {
  Record record{.id = std::string(id), .version = location.version, .json = {}};
  const bool is_stored = IsStored(location);
  const auto use = [&](std::string_view json) { record.json = json; };
  if (is_stored &&
      events::UseRecordAt(session, company, *location.seq, id, location.version, use)) {
    return record;
  }
  record.json = RenderFromRows(session, company, record.id);
  record.was_remade = is_stored;
  return record;
}

}  // namespace comanda::orders
