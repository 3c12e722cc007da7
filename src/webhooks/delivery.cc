#include "webhooks/delivery.h"

#include <algorithm>
#include <charconv>

#include "json/reader.h"
#include "json/writer.h"

namespace comanda::webhooks {
namespace {

void Write(json::Writer& writer, const Attempt& attempt, bool shows_answer) {
  writer.BeginObject();
  writer.Key("at").Instant(attempt.at);
  writer.Key("outcome").Text(Name(attempt.outcome));
  writer.Key("status").Integer(attempt.status);
  writer.Key("duration_ms").Integer(attempt.duration_ms);
  writer.Key("address");
  if (attempt.address.empty()) {
    writer.Null();
  } else {
    writer.Text(attempt.address);
  }
  writer.Key("answer");
  if (shows_answer) {
    writer.Text(attempt.answer);
  } else {
    writer.Null();
  }
  writer.Key("clock_skew_s").Integer(attempt.clock_skew_s);
  writer.EndObject();
}

std::optional<int64_t> IntegerAt(const json::Value& object, std::string_view name) {
  const auto value = object.Find(name);
  if (!value || value->kind() != json::Kind::kNumber) return std::nullopt;
  const std::string_view text = value->number_text();
  int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string TextAt(const json::Value& object, std::string_view name) {
  const auto value = object.Find(name);
  return value && value->kind() == json::Kind::kText ? std::string(value->text()) : "";
}

}  // namespace

std::string Render(const Delivery& delivery, bool shows_answer) {
  std::string json;
  json::Writer writer(json);
  writer.BeginObject();
  writer.Key("id").Text(delivery.id);
  writer.Key("event_id").Text(delivery.event_id);
  writer.Key("event_type").Text(Name(delivery.kind));
  writer.Key("subject");
  if (delivery.kind == Kind::kTest) {
    writer.Null();
  } else {
    writer.BeginObject();
    writer.Key("type").Text(delivery.subject_type);
    writer.Key("id").Text(delivery.subject_id);
    writer.Key("version").Integer(delivery.subject_version);
    writer.EndObject();
  }
  writer.Key("sequence").Integer(delivery.sequence);
  writer.Key("state").Text(Name(delivery.state));
  writer.Key("attempts").BeginArray();
  for (const Attempt& attempt : delivery.attempts) Write(writer, attempt, shows_answer);
  writer.EndArray();
  writer.Key("next_attempt_at").Instant(delivery.next_attempt_at);
  writer.Key("created_at").Instant(delivery.created_at);
  writer.EndObject();
  return json;
}

std::string StoredAttempts(const std::vector<Attempt>& attempts) {
  std::string json;
  json::Writer writer(json);
  writer.BeginArray();
  for (const Attempt& attempt : attempts) Write(writer, attempt, true);
  writer.EndArray();
  return json;
}

std::vector<Attempt> ParseAttempts(std::string_view stored) {
  std::vector<Attempt> attempts;
  const json::Document document = json::Document::ParseStored(stored);
  if (document.root().kind() != json::Kind::kArray) return attempts;
  for (const json::Value& row : document.root().items()) {
    if (row.kind() != json::Kind::kObject) continue;
    const auto name = std::ranges::find(kOutcomeNames, TextAt(row, "outcome"));
    if (name == kOutcomeNames.end()) continue;
    attempts.push_back({.at = ParseInstant(TextAt(row, "at")).value_or(0),
                        .outcome = static_cast<Outcome>(name - kOutcomeNames.begin()),
                        .status = IntegerAt(row, "status"),
                        .duration_ms = IntegerAt(row, "duration_ms").value_or(0),
                        .address = TextAt(row, "address"),
                        .answer = TextAt(row, "answer"),
                        .clock_skew_s = IntegerAt(row, "clock_skew_s")});
  }
  return attempts;
}

}  // namespace comanda::webhooks
