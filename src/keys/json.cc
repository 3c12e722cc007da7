#include "keys/json.h"

#include <algorithm>
#include <array>

#include "base/address.h"
#include "json/writer.h"

namespace comanda::keys {
namespace {

constexpr size_t kScopesMax = 50;
constexpr size_t kRangesMax = 50;
constexpr int64_t kIdleDaysMax = 365;
constexpr int64_t kGraceMaxS = 30LL * 24 * 60 * 60;
constexpr std::array<std::string_view, 15> kReadOnly = {
    "id",         "key",        "key_prefix",   "last_four",    "mode",
    "created_at", "updated_at", "last_used_at", "last_used_ip", "revoked_at",
    "company_id", "hash",       "secret",       "active",       "role"};

std::string ScopeList() {
  std::string list;
  for (const auth::ScopeRow& row : auth::kScopes) {
    if (!list.empty()) list += ", ";
    list += row.name;
  }
  return list;
}

std::optional<auth::ScopeSet> ReadScopes(json::ObjectReader& reader) {
  const auto names = reader.Texts("scopes", kScopesMax, {.max = 50, .card_numbers_refused = false});
  if (!names) return std::nullopt;
  if (names->empty()) {
    reader.Fail("scopes", FieldCode::kEmpty, "needs at least one of: " + ScopeList() + ".");
    return std::nullopt;
  }
  auth::ScopeSet scopes;
  for (size_t i = 0; i < names->size(); ++i) {
    const std::string field = "scopes[" + std::to_string(i) + "]";
    if (const auto scope = auth::FindScope((*names)[i])) {
      scopes.Add(*scope);
    } else {
      reader.Fail(field, FieldCode::kUnknownValue, "must be one of: " + ScopeList() + ".");
    }
  }
  return scopes;
}

std::optional<std::vector<std::string>> ReadRanges(json::ObjectReader& reader) {
  auto ranges =
      reader.Texts("allowed_cidrs", kRangesMax, {.max = 50, .card_numbers_refused = false});
  if (!ranges) return std::nullopt;
  for (size_t i = 0; i < ranges->size(); ++i) {
    if (AddressRange::Parse((*ranges)[i])) continue;
    reader.Fail("allowed_cidrs[" + std::to_string(i) + "]", FieldCode::kInvalidFormat,
                "must be an address or a range of them, as 192.168.1.0/24 or 2001:db8::/32.");
  }
  return ranges;
}

Draft ReadFields(json::ObjectReader& reader, UtcMs now) {
  Draft draft;
  draft.name = reader.Text("name", {.max = kNameMax, .is_name = true, .can_be_null = false});
  draft.scopes = ReadScopes(reader);
  const std::vector<std::string_view> tiers(auth::kTierNames.begin(), auth::kTierNames.end());
  if (const auto tier = reader.OneOf("tier", tiers)) draft.tier = static_cast<auth::Tier>(*tier);
  if (const std::optional<UtcMs> end = reader.Instant("expires_at")) {
    draft.expires_at = end;
    if (*end <= now) reader.Fail("expires_at", FieldCode::kOutOfRange, "must lie in the future.");
  }
  if (const std::optional<int64_t> days =
          reader.Number("idle_days", {.decimals = 0, .min = 1, .max = kIdleDaysMax})) {
    draft.idle_days = days;
  }
  draft.allowed_cidrs = ReadRanges(reader);
  for (const std::string_view name : kReadOnly) {
    reader.Refuse(name, FieldCode::kReadOnly, "is set by the box and cannot be sent.");
  }
  return draft;
}

std::optional<auth::Role> ReadRole(json::ObjectReader& reader) {
  std::vector<std::string_view> names;
  for (const auth::RoleRow& row : auth::kRoles) names.push_back(row.name);
  const auto role = reader.OneOf("role", names);
  if (!role) return std::nullopt;
  return static_cast<auth::Role>(*role);
}

// A field that a code's key cannot have.
void RefuseInCode(json::ObjectReader& reader, std::string_view name) {
  reader.Refuse(
      name, FieldCode::kNotAllowed,
      "is not for pairing; change the key once it is made, or use `comanda keys create`.");
}

void WriteRole(json::Writer& writer, std::optional<auth::Role> role) {
  writer.Key("role");
  role ? writer.Text(Name(*role)) : writer.Null();
}

json::Writer& Members(json::Writer& writer, const Key& key) {
  writer.Key("id").Text(key.id);
  writer.Key("name").Text(key.name);
  writer.Key("key_prefix").Text(key.key_prefix);
  writer.Key("last_four").Text(key.last_four);
  writer.Key("mode").Text(Name(key.mode));
  writer.Key("scopes").BeginArray();
  for (const auth::ScopeRow& row : auth::kScopes) {
    if (key.scopes.Has(row.scope)) writer.Text(row.name);
  }
  writer.EndArray();
  writer.Key("tier").Text(Name(key.tier));
  WriteRole(writer, key.role);
  writer.Key("allowed_cidrs").BeginArray();
  for (const std::string& range : key.allowed_cidrs) writer.Text(range);
  writer.EndArray();
  writer.Key("created_at").Instant(key.created_at);
  writer.Key("updated_at").Instant(key.updated_at);
  writer.Key("last_used_at").Instant(key.last_used_at);
  writer.Key("last_used_ip").Text(key.last_used_ip);
  writer.Key("expires_at").Instant(key.expires_at);
  writer.Key("idle_days").Integer(key.idle_days);
  writer.Key("revoked_at").Instant(key.revoked_at);
  return writer;
}

}  // namespace

Draft ReadNewKey(const json::Document& body, json::UnknownFields unknown, UtcMs now) {
  json::Errors errors;
  json::ObjectReader reader(body.root(), "", errors, unknown);
  Draft draft = ReadFields(reader, now);
  for (const std::string_view name : {"name", "scopes"}) {
    if (body.root().kind() != json::Kind::kObject) break;
    if (!reader.Raw(name)) {
      reader.Fail(name, FieldCode::kRequired, "is required and must not be null");
    }
  }
  reader.Finish();
  errors.ThrowIfAny();
  return draft;
}

Draft ReadChange(const json::Document& body, json::UnknownFields unknown, UtcMs now) {
  json::Errors errors;
  json::ObjectReader reader(body.root(), "", errors, unknown);
  Draft draft = ReadFields(reader, now);
  reader.RefuseNull({"name", "scopes", "tier"});
  if (reader.IsNull("expires_at")) draft.expires_at.emplace();
  if (reader.IsNull("idle_days")) draft.idle_days.emplace();
  if (reader.IsNull("allowed_cidrs")) draft.allowed_cidrs.emplace();
  if (reader.NothingRead()) {
    errors.Add(
        "body", FieldCode::kEmpty,
        "must have at least one of name, scopes, tier, expires_at, idle_days, allowed_cidrs" +
            reader.NearMiss());
  }
  reader.Finish();
  errors.ThrowIfAny();
  return draft;
}

int64_t ReadGrace(const json::Document& body, json::UnknownFields unknown) {
  json::Errors errors;
  json::ObjectReader reader(body.root(), "", errors, unknown);
  const int64_t grace_s =
      reader.Number("grace_seconds", {.decimals = 0, .min = 0, .max = kGraceMaxS}).value_or(0);
  reader.Finish();
  errors.ThrowIfAny();
  return grace_s;
}

CodeDraft ReadNewCode(const json::Document& body, json::UnknownFields unknown) {
  json::Errors errors;
  json::ObjectReader reader(body.root(), "", errors, unknown);
  CodeDraft draft;
  draft.name = reader.RequireText("name", {.max = kNameMax, .is_name = true}).value_or("");
  draft.role = ReadRole(reader);
  if (reader.Raw("role")) {
    for (const std::string_view name : {"scopes", "tier"}) {
      reader.Refuse(name, FieldCode::kNotAllowed, "comes from the role; leave it out.");
    }
    RefuseInCode(reader, "expires_at");
    RefuseInCode(reader, "allowed_cidrs");
    reader.Finish();
    errors.ThrowIfAny();
    draft.scopes = auth::RowOf(draft.role.value()).scopes;
    return draft;
  }
  const std::optional<auth::ScopeSet> scopes = ReadScopes(reader);
  const bool is_object = body.root().kind() == json::Kind::kObject;
  if (is_object && !reader.Raw("scopes")) {
    reader.Fail("scopes", FieldCode::kRequired, "is required and must not be null");
  }
  draft.scopes = scopes.value_or(auth::ScopeSet());
  for (const auth::ScopeRow& row : auth::kScopes) {
    if (!auth::IsManaging(row.scope) || !draft.scopes.Has(row.scope)) continue;
    reader.Fail("scopes", FieldCode::kNotAllowed,
                "must not have " + std::string(row.name) +
                    ": a key that manages the box is made by `comanda keys create`.");
  }
  const std::vector<std::string_view> tiers(auth::kTierNames.begin(), auth::kTierNames.end());
  if (const auto tier = reader.OneOf("tier", tiers)) draft.tier = static_cast<auth::Tier>(*tier);
  RefuseInCode(reader, "expires_at");
  RefuseInCode(reader, "allowed_cidrs");
  reader.Finish();
  errors.ThrowIfAny();
  return draft;
}

CodeDraft ReadDeviceCode(const json::Document& body, json::UnknownFields unknown) {
  json::Errors errors;
  json::ObjectReader reader(body.root(), "", errors, unknown);
  CodeDraft draft;
  draft.role = ReadRole(reader);
  if (body.root().kind() == json::Kind::kObject && !reader.Raw("role")) {
    reader.Fail("role", FieldCode::kRequired, "is required: one of " + auth::RoleList() + ".");
  }
  draft.name = reader.RequireText("name", {.max = kNameMax, .is_name = true}).value_or("");
  for (const std::string_view name : {"scopes", "tier"}) {
    reader.Refuse(name, FieldCode::kNotAllowed, "comes from the role; leave it out.");
  }
  RefuseInCode(reader, "expires_at");
  RefuseInCode(reader, "allowed_cidrs");
  reader.Finish();
  errors.ThrowIfAny();
  draft.scopes = auth::RowOf(draft.role.value()).scopes;
  return draft;
}

Pairing ReadPairing(const json::Document& body, json::UnknownFields unknown) {
  json::Errors errors;
  json::ObjectReader reader(body.root(), "", errors, unknown);
  Pairing pairing;
  pairing.request = reader.Text("request", {.max = 200, .can_be_null = false});
  if (pairing.request) {
    reader.Refuse("code", FieldCode::kNotAllowed, "is another way in: send one of the two.");
  } else {
    pairing.code = reader.RequireText("code", {.max = 200}).value_or("");
  }
  reader.Finish();
  errors.ThrowIfAny();
  return pairing;
}

auth::DeviceRequest ReadDeviceRequest(const json::Document& body, json::UnknownFields unknown) {
  json::Errors errors;
  json::ObjectReader reader(body.root(), "", errors, unknown);
  auth::DeviceRequest request;
  const std::optional<auth::Role> role = ReadRole(reader);
  if (body.root().kind() == json::Kind::kObject && !reader.Raw("role")) {
    reader.Fail("role", FieldCode::kRequired, "is required: one of " + auth::RoleList() + ".");
  }
  request.role = role.value_or(auth::Role::kKitchen);
  request.name = reader.RequireText("name", {.max = kNameMax, .is_name = true}).value_or("");
  reader.Finish();
  errors.ThrowIfAny();
  return request;
}

Acceptance ReadAcceptance(const json::Document& body, json::UnknownFields unknown) {
  json::Errors errors;
  json::ObjectReader reader(body.root(), "", errors, unknown);
  Acceptance acceptance;
  acceptance.number =
      reader.RequireText("number", {.max = 50, .card_numbers_refused = false}).value_or("");
  const bool is_look = !reader.Raw("role") && !reader.Raw("name") && !reader.Raw("allowed_cidrs");
  if (!is_look) {
    Grant& grant = acceptance.grant.emplace();
    const std::optional<auth::Role> role = ReadRole(reader);
    if (!reader.Raw("role")) {
      reader.Fail("role", FieldCode::kRequired, "is required: one of " + auth::RoleList() + ".");
    }
    grant.role = role.value_or(auth::Role::kKitchen);
    grant.name = reader.RequireText("name", {.max = kNameMax, .is_name = true}).value_or("");
    grant.allowed_cidrs = ReadRanges(reader).value_or(std::vector<std::string>());
  }
  reader.Finish();
  errors.ThrowIfAny();
  return acceptance;
}

std::string Render(const Key& key) {
  std::string json;
  json::Writer writer(json);
  writer.BeginObject();
  Members(writer, key).EndObject();
  return json;
}

std::string RenderWithText(const Key& key, std::string_view text) {
  std::string json;
  json::Writer writer(json);
  writer.BeginObject();
  Members(writer, key).Key("key").Text(text).EndObject();
  return json;
}

std::string RenderWithoutText(const Key& key) {
  std::string json;
  json::Writer writer(json);
  writer.BeginObject();
  Members(writer, key).Key("key").Null().EndObject();
  return json;
}

std::string Render(const Code& code, std::string_view text) {
  std::string json;
  json::Writer writer(json);
  writer.BeginObject();
  writer.Key("id").Text(code.id);
  writer.Key("name").Text(code.draft.name);
  writer.Key("scopes").BeginArray();
  for (const auth::ScopeRow& row : auth::kScopes) {
    if (code.draft.scopes.Has(row.scope)) writer.Text(row.name);
  }
  writer.EndArray();
  writer.Key("tier").Text(Name(code.draft.tier));
  WriteRole(writer, code.draft.role);
  writer.Key("expires_at").Instant(code.expires_at);
  if (!text.empty()) writer.Key("code").Text(text);
  writer.EndObject();
  return json;
}

std::string Render(const auth::PairingCode& code, auth::CodeState state) {
  std::string json;
  json::Writer writer(json);
  writer.BeginObject();
  writer.Key("id").Text(code.id);
  writer.Key("state");
  switch (state) {
    case auth::CodeState::kOpen:
      writer.Text("open");
      break;
    case auth::CodeState::kUsed:
      writer.Text("used");
      break;
    case auth::CodeState::kExpired:
      writer.Text("expired");
      break;
  }
  writer.Key("key_id");
  code.key_id.empty() ? writer.Null() : writer.Text(code.key_id);
  writer.Key("name");
  code.key_name.empty() ? writer.Null() : writer.Text(code.key_name);
  writer.Key("address");
  code.taken_from.empty() ? writer.Null() : writer.Text(code.taken_from);
  writer.EndObject();
  return json;
}

std::string RenderAsked(const auth::DeviceRequests::Made& made) {
  std::string json;
  json::Writer writer(json);
  writer.BeginObject();
  writer.Key("request").Text(made.text);
  writer.Key("number").Text(made.request.number);
  writer.Key("expires_at").Instant(made.request.expires_at);
  writer.EndObject();
  return json;
}

std::string Render(const auth::DeviceRequest& request, WithNumber with_number) {
  std::string json;
  json::Writer writer(json);
  writer.BeginObject();
  if (with_number == WithNumber::kYes) writer.Key("number").Text(request.number);
  writer.Key("name").Text(request.name);
  writer.Key("role").Text(Name(request.role));
  writer.Key("address").Text(request.address);
  writer.Key("asked_at").Instant(request.asked_at);
  if (with_number == WithNumber::kYes) writer.Key("expires_at").Instant(request.expires_at);
  writer.EndObject();
  return json;
}

std::string RenderDevice(const Key& key, const std::vector<http::KeyDisplay>& displays) {
  std::string json;
  json::Writer writer(json);
  writer.BeginObject();
  writer.Key("id").Text(key.id);
  writer.Key("name").Text(key.name);
  WriteRole(writer, key.role);
  writer.Key("last_seen_at").Instant(key.last_used_at);
  writer.Key("address").Text(key.last_used_ip);
  writer.Key("allowed_cidrs").BeginArray();
  for (const std::string& range : key.allowed_cidrs) writer.Text(range);
  writer.EndArray();
  writer.Key("created_at").Instant(key.created_at);
  writer.Key("expires_at").Instant(key.expires_at);
  writer.Key("idle_days").Integer(key.idle_days);
  writer.Key("displays").BeginArray();
  for (const http::KeyDisplay& display : displays) {
    if (display.key_id != key.id) continue;
    writer.BeginObject();
    writer.Key("display").Text(display.display);
    writer.Key("present").Boolean(display.is_present);
    writer.Key("stations").BeginArray();
    for (const std::string& station : display.stations) writer.Text(station);
    writer.EndArray();
    writer.Key("sound").Text(display.is_muted ? "muted" : "on");
    writer.Key("awake").Boolean(display.is_awake);
    writer.EndObject();
  }
  writer.EndArray();
  writer.EndObject();
  return json;
}

std::string Render(const store::AuditRow& row) {
  std::string json;
  json::Writer writer(json);
  writer.BeginObject();
  writer.Key("seq").Integer(row.seq);
  writer.Key("at").Instant(row.at);
  writer.Key("actor").Text(row.actor);
  writer.Key("action").Text(row.action);
  writer.Key("subject_id").Text(row.subject_id);
  writer.Key("detail").Stored(row.detail);
  writer.EndObject();
  return json;
}

}  // namespace comanda::keys
