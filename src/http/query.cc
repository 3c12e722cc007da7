#include "http/query.h"

#include <algorithm>
#include <charconv>

#include "base/id.h"
#include "base/nearest.h"
#include "base/problem.h"
#include "base/text.h"
#include "json/writer.h"
#include "wire/percent.h"

namespace comanda::http {
namespace {

constexpr size_t kParametersMax = 64;
constexpr size_t kShownMax = 80;

// A text that a client sent, shortened to what an error message can show.
std::string Shown(std::string_view text) {
  std::string shown;
  for (const char c : text.substr(0, kShownMax)) {
    shown += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  while (!IsUtf8(shown)) shown.pop_back();
  return text.size() > kShownMax ? shown + "…" : shown;
}

Refusal Wrong(std::string_view name, FieldCode code, std::string message) {
  const std::string shown = name.empty() ? "\"\"" : Shown(name);
  std::string detail = shown + ": " + message;  // before the message is moved
  return Refusal(Problem::kInvalidParameter, std::move(detail),
                 {{shown, code, std::move(message)}});
}

std::string Decoded(std::string_view text) {
  std::optional<std::string> decoded = wire::PercentDecoded(text, wire::PlusSign::kBlank);
  if (!decoded) {
    throw Refusal(Problem::kInvalidParameter,
                  "The query has an escape that is none, or that is not UTF-8 text.");
  }
  return std::move(*decoded);
}

std::string Listed(std::span<const std::string_view> words) {
  std::string list;
  for (const std::string_view word : words) {
    if (!list.empty()) list += ", ";
    list += word;
  }
  return list;
}

bool Contains(std::span<const std::string_view> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

std::string UnknownMessage(std::string_view name, std::span<const std::string_view> allowed) {
  constexpr std::array<std::string_view, 10> kOtherPaging = {
      "page[size]", "page[number]", "page[limit]", "page[offset]", "limit",
      "offset",     "pageSize",     "page_size",   "size",         "cursor"};
  if (allowed.empty()) return "is not known; this path takes no parameters.";
  const std::string as_filter = "filter[" + std::string(name) + "]";
  std::string message = "is not known here";
  if (Contains(kOtherPaging, name) && Contains(allowed, "per_page")) {
    message += Contains(allowed, "page") ? "; use page and per_page" : "; use per_page";
  } else if (Contains(allowed, as_filter)) {
    message += "; use " + as_filter;
  } else if (const std::string_view nearest = Nearest(name, allowed); !nearest.empty()) {
    message += "; perhaps " + std::string(nearest) + " was meant";
  }
  return message + "; allowed are: " + Listed(allowed) + ".";
}

int64_t ReadCount(std::string_view name, std::string_view text, int64_t max) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1 || number > max) {
    throw Wrong(name, FieldCode::kOutOfRange,
                "must be a whole number from 1 to " + std::to_string(max) + ".");
  }
  return number;
}

// In "2026-11-22T18:00:00+01:00", sent unescaped, the plus sign of the offset is decoded as a
// blank.
std::optional<UtcMs> InstantOf(std::string_view text) {
  constexpr size_t kOffsetSize = 6;  // "+02:00"
  std::string instant(text);
  if (instant.size() > kOffsetSize && instant[instant.size() - kOffsetSize] == ' ') {
    instant[instant.size() - kOffsetSize] = '+';
  }
  return ParseInstant(instant);
}

}  // namespace

std::string ListTail(Paging paging, int64_t total) {
  std::string tail = "],";
  json::Writer writer(tail);
  writer.Key("pagination").BeginObject();
  writer.Key("current_page").Integer(paging.page);
  writer.Key("per_page").Integer(paging.per_page);
  writer.Key("total").Integer(total);
  writer.Key("has_more").Boolean(total > 0 && paging.page <= (total - 1) / paging.per_page);
  writer.EndObject();
  tail += '}';
  return tail;
}

Query Query::Parse(std::string_view raw) {
  Query query;
  while (!raw.empty()) {
    const std::string_view pair = raw.substr(0, raw.find('&'));
    raw.remove_prefix(std::min(pair.size() + 1, raw.size()));
    if (pair.empty()) continue;
    const size_t equals = std::min(pair.find('='), pair.size());
    std::string name = Decoded(pair.substr(0, equals));
    std::string value = Decoded(pair.substr(std::min(equals + 1, pair.size())));
    if (value.empty()) {
      throw Wrong(name, FieldCode::kEmpty, "has no value; leave the parameter out instead.");
    }
    if (query.Find(name)) {
      throw Wrong(name, FieldCode::kDuplicate,
                  "is given twice; give it once (several values: separated by commas).");
    }
    if (query.parameters_.size() >= kParametersMax) {
      throw Wrong(name, FieldCode::kTooManyItems,
                  "is one parameter too many; at most " + std::to_string(kParametersMax) + ".");
    }
    query.parameters_.emplace_back(std::move(name), std::move(value));
  }
  return query;
}

void Query::AllowOnly(std::span<const std::string_view> names) const {
  for (const auto& [name, value] : parameters_) {
    if (!Contains(names, name)) {
      throw Wrong(name, FieldCode::kUnknownField, UnknownMessage(name, names));
    }
  }
}

std::optional<std::string_view> Query::Find(std::string_view name) const {
  for (const auto& [known, value] : parameters_) {
    if (known == name) return value;
  }
  return std::nullopt;
}

Paging Query::ReadPaging() const {
  constexpr int64_t kPageMax = 1'000'000'000'000;
  Paging paging;
  if (const auto page = Find("page")) paging.page = ReadCount("page", *page, kPageMax);
  if (const auto per_page = Find("per_page")) {
    paging.per_page = ReadCount("per_page", *per_page, kPerPageMax);
  }
  return paging;
}

Sort Query::ReadSort(std::span<const std::string_view> fields,
                     std::string_view default_sort) const {
  std::string_view field = Find("sort").value_or(default_sort);
  const bool descending = field.starts_with('-');
  if (descending) field.remove_prefix(1);
  const auto it = std::ranges::find(fields, field);
  if (it == fields.end()) {
    throw Wrong("sort", FieldCode::kUnknownValue,
                "cannot sort by \"" + Shown(field) + "\"; allowed are: " + Listed(fields) +
                    ", with - in front for the other direction.");
  }
  return {static_cast<size_t>(it - fields.begin()), descending};
}

std::vector<size_t> Query::ReadWords(std::string_view name,
                                     std::span<const std::string_view> words) const {
  std::vector<size_t> indexes;
  const std::optional<std::string_view> value = Find(name);
  if (!value) return indexes;
  for (std::string_view rest = *value;;) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view wanted = rest.substr(0, comma);
    const auto it = std::ranges::find_if(
        words, [&](std::string_view word) { return AsciiEqualsIgnoreCase(word, wanted); });
    if (it == words.end()) {
      throw Wrong(name, FieldCode::kUnknownValue,
                  "does not know \"" + Shown(wanted) + "\"; allowed are: " + Listed(words) + ".");
    }
    const auto index = static_cast<size_t>(it - words.begin());
    if (std::ranges::find(indexes, index) == indexes.end()) indexes.push_back(index);
    if (comma == rest.size()) return indexes;
    rest.remove_prefix(comma + 1);
  }
}

