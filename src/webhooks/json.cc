#include "webhooks/json.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "json/writer.h"
#include "net/international_name.h"
#include "wire/head.h"

namespace comanda::webhooks {
namespace {

constexpr size_t kHeadersMax = 20;
constexpr size_t kHeaderNameMax = 100;
constexpr size_t kHeaderValueMax = 1024;
constexpr size_t kAckCodesMax = 20;
constexpr int64_t kGraceMaxS = kGraceMaxMs / 1000;
constexpr int kAckMin = 200, kAckMax = 499;
constexpr std::string_view kMask = "****";
constexpr json::TextRule kPlain = {.max = kUrlBytesMax + 1, .card_numbers_refused = false};
constexpr json::TextRule kUrl = {
    .max = kUrlBytesMax + 1, .card_numbers_refused = false, .can_be_null = false};
constexpr std::array<std::string_view, 15> kReadOnly = {
    "id",          "secret",           "secret_last_four",      "secret_rotates_until",
    "sequence",    "backlog",          "oldest_undelivered_at", "events_lost",
    "created_at",  "updated_at",       "last_outcome",          "suspended_at",
    "last_status", "suspended_reason", "consecutive_failures"};

std::string KindList() {
  std::string list;
  for (const KindRow& row : kKinds) list += std::string(row.name) + ", ";
  return list + "or * alone for every kind of the log";
}

class Reader {
 public:
  Reader(const json::Document& body, const ReadSettings& settings)
      : settings_(settings), reader_(body.root(), "", errors_, settings.unknown) {}

  Draft ReadFields() {
    Draft draft;
    draft.url = ReadUrl();
    ReadNullable("merchant_id", draft.merchant_id,
                 {.max = 200, .card_numbers_refused = false, .is_name = true});
    draft.kinds = ReadKinds();
    draft.headers = ReadHeaders();
    draft.ack_codes = ReadAckCodes();
    ReadPin(draft);
    draft.is_active = reader_.Boolean("is_active");
    return draft;
  }

  void ReadVerbs(Draft& draft) {
    draft.rotates_secret = reader_.Boolean("rotate_secret").value_or(false);
    const auto grace =
        reader_.Number("grace_seconds", {.decimals = 0, .min = 0, .max = kGraceMaxS});
    draft.grace_s = grace.value_or(kGraceMaxS);
    if (grace && !draft.rotates_secret) {
      reader_.Fail("grace_seconds", FieldCode::kNotAllowed, "goes with rotate_secret: true");
    }
    draft.skips_backlog = reader_.Boolean("skip_backlog").value_or(false);
    if (draft.skips_backlog && !draft.is_active.value_or(false)) {
      reader_.Fail("skip_backlog", FieldCode::kNotAllowed, "goes with is_active: true");
    }
  }

  void Finish() {
    for (const std::string_view name : kReadOnly) {
      reader_.Refuse(name, FieldCode::kReadOnly, "is set by the box and cannot be sent");
    }
    reader_.Refuse("last_delivery_at", FieldCode::kReadOnly,
                   "is set by the box and cannot be sent");
    reader_.Finish();
    errors_.ThrowIfAny();
  }

  json::ObjectReader& object() { return reader_; }
  json::Errors& errors() { return errors_; }

 private:
  void ReadNullable(std::string_view name, std::optional<std::optional<std::string>>& field,
                    json::TextRule rule) {
    if (reader_.IsNull(name)) field.emplace();
    if (auto text = reader_.Text(name, rule)) field = std::move(text);
  }

  std::optional<std::string> ReadUrl() {
    std::optional<std::string> url = reader_.Text("webhook_url", kUrl);
    if (!url) return std::nullopt;
    url = net::WithAsciiHost(*url);
    const ParsedUrl parsed = ParseUrl(*url);
    if (!parsed.target) {
      const bool is_long = url->size() > kUrlBytesMax;
      reader_.Fail("webhook_url", is_long ? FieldCode::kTooLong : FieldCode::kInvalidFormat,
                   parsed.wrong);
      return std::nullopt;
    }
    CheckAddresses(*parsed.target);
    return url;
  }

  void CheckAddresses(const Target& target) {
    if (target.literal) {
      return CheckAddress(target.host,
                          WhyRefused(settings_.networks, *target.literal, target.is_https));
    }
    for (const std::string& address : settings_.find_addresses(target.host)) {
      const auto why = WhyRefused(settings_.networks, address, target.is_https);
      if (why) return CheckAddress(target.host + " (" + address + ")", why);
    }
  }

