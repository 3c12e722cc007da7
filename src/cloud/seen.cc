#include "cloud/seen.h"

#include "cloud/shown_members.h"
#include "json/reader.h"
#include "json/writer.h"

namespace comanda::cloud {
namespace {

// An empty text is null, so that a missing member differs from it.
void WriteState(json::Writer& out, json::Name name, const std::optional<std::string>& state) {
  if (!state) return;
  out.Key(name).Text(state->empty() ? std::nullopt : state);
}

std::optional<std::string> ReadState(const ShownMembers& members, std::string_view name) {
  if (!members.Any(name)) return std::nullopt;
  return members.Text(name).value_or("");
}

}  // namespace

std::string ToJson(const Seen& seen) {
  std::string text;
  json::Writer out(text);
  out.BeginObject();
  out.Key("version").Integer(seen.version);
  out.Key("updated_at").Integer(seen.updated_at);
  out.Key("status").Text(seen.status);
  WriteState(out, "rider", seen.rider);
  WriteState(out, "delivery_status", seen.delivery_status);
  out.Key("delivery_status_reason").Text(seen.delivery_status_reason);
  out.Key("cancel_reason").Text(seen.cancel_reason);
  out.Key("is_dated").Boolean(seen.is_dated);
  out.EndObject();
  return text;
}

Seen SeenFromJson(std::string_view json) {
  const json::Document document = json::Document::ParseStored(json);
  const ShownMembers members(document.root());
  return {.version = members.Integer("version").value_or(0),
          .updated_at = members.Integer("updated_at").value_or(0),
          .status = members.Text("status").value_or(""),
          .rider = ReadState(members, "rider"),
          .delivery_status = ReadState(members, "delivery_status"),
          .delivery_status_reason = members.Text("delivery_status_reason"),
          .cancel_reason = members.Text("cancel_reason"),
          .is_dated = members.Boolean("is_dated").value_or(false)};
}

}  // namespace comanda::cloud
