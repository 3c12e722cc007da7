#include "db/export_manifest.h"

#include <charconv>
#include <optional>
#include <string_view>

#include "base/file.h"
#include "base/problem.h"
#include "json/reader.h"
#include "json/writer.h"

namespace comanda::db {
namespace {

constexpr int64_t kForm = 1;

std::string TextOf(const json::Value& object, std::string_view key) {
  const auto value = object.Find(key);
  return std::string(value.value().text());
}

int64_t NumberOf(const json::Value& object, std::string_view key) {
  const std::string_view text = object.Find(key).value().number_text();
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) throw std::bad_optional_access();
  return number;
}

ExportedTable ReadTable(const json::Value& value) {
  ExportedTable table{.schema = TextOf(value, "schema"),
                      .name = TextOf(value, "name"),
                      .columns = {},
                      .rows = NumberOf(value, "rows"),
                      .bytes = NumberOf(value, "bytes"),
                      .sum = TextOf(value, "blake2b")};
  for (const json::Value& column : value.Find("columns").value().items()) {
    table.columns.emplace_back(column.text());
  }
  return table;
}

Manifest Read(const json::Value& root) {
  if (NumberOf(root, "form") != kForm) throw std::bad_optional_access();
  Manifest manifest{.version = TextOf(root, "version"),
                    .made_at = TextOf(root, "made_at"),
                    .schema = NumberOf(root, "schema"),
                    .was_serving = root.Find("was_serving").value().boolean(),
                    .tables = {},
                    .files = {}};
  for (const json::Value& table : root.Find("tables").value().items()) {
    manifest.tables.push_back(ReadTable(table));
  }
  for (const auto& [path, sum] : root.Find("files").value().members()) {
    manifest.files.emplace(path, sum.text());
  }
  return manifest;
}

}  // namespace

std::string Text(const Manifest& manifest) {
  std::string text;
  json::Writer out(text);
  out.BeginObject().Key("form").Integer(kForm);
  out.Key("engine").Text("sqlite").Key("version").Text(manifest.version);
  out.Key("made_at").Text(manifest.made_at).Key("schema").Integer(manifest.schema);
  out.Key("was_serving").Boolean(manifest.was_serving).Key("tables").BeginArray();
  for (const ExportedTable& table : manifest.tables) {
    out.BeginObject();
    out.Key("schema").Text(table.schema).Key("name").Text(table.name);
    out.Key("rows").Integer(table.rows).Key("bytes").Integer(table.bytes);
    out.Key("blake2b").Text(table.sum).Key("columns").BeginArray();
    for (const std::string& column : table.columns) out.Text(column);
    out.EndArray().EndObject();
  }
  out.EndArray().Key("files").BeginObject();
  for (const auto& [path, sum] : manifest.files) out.KeyOf(path).Text(sum);
  out.EndObject().EndObject();
  return text + "\n";
}

Manifest ReadManifest(const std::string& directory) {
  const std::string path = directory + "/" + kManifestFile;
  const std::optional<std::string> text = ReadFile(path);
  if (!text) {
    throw Refusal(Problem::kNotFound,
                  "there is no " + path +
                      ": name the directory that `comanda export --postgresql DIR` has made");
  }
  try {
    return Read(json::Document::Parse(*text).root());
  } catch (const std::exception&) {  // a Refusal of the reader, a member missing or of another kind
    throw Refusal(Problem::kValidationFailed,
                  path + " was changed after the export, or is of another version's: export again");
  }
}

}  // namespace comanda::db
