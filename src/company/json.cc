#include "company/json.h"

#include "base/problem.h"
#include "base/text.h"
#include "company/import_row.h"
#include "json/writer.h"

namespace comanda::company {
namespace {

// Periods of one day.
constexpr size_t kBlocksMax = 12;
constexpr json::TextRule kTimeRule = {.max = 40, .card_numbers_refused = false};

int ReadTime(json::ObjectReader& block, std::string_view name) {
  const std::optional<std::string> text = block.RequireText(name, kTimeRule);
  if (!text) return 0;
  const std::optional<int> minute = TimeOfDayIn(block, *text);
  if (!minute) {
    block.Fail(
        name, FieldCode::kInvalidFormat,
        "must be a time of day from 00:00 to 23:59, like 09:30; a close at midnight is 00:00");
  }
  return minute.value_or(0);
}

DayHours ReadDay(json::ObjectReader& day) {
  DayHours read;
  for (json::ObjectReader& block : day.Objects("hours", kBlocksMax, true)) {
    Block times;
    times.open = ReadTime(block, "open");
    times.close = ReadTime(block, "close");
    read.blocks.push_back(times);
    block.Finish();
  }
  const bool hours_sent = day.Raw("hours").has_value();
  read.is_active = day.Boolean("is_active").value_or(!read.blocks.empty());
  // Other systems write an empty list both for "open all day" and for "closed": refuse rather than
  // guess.
  if (read.is_active && read.blocks.empty()) {
    day.Fail("hours", hours_sent ? FieldCode::kEmpty : FieldCode::kRequired,
             "must have at least one block on an active day: {\"open\": \"00:00\", \"close\": "
             "\"00:00\"} is the whole day; send is_active false for a closed one");
  }
  day.Finish();
  return read;
}

void WriteDay(json::Writer& writer, const DayHours& day) {
  writer.BeginObject().Key("is_active").Boolean(day.is_active).Key("hours").BeginArray();
  for (const Block& block : day.blocks) {
    writer.BeginObject();
    writer.Key("open").Text(FormatTimeOfDay(block.open));
    writer.Key("close").Text(FormatTimeOfDay(block.close));
    writer.EndObject();
  }
  writer.EndArray().EndObject();
}

void WriteLocation(json::Writer& writer, const Company& company) {
  writer.BeginObject();
  writer.Key("address").Text(company.address);
  writer.Key("area").Text(company.area);
  writer.Key("city").Text(company.city);
  writer.Key("state").Text(company.state);
  writer.Key("country_code").Text(company.country_code);
  writer.Key("postal_code").Text(company.postal_code);
  writer.Key("latitude").Stored(company.latitude.value_or("null"));
  writer.Key("longitude").Stored(company.longitude.value_or("null"));
  writer.EndObject();
}

}  // namespace

std::optional<int> TimeOfDayIn(const json::ObjectReader& row, std::string_view text) {
  constexpr size_t kMinutes = 5;  // of "12:30:00"
  return ParseTimeOfDay(IsTolerated(row) ? Trimmed(text).substr(0, kMinutes) : text);
}

Hours ReadHours(json::ObjectReader& week) {
  Hours hours;
  for (size_t i = 0; i < hours.size(); ++i) {
    if (auto day = week.Object(kWeekdays[i])) hours[i] = ReadDay(*day);
  }
  week.Finish();
  return hours;
}

std::string HoursText(const Hours& hours) {
  std::string text;
  json::Writer writer(text);
  writer.BeginObject();
  for (size_t i = 0; i < hours.size(); ++i) {
    writer.KeyOf(kWeekdays[i]);
    WriteDay(writer, hours[i]);
  }
  writer.EndObject();
  return text;
}

Hours ParseHours(std::string_view stored) {
  try {
    const json::Document document = json::Document::Parse(stored);
    json::Errors errors;
    json::ObjectReader week(document.root(), "business_hours", errors,
                            json::UnknownFields::kRefused);
    const Hours hours = ReadHours(week);
    errors.ThrowIfAny();
    return hours;
  } catch (const Refusal& refusal) {
    throw Fault(Fault::Kind::kInternal, "stored business_hours: " + refusal.detail);
  }
}

std::string Render(const Company& company, bool currently_open) {
  std::string record;
  json::Writer writer(record);
  writer.BeginObject();
  writer.Key("id").Text(company.id);
  writer.Key("name").Text(company.name);
  writer.Key("description").Text(company.description);
  writer.Key("logo").Text(company.logo);
  writer.Key("public_url").Text(company.public_url);
  writer.Key("phone").Text(company.phone);
  writer.Key("location");
  WriteLocation(writer, company);
  writer.Key("country_code").Text(company.country_code);
  writer.Key("timezone").Text(company.timezone);
  writer.Key("business_hours").Stored(company.business_hours);
  writer.Key("currently_open").Boolean(currently_open);
  writer.Key("language").Text(company.language);
  writer.Key("currency").Text(company.currency);
  writer.Key("day_starts_at").Text(FormatTimeOfDay(company.day_starts_at));
  writer.Key("created_at").Instant(company.created_at);
  writer.Key("updated_at").Instant(company.updated_at);
  writer.EndObject();
  return record;
}

std::string Render(const PaymentMethod& method) {
  std::string record;
  json::Writer writer(record);
  writer.BeginObject();
  writer.Key("id").Text(method.id);
  writer.Key("code").Text(method.code);
  writer.Key("description").Text(method.description);
  writer.Key("service_types").BeginArray();
  for (size_t i = 0; i < kServiceTypes.size(); ++i) {
    if (method.service_types & (1u << i)) writer.Text(kServiceTypes[i]);
  }
  writer.EndArray().EndObject();
  return record;
}

std::string Render(const Table& table) {
  std::string record;
  json::Writer writer(record);
  writer.BeginObject();
  writer.Key("id").Text(table.id);
  writer.Key("name").Text(table.name);
  writer.Key("area").Text(table.area);
  writer.Key("active").Boolean(table.active);
  writer.EndObject();
  return record;
}

}  // namespace comanda::company
