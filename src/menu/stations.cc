#include "menu/stations.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/problem.h"
#include "base/text.h"
#include "company/import_row.h"
#include "events/log.h"
#include "menu/fields.h"
#include "menu/store.h"

namespace comanda::menu {
namespace {

void RequireFreeName(const std::vector<Station>& stations, const Station& wanted) {
  const std::string name = Folded(wanted.name);
  for (const Station& station : stations) {
    if (station.id == wanted.id || Folded(station.name) != name) continue;
    throw Invalid("name", FieldCode::kDuplicate,
                  "is the name of another station already: give each its own");
  }
}

void Apply(const StationFields& fields, Station& station) {
  station.name = fields.name.value_or(station.name);
  station.prepares = fields.prepares.value_or(station.prepares);
  station.position = fields.position.value_or(station.position);
}

void Write(db::Tx& tx, db::CompanyId company, const Station& station) {
  Upsert(tx, company, station);
  events::RaiseCounter(tx, company, events::Counter::kCatalogue);
}

}  // namespace

Station AddStation(db::Tx& tx, const company::Company& company, const StationFields& fields,
                   std::string_view spare_id) {
  const std::vector<Station> stations = SelectStations(tx, company.company_id);
  if (stations.size() >= kStationsMax) {
    throw Invalid(
        "body", FieldCode::kTooManyItems,
        "would be one station too many: a restaurant has at most " + std::to_string(kStationsMax));
  }
  Station station;
  for (const Station& other : stations) {
    station.position = std::max(station.position, other.position + 1);
  }
  station.position = std::min(station.position, kStationPositionMax);
  Apply(fields, station);
  RequireFreeName(stations, station);
  station.id = company::RowIds(company.id, "station").Derive(Folded(station.name));
  if (FindById(stations, station.id) != nullptr) station.id = std::string(spare_id);
  Write(tx, company.company_id, station);
  return station;
}

ChangedStation ChangeStation(db::Tx& tx, const company::Company& company, std::string_view id,
                             const StationFields& fields) {
  const std::vector<Station> stations = SelectStations(tx, company.company_id);
  const Station* const before = FindById(stations, id);
  if (before == nullptr) throw Refusal(Problem::kNotFound, "There is no station with that id.");
  ChangedStation changed{.before = *before, .after = *before};
  Apply(fields, changed.after);
  if (SameFields(changed.before, changed.after)) return changed;
  RequireFreeName(stations, changed.after);
  Write(tx, company.company_id, changed.after);
  return changed;
}

}  // namespace comanda::menu