std::vector<std::string> Query::ReadCapitals(std::string_view name) const {
  const std::optional<std::string_view> value = Find(name);
  if (!value) return {};
  std::vector<std::string> words(1);
  for (const char c : *value) {
    if (c == ',') {
      words.emplace_back();
    } else {
      words.back() += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    }
  }
  return words;
}

std::optional<bool> Query::ReadBoolean(std::string_view name) const {
  const std::optional<std::string_view> value = Find(name);
  if (!value) return std::nullopt;
  if (AsciiEqualsIgnoreCase(*value, "true")) return true;
  if (AsciiEqualsIgnoreCase(*value, "false")) return false;
  throw Wrong(name, FieldCode::kUnknownValue, "must be true or false.");
}

std::optional<std::string> Query::ReadUuid(std::string_view name) const {
  const std::optional<std::string_view> value = Find(name);
  if (!value) return std::nullopt;
  std::optional<std::string> id = ParseId(*value);
  if (!id) {
    throw Wrong(name, FieldCode::kInvalidFormat,
                "must be a UUID, such as 0190a5c8-6f2e-7c3a-9d41-2b7f5e8a1c90.");
  }
  return id;
}

std::optional<Query::Bound> Query::ReadDayOrInstant(std::string_view name, const Days& days,
                                                    bool is_end) const {
  const std::optional<std::string_view> value = Find(name);
  if (!value) return std::nullopt;
  if (const std::optional<Day> day = ParseDay(*value)) {
    return Bound{is_end ? days.EndOf(*day) : days.BeginOf(*day), day};
  }
  if (const std::optional<UtcMs> instant = InstantOf(*value)) return Bound{*instant, std::nullopt};
  throw Wrong(name, FieldCode::kInvalidFormat,
              "must be a day as 2026-11-20, or an instant as 2026-11-20T18:03:11Z.");
}

std::optional<UtcMs> Query::ReadInstant(std::string_view name) const {
  const std::optional<std::string_view> value = Find(name);
  if (!value) return std::nullopt;
  const std::optional<UtcMs> instant = InstantOf(*value);
  if (!instant) {
    throw Wrong(name, FieldCode::kInvalidFormat,
                "must be an instant as 2026-11-20T18:03:11Z, or with an offset as -05:00.");
  }
  return instant;
}

std::string Query::Canonical() const {
  std::vector<std::pair<std::string, std::string>> sorted = parameters_;
  std::ranges::sort(sorted);
  std::string text;
  for (const auto& [name, value] : sorted) {
    json::AppendQuoted(text, name);
    json::AppendQuoted(text, value);
  }
  return text;
}

}  // namespace comanda::http
