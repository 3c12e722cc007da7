#include "kitchen/json.h"

#include <algorithm>

#include "base/id.h"
#include "base/problem.h"
#include "json/writer.h"
#include "kitchen/rules.h"

namespace comanda::kitchen {
namespace {

using json::ObjectReader;

void Write(json::Writer& out, const Modifier& modifier) {
  out.BeginObject();
  out.Key("modifier_id").Text(modifier.modifier_id);
  out.Key("quantity").Integer(modifier.quantity);
  out.Key("name").Text(modifier.name);
  out.Key("group_name").Text(modifier.group_name);
  out.EndObject();
}

void Write(json::Writer& out, const Ticket& ticket, const Line& line, UtcMs now) {
  out.BeginObject();
  out.Key("id").Text(line.id);
  out.Key("station_id").Text(line.station_id);
  out.Key("product_id").Text(line.product_id);
  out.Key("quantity").Scaled(line.quantity, orders::kQuantityDecimals);
  out.Key("name").Text(line.name);
  out.Key("variant").Text(line.variant);
  out.Key("modifiers").BeginArray();
  for (const Modifier& modifier : line.modifiers) Write(out, modifier);
  out.EndArray();
  out.Key("comment").Text(line.comment);
  out.Key("added_at").Instant(line.added_at);
  out.Key("canceled_at").Instant(line.canceled_at);
  out.Key("waits").Boolean(Waits(ticket, line, now));
  out.Key("done_at").Instant(line.done_at);
  out.Key("done_by").Text(line.done_by);
  out.EndObject();
}

constexpr std::string_view kLineIds = "line_ids";
constexpr std::string_view kThresholds = "thresholds";

std::string ItemPath(size_t index) { return "line_ids[" + std::to_string(index) + "]"; }

// Whole minutes; out_of_range also where they are negative.
std::optional<int64_t> ReadMinutes(ObjectReader& reader, std::string_view name, int64_t min,
                                   int64_t max) {
  constexpr json::NumberRule kAny = {.decimals = 0, .min = -1'000'000'000, .max = 1'000'000'000};
  reader.RefuseNull({name});
  const std::optional<int64_t> minutes = reader.Number(name, kAny);
  if (!minutes || (*minutes >= min && *minutes <= max)) return minutes;
  reader.Fail(name, FieldCode::kOutOfRange,
              "must be from " + std::to_string(min) + " to " + std::to_string(max));
  return std::nullopt;
}

void ReadThreshold(ObjectReader reader, Threshold& threshold) {
  const auto warn = ReadMinutes(reader, "warn_minutes", 1, kWarnMinutesMax);
  const auto late = ReadMinutes(reader, "late_minutes", 1, kLateMinutesMax);
  if (warn) threshold.warn_minutes = *warn;
  if (late) threshold.late_minutes = *late;
  if ((warn || late) && threshold.late_minutes <= threshold.warn_minutes) {
    reader.Fail(late ? "late_minutes" : "warn_minutes", FieldCode::kOutOfRange,
                "must leave late_minutes above warn_minutes: they would be " +
                    std::to_string(threshold.late_minutes) + " and " +
                    std::to_string(threshold.warn_minutes));
  }
  reader.Finish();
}

constexpr json::TextRule kStationName = {.max = 200, .is_name = true, .can_be_null = false};

menu::StationFields ReadStation(ObjectReader& reader, bool is_new) {
  return {
      .name = is_new ? reader.RequireText("name", kStationName) : reader.Text("name", kStationName),
      .prepares = reader.Boolean("prepares"),
      .position =
          reader.Number("position", {.decimals = 0, .min = 0, .max = menu::kStationPositionMax})};
}

}  // namespace

std::string Render(const Ticket& ticket, Form form, UtcMs now) {
  const State state = StateAt(ticket, now);
  std::string text;
  json::Writer out(text);
  out.BeginObject();
  out.Key("order_id").Text(ticket.order_id);
  out.Key("revision").Integer(ticket.revision());
  out.Key("state").Text(Name(state));
  if (state == State::kClosed && form == Form::kStateIfClosed) {
    out.Key("status").Text(orders::Name(ticket.status)).EndObject();
    return text;
  }
  out.Key("order_number").Integer(ticket.order_number);
  out.Key("public_id").Text(ticket.public_id);
  out.Key("status").Text(orders::Name(ticket.status));
  out.Key("service_type").Text(orders::Name(ticket.service_type));
  out.Key("source").Text(ticket.source);
  out.Key("table").Text(ticket.table);
  out.Key("name").Text(ticket.name);
  out.Key("comment").Text(ticket.comment);
  out.Key("scheduled_for").Instant(ticket.scheduled_for);
  out.Key("rush_at").Instant(ticket.rush_at);
  out.Key("out_at").Instant(OutAt(ticket));
  out.Key("cancel_reason").Text(ticket.cancel_reason);
  out.Key("canceled_at").Instant(ticket.canceled_at);
  out.Key("opened_at").Instant(OpenedAt(ticket));
  out.Key("lines").BeginArray();
  for (const Line& line : ticket.lines) Write(out, ticket, line, now);
  out.EndArray();
  out.EndObject();
  return text;
}

std::vector<std::string> ReadLineIds(Body body) {
  json::Errors errors;
  ObjectReader reader(body.document.root(), "", errors, body.unknown_fields);
  constexpr json::TextRule kIdRule = {.max = 200, .card_numbers_refused = false};
  std::vector<std::string> ids;
  if (const auto texts = reader.Texts(kLineIds, kLineIdsMax, kIdRule)) {
    if (texts->empty()) reader.Fail(kLineIds, FieldCode::kEmpty, "must name at least one line");
    for (const std::string& text : *texts) {
      const std::optional<std::string> id = ParseId(text);
      const std::string path = ItemPath(ids.size());
      if (!id) errors.Add(path, FieldCode::kInvalidFormat, "must be the id of a line, a UUID");
      if (id && std::ranges::find(ids, *id) != ids.end()) {
        errors.Add(path, FieldCode::kDuplicate, "is named twice");
      }
      ids.push_back(id.value_or(""));
    }
  } else if (!reader.HasValue(kLineIds)) {
    reader.Fail(kLineIds, FieldCode::kRequired,
                "is required: the ids of the lines, as the ticket shows them");
  }
  reader.Finish();
  errors.ThrowIfAny();
  return ids;
}

bool ReadRush(Body body) {
  json::Errors errors;
  ObjectReader reader(body.document.root(), "", errors, body.unknown_fields);
  const std::optional<bool> on = reader.Boolean("on");
  if (!on && !reader.HasValue("on")) {
    reader.Fail("on", FieldCode::kRequired, "is required: true, or false");
  }
  reader.Finish();
  errors.ThrowIfAny();
  return on.value_or(false);
}

Settings ReadSettings(Body body, const Settings& settings) {
  json::Errors errors;
  ObjectReader reader(body.document.root(), "", errors, body.unknown_fields);
  Settings changed = settings;
  reader.RefuseNull({kThresholds});
  changed.lead_minutes =
      ReadMinutes(reader, "lead_minutes", 0, kLeadMinutesMax).value_or(changed.lead_minutes);
  if (std::optional<ObjectReader> thresholds = reader.Object(kThresholds)) {
    for (size_t type = 0; type < changed.thresholds.size(); ++type) {
      thresholds->RefuseNull({orders::kServiceTypeNames[type]});
      auto threshold = thresholds->Object(orders::kServiceTypeNames[type]);
      if (threshold) ReadThreshold(*std::move(threshold), changed.thresholds[type]);
    }
    thresholds->Finish();
  }
  reader.Ignore({"restaurant"});
  if (reader.NothingRead()) {
    errors.Add("body", FieldCode::kEmpty,
               "must have lead_minutes or thresholds" + reader.NearMiss());
  }
  reader.Finish();
  errors.ThrowIfAny();
  return changed;
}

menu::StationFields ReadNewStation(Body body) {
  json::Errors errors;
  ObjectReader reader(body.document.root(), "", errors, body.unknown_fields);
  reader.Refuse("id", FieldCode::kReadOnly, "is made by the server; leave it out");
  menu::StationFields fields = ReadStation(reader, true);
  reader.Finish();
  errors.ThrowIfAny();
  return fields;
}

menu::StationFields ReadStationChange(Body body, std::string_view id) {
  json::Errors errors;
  ObjectReader reader(body.document.root(), "", errors, body.unknown_fields);
  reader.RefuseNull({"name", "prepares", "position"});
  menu::StationFields fields = ReadStation(reader, false);
  if (reader.NothingRead()) {
    errors.Add("body", FieldCode::kEmpty,
               "must have name, prepares or position" + reader.NearMiss());
  }
  const std::optional<std::string> sent = reader.Uuid("id", false);
  if (sent && *sent != id) {
    reader.Fail("id", FieldCode::kReadOnly, "cannot be changed; leave it out");
  }
  reader.Ignore({"open_lines", "oldest_line_at", "displays", "unwatched_since"});
  reader.Finish();
  errors.ThrowIfAny();
  return fields;
}

std::string Render(const Settings& settings, std::string_view restaurant) {
  std::string text;
  json::Writer out(text);
  out.BeginObject();
  out.Key("restaurant").Raw(restaurant);
  out.Key("lead_minutes").Integer(settings.lead_minutes);
  out.Key("thresholds").BeginObject();
  for (size_t type = 0; type < settings.thresholds.size(); ++type) {
    const Threshold& threshold = settings.thresholds[type];
    out.KeyOf(orders::kServiceTypeNames[type]).BeginObject();
    out.Key("warn_minutes").Integer(threshold.warn_minutes);
    out.Key("late_minutes").Integer(threshold.late_minutes);
    out.EndObject();
  }
  out.EndObject();
  out.EndObject();
  return text;
}

}  // namespace comanda::kitchen
