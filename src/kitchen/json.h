#pragma once

// The wire form of the room (contract section 20). Pure.

#include <string>
#include <string_view>
#include <vector>

#include "json/reader.h"
#include "kitchen/settings.h"
#include "kitchen/ticket.h"
#include "menu/stations.h"

namespace comanda::kitchen {

// A closed ticket is its state alone in lists, changes and events, whole in answers to commands.
enum class Form : uint8_t { kWhole, kStateIfClosed };
std::string Render(const Ticket& ticket, Form form, UtcMs now);

struct Body {
  const json::Document& document;
  json::UnknownFields unknown_fields;
};
// Each throws one Refusal that lists all wrong fields.
inline constexpr size_t kLineIdsMax = 500;
// Of {"line_ids": [...]}: at least one, each once.
std::vector<std::string> ReadLineIds(Body body);
bool ReadRush(Body body);
// `settings` with what the body changes.
Settings ReadSettings(Body body, const Settings& settings);

// The body of POST and PATCH of a station. What GET shows may be sent back to PATCH.
menu::StationFields ReadNewStation(Body body);
menu::StationFields ReadStationChange(Body body, std::string_view id);

// Where the restaurant's settings are shown: {"name", "timezone", "language", "day_starts_at"}.
std::string Render(const Settings& settings, std::string_view restaurant);

}  // namespace comanda::kitchen