  void CheckAddress(const std::string& shown, const std::optional<std::string>& why) {
    if (!why) return;
    reader_.Fail("webhook_url", FieldCode::kNotAllowed,
                 "leads to " + shown + ", which " + *why +
                     "; the owner can allow networks with the setting webhook_networks");
  }

  std::optional<Kinds> ReadKinds() {
    const auto names = reader_.Texts("events", kKinds.size() + 1, kPlain);
    if (!names) return std::nullopt;
    if (names->empty()) {
      reader_.Fail("events", FieldCode::kEmpty, "needs at least one of: " + KindList());
      return std::nullopt;
    }
    Kinds kinds;
    for (size_t i = 0; i < names->size(); ++i) {
      const std::string field = "events[" + std::to_string(i) + "]";
      const std::string& name = (*names)[i];
      const auto kind = FindKind(name);
      const bool is_every = name == kEveryKind && names->size() == 1;
      if (is_every) return Kinds::OfLog();
      if (!kind) {
        reader_.Fail(field, FieldCode::kUnknownValue, "must be one of: " + KindList());
      } else if (kinds.Has(*kind)) {
        reader_.Fail(field, FieldCode::kDuplicate, "stands there twice");
      } else {
        kinds.Add(*kind);
      }
    }
    return kinds;
  }

  // What the box or libcurl sets itself, and what concerns one connection alone (hop-by-hop, RFC
  // 9110 section 7.6.1): sent on, that would let a receiver misread the message.
  bool IsOurs(std::string_view lower) const {
    constexpr std::array<std::string_view, 10> kOurs = {
        "host",   "connection", "keep-alive",       "te", "trailer", "transfer-encoding", "upgrade",
        "expect", "user-agent", "x-webhook-attempt"};
    const std::string own = AsciiLower(settings_.signature_header);
    return std::ranges::find(kOurs, lower) != kOurs.end() || lower.starts_with("content-") ||
           lower.starts_with("webhook-") || lower.starts_with("proxy-") || lower == own ||
           lower == own + "-new";
  }

  std::optional<Headers> ReadHeaders() {
    const auto value = reader_.Raw("webhook_headers");
    if (!value) {
      return reader_.IsNull("webhook_headers") ? std::optional(Headers()) : std::nullopt;
    }
    if (value->kind() != json::Kind::kObject) {
      reader_.Fail("webhook_headers", FieldCode::kWrongType,
                   "must be an object of names and texts");
      return std::nullopt;
    }
    const auto members = value->members();
    if (members.size() > kHeadersMax) {
      reader_.Fail("webhook_headers", FieldCode::kTooManyItems,
                   "must have at most " + std::to_string(kHeadersMax) + " members");
      return std::nullopt;
    }
    Headers headers;
    for (const auto& [name, text] : members) AddHeader(name, text, headers);
    return headers;
  }

  void AddHeader(std::string_view name, const json::Value& value, Headers& headers) {
    const std::string field = "webhook_headers." + std::string(name.substr(0, kHeaderNameMax));
    const auto fail = [&](FieldCode code, std::string message) {
      errors_.Add(field, code, std::move(message), value.offset());
    };
    const std::string lower = AsciiLower(name);
    if (name.size() > kHeaderNameMax || !wire::IsToken(name)) {
      return fail(FieldCode::kInvalidFormat, "is no name of a header");
    }
    if (IsOurs(lower)) return fail(FieldCode::kNotAllowed, "is a header that the box sets itself");
    if (std::ranges::any_of(headers, [&](const auto& h) { return AsciiLower(h.first) == lower; })) {
      return fail(FieldCode::kDuplicate, "names a header twice");
    }
    if (value.kind() != json::Kind::kText) {
      return fail(FieldCode::kWrongType, "must be a text");
    }
    const std::string_view text = value.text();
    if (text.size() > kHeaderValueMax) {
      return fail(FieldCode::kTooLong,
                  "must have at most " + std::to_string(kHeaderValueMax) + " bytes");
    }
    const bool has_control =
        std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
    if (has_control) return fail(FieldCode::kInvalidFormat, "must not have control characters");
    headers.emplace_back(name, text);
  }

