#pragma once

// The stations of a kitchen as a client writes them (contract section 20; menu/product.h, Station).
// An import file writes them with the menu (menu/catalogue.h).

#include <optional>
#include <string>
#include <string_view>

#include "company/company.h"
#include "db/session.h"
#include "menu/product.h"

namespace comanda::menu {

inline constexpr size_t kStationsMax = 100;  // of one company that clients add
inline constexpr int64_t kStationPositionMax = 1'000'000;

// What a client sends of a station. What it leaves out gets its default, or stays.
struct StationFields {
  std::optional<std::string> name;
  std::optional<bool> prepares;
  std::optional<int64_t> position;  // of a new one: behind the last
};

// The functions below run in the caller's transaction. They raise the catalogue's counter where
// they write; the kitchen's is raised by the caller. Each throws Refusal validation_failed for a
// name that another station of the company has, case and accents ignored.
//
// `fields` has a name. `spare_id`: the id of the station where the one that its name gives (an
// import file finds it by that, app/IMPORT.md) is taken. Refusal too_many_items.
Station AddStation(db::Tx& tx, const company::Company& company, const StationFields& fields,
                   std::string_view spare_id);

struct ChangedStation {
  Station before, after;
};
// Refusal not_found.
ChangedStation ChangeStation(db::Tx& tx, const company::Company& company, std::string_view id,
                             const StationFields& fields);

}  // namespace comanda::menu