  std::optional<std::vector<int>> ReadAckCodes() {
    const auto value = reader_.Raw("ack_http_codes");
    if (!value) {
      return reader_.IsNull("ack_http_codes") ? std::optional(std::vector<int>()) : std::nullopt;
    }
    if (value->kind() != json::Kind::kArray) {
      reader_.Fail("ack_http_codes", FieldCode::kWrongType, "must be an array of status codes");
      return std::nullopt;
    }
    std::vector<int> codes;
    const std::vector<json::Value> items = value->items();
    if (items.size() > kAckCodesMax) {
      reader_.Fail("ack_http_codes", FieldCode::kTooManyItems,
                   "must have at most " + std::to_string(kAckCodesMax) + " items");
      return std::nullopt;
    }
    for (size_t i = 0; i < items.size(); ++i) {
      const std::string field = "ack_http_codes[" + std::to_string(i) + "]";
      if (items[i].kind() != json::Kind::kNumber) {
        errors_.Add(field, FieldCode::kWrongType, "must be a number", items[i].offset());
        continue;
      }
      const std::string_view text = items[i].number_text();
      const bool is_code = text.size() == 3 && std::ranges::all_of(text, IsDigit);
      const int code = is_code ? std::stoi(std::string(text)) : 0;
      if (code < kAckMin || code > kAckMax) {
        errors_.Add(field, FieldCode::kOutOfRange, "must be from 200 to 499", items[i].offset());
      } else if (std::ranges::find(codes, code) != codes.end()) {
        errors_.Add(field, FieldCode::kDuplicate, "stands there twice", items[i].offset());
      } else {
        codes.push_back(code);
      }
    }
    return codes;
  }

  void ReadPin(Draft& draft) {
    constexpr size_t kPinBytes = 8 + 44;
    ReadNullable("public_key_pin", draft.public_key_pin, kPlain);
    if (!draft.public_key_pin || !*draft.public_key_pin) return;
    const std::string& pin = **draft.public_key_pin;
    if (pin.starts_with("sha256//") && pin.size() == kPinBytes && pin.ends_with('=')) return;
    reader_.Fail(
        "public_key_pin", FieldCode::kInvalidFormat,
        "must be sha256// and the padded base64 of the SHA-256 of the server's public key; "
        "`comanda webhooks pin URL` shows it");
  }

  const ReadSettings& settings_;
  json::Errors errors_;
  json::ObjectReader reader_;
};

void AppendConfiguration(json::Writer& writer, const Subscription& subscription) {
  const Configuration& configuration = subscription.configuration;
  writer.Key("webhook_url").Text(configuration.url);
  writer.Key("merchant_id").Text(configuration.merchant_id);
  writer.Key("events").BeginArray();
  const Kinds kinds = subscription.selection.Last();
  if (kinds == Kinds::OfLog()) {
    writer.Text(kEveryKind);
  } else {
    for (const KindRow& row : kKinds) {
      if (kinds.Has(row.kind)) writer.Text(row.name);
    }
  }
  writer.EndArray();
  writer.Key("webhook_headers").BeginObject();
  for (const auto& [name, value] : configuration.headers) writer.KeyOf(name).Text(Masked(value));
  writer.EndObject();
  writer.Key("ack_http_codes").BeginArray();
  for (const int code : configuration.ack_codes) writer.Integer(code);
  writer.EndArray();
  writer.Key("public_key_pin").Text(configuration.public_key_pin);
  writer.Key("is_active").Boolean(configuration.is_active);
}

}  // namespace

bool Configuration::Acknowledges(int status) const {
  if (ack_codes.empty()) return status >= 200 && status < 300;
  return std::ranges::find(ack_codes, status) != ack_codes.end();
}

Draft ReadNew(const json::Document& body, const ReadSettings& settings) {
  Reader reader(body, settings);
  Draft draft = reader.ReadFields();
  if (body.root().kind() == json::Kind::kObject && !reader.object().Has("webhook_url")) {
    reader.object().Fail("webhook_url", FieldCode::kRequired, "is required");
  }
  reader.object().RefuseNull({"webhook_url"});
  reader.Finish();
  return draft;
}

Draft ReadChange(const json::Document& body, const ReadSettings& settings) {
  Reader reader(body, settings);
  Draft draft = reader.ReadFields();
  reader.ReadVerbs(draft);
  reader.object().RefuseNull(
      {"webhook_url", "events", "is_active", "rotate_secret", "grace_seconds", "skip_backlog"});
  if (reader.object().NothingRead()) {
    reader.errors().Add("body", FieldCode::kEmpty,
                        "changes nothing: send at least one field" + reader.object().NearMiss());
  }
  reader.Finish();
  return draft;
}

std::string Masked(std::string_view value) {
  constexpr size_t kShown = 4, kShownFrom = 12;
  std::string masked(kMask);
  if (value.size() >= kShownFrom) masked += value.substr(value.size() - kShown);
  return masked;
}

Headers Unmasked(Headers sent, const Headers& stored) {
  for (auto& [name, value] : sent) {
    for (const auto& [stored_name, stored_value] : stored) {
      if (AsciiEqualsIgnoreCase(name, stored_name) && value == Masked(stored_value)) {
        value = stored_value;
      }
    }
  }
  return sent;
}

std::string Render(const Subscription& subscription, const Behind& behind,
                   std::optional<std::string_view> secret) {
  const Progress& progress = subscription.progress;
  std::string json;
  json::Writer writer(json);
  writer.BeginObject();
  writer.Key("id").Text(subscription.id);
  AppendConfiguration(writer, subscription);
  constexpr size_t kLastFour = 4;
  const std::string& current = subscription.secrets.current;
  writer.Key("secret");
  if (secret) {
    writer.Text(*secret);
  } else {
    writer.Null();
  }
  writer.Key("secret_last_four").Text(current.substr(current.size() - kLastFour));
  writer.Key("secret_rotates_until").Instant(subscription.secret_rotates_until);
  writer.Key("sequence").Integer(progress.sequence);
  writer.Key("backlog").Integer(behind.backlog);
  writer.Key("oldest_undelivered_at").Instant(behind.oldest_at);
  writer.Key("events_lost").Integer(progress.events_lost);
  writer.Key("last_outcome");
  if (progress.last_outcome) {
    writer.Text(Name(*progress.last_outcome));
  } else {
    writer.Null();
  }
  const bool is_suspended = progress.suspended != Suspended::kNot;
  writer.Key("suspended_at").Instant(progress.suspended_at);
  writer.Key("suspended_reason");
  if (is_suspended) {
    writer.Text(kSuspendedNames[static_cast<size_t>(progress.suspended)]);
  } else {
    writer.Null();
  }
  writer.Key("consecutive_failures").Integer(progress.failures_in_a_row);
  writer.Key("last_delivery_at").Instant(progress.last_delivery_at);
  writer.Key("last_status").Integer(progress.last_status);
  writer.Key("created_at").Instant(subscription.created_at);
  writer.Key("updated_at").Instant(subscription.updated_at);
  writer.EndObject();
  return json;
}

std::string StoredHeaders(const Headers& headers) {
  std::string json;
  json::Writer writer(json);
  writer.BeginObject();
  for (const auto& [name, value] : headers) writer.KeyOf(name).Text(value);
  writer.EndObject();
  return json;
}

Headers ParseHeaders(std::string_view stored) {
  Headers headers;
  const json::Document document = json::Document::ParseStored(stored);
  if (document.root().kind() != json::Kind::kObject) return headers;
  for (const auto& [name, value] : document.root().members()) {
    if (value.kind() == json::Kind::kText) headers.emplace_back(name, value.text());
  }
  return headers;
}

std::string Render(const Message& message) {
  std::string json;
  json::Writer writer(json);
  writer.BeginObject();
  writer.Key("event_type").Text(Name(message.kind));
  writer.Key("event_id").Text(message.event_id);
  writer.Key("merchant_id").Text(message.merchant_id);
  writer.Key("company_id").Text(message.company_uuid);
  writer.Key("timestamp").Instant(message.at);
  writer.Key("sequence").Integer(message.sequence);
  writer.Key("changes").BeginArray();
  std::string_view rest = message.changes;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(','), rest.size());
    writer.Text(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  writer.EndArray();
  writer.Key("note");
  if (message.note.empty()) {
    writer.Null();
  } else {
    writer.Stored(message.note);
  }
  writer.Key("data").Raw(message.data);
  writer.EndObject();
  return json;
}

}  // namespace comanda::webhooks
