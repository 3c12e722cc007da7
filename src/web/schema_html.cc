#include "web/schema_html.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/concat.h"
#include "base/text.h"
#include "json/writer.h"
#include "web/html.h"

namespace comanda::web {
namespace {

using json::Kind;
using json::Value;

// Without the alternative null.
struct Choice {
  Value schema;
  bool is_nullable = false;
};

std::vector<std::string_view> TypesOf(Value schema) {
  const std::optional<Value> type = schema.Find("type");
  if (!type) return {};
  if (type->kind() == Kind::kText) return {type->text()};
  std::vector<std::string_view> names;
  for (const Value& name : type->items()) names.push_back(name.text());
  return names;
}

Choice WithoutNull(Value schema) {
  const std::optional<Value> choices = schema.Find("oneOf");
  if (!choices) {
    const std::vector<std::string_view> types = TypesOf(schema);
    return {.schema = schema, .is_nullable = std::ranges::find(types, "null") != types.end()};
  }
  Choice found{.schema = choices->items().front()};
  for (const Value& choice : choices->items()) {
    if (TextOf(choice, "type") == "null") {
      found.is_nullable = true;
    } else {
      found.schema = choice;
    }
  }
  return found;
}

void AppendPretty(std::string& out, Value value, size_t level) {
  const auto line = [&](size_t depth) { out += "\n" + std::string(2 * depth, ' '); };
  const auto list = [&](char open, char close, const auto& values, auto&& write) {
    out += open;
    bool is_first = true;
    for (const auto& each : values) {
      if (!is_first) out += ',';
      is_first = false;
      line(level + 1);
      write(each);
    }
    if (!is_first) line(level);
    out += close;
  };
  switch (value.kind()) {
    case Kind::kObject:
      list('{', '}', value.members(), [&](const auto& member) {
        json::AppendQuoted(out, member.first);
        out += ": ";
        AppendPretty(out, member.second, level + 1);
      });
      break;
    case Kind::kArray:
      list('[', ']', value.items(), [&](const Value& item) { AppendPretty(out, item, level + 1); });
      break;
    case Kind::kText:
      json::AppendQuoted(out, value.text());
      break;
    case Kind::kNull:
    case Kind::kBoolean:
    case Kind::kNumber:
      out += Plain(value);
      break;
  }
}

bool IsRequired(Value schema, std::string_view name) {
  const std::optional<Value> required = schema.Find("required");
  if (!required) return false;
  return std::ranges::any_of(required->items(),
                             [&](const Value& each) { return each.text() == name; });
}

}  // namespace

std::string_view TextOf(Value object, std::string_view name) {
  const std::optional<Value> member = object.Find(name);
  return member && member->kind() == Kind::kText ? member->text() : std::string_view();
}

std::string_view RefName(Value value) {
  const std::string_view ref = TextOf(value, "$ref");
  return ref.substr(ref.rfind('/') + 1);
}

Value Resolve(Value root, Value value) {
  while (value.kind() == Kind::kObject && value.Find("$ref")) {
    std::string_view path = value.Find("$ref")->text().substr(2);  // "#/"
    value = root;
    while (!path.empty()) {
      const size_t end = std::min(path.find('/'), path.size());
      value = value.Find(path.substr(0, end)).value();
      path.remove_prefix(std::min(end + 1, path.size()));
    }
  }
  return value;
}

std::string Plain(Value scalar) {
  switch (scalar.kind()) {
    case Kind::kText:
      return std::string(scalar.text());
    case Kind::kNumber:
      return std::string(scalar.number_text());
    case Kind::kBoolean:
      return scalar.boolean() ? "true" : "false";
    case Kind::kNull:
    case Kind::kArray:
    case Kind::kObject:
      break;
  }
  return "null";
}

std::string Pretty(Value value) {
  std::string out;
  AppendPretty(out, value, 0);
  return out;
}

std::string SchemaHtml::KindOf(Value schema) const {
  const Choice choice = WithoutNull(schema);
  const Value real = Resolve(root_, choice.schema);
  std::string kind;
  for (const std::string_view type : TypesOf(real)) {
    if (type == "null") continue;
    if (!kind.empty()) kind += " or ";
    kind += type;
  }
  if (const std::string_view name = RefName(choice.schema);
      real.Find("properties") && !name.empty()) {
    kind = Concat({"<a href=\"#schema-", name, "\">", name, "</a>"});
  }
  if (kind == "array") {
    const std::optional<Value> items = real.Find("items");
    kind = "list of " + (items ? KindOf(*items) : "anything");
  }
  if (kind.empty()) kind = "anything";
  if (const std::string_view format = TextOf(real, "format"); !format.empty()) {
    kind += Concat({", ", format});
  }
  return kind + (choice.is_nullable ? " or null" : "");
}

std::string SchemaHtml::LimitsOf(Value schema) const {
  struct Limit {
    std::string_view member;
    std::string_view before;
    std::string_view after;
  };
  static constexpr std::array kLimits = {
      Limit{"minimum", "from ", ""},
      Limit{"exclusiveMinimum", "above ", ""},
      Limit{"maximum", "to ", ""},
      Limit{"maxLength", "at most ", " characters"},
      Limit{"maxItems", "at most ", " items"},
      Limit{"default", "default ", ""},
      Limit{"const", "always ", ""},
  };
  const Value real = Resolve(root_, WithoutNull(schema).schema);
  std::string limits;
  for (const Limit& limit : kLimits) {
    const std::optional<Value> value = real.Find(limit.member);
    if (value) limits += Concat({" · ", limit.before, HtmlEscaped(Plain(*value)), limit.after});
  }
  if (const std::optional<Value> items = real.Find("items")) {
    const std::string each = LimitsOf(*items);
    if (!each.empty()) limits += " · each" + each.substr(std::string_view(" ·").size());
  }
  return limits;
}

std::string SchemaHtml::Kind(Value schema) const { return KindOf(schema) + LimitsOf(schema); }

std::string SchemaHtml::Words(Value schema) const {
  const Value real = Resolve(root_, WithoutNull(schema).schema);
  const std::optional<Value> items = real.Find("items");
  const Value one = items ? Resolve(root_, *items) : real;
  const std::optional<Value> words = one.Find("enum");
  if (!words) return {};
  std::string out = (items ? Prose(TextOf(one, "description")) : "") + "<p>";
  for (const Value& word : words->items()) {
    out += Concat({"<code>", HtmlEscaped(Plain(word)), "</code> "});
  }
  return out + "</p>";
}

std::string SchemaHtml::Property(std::string_view name, Value property, bool is_required) const {
  std::string out = Concat({"<dt><code>", name, "</code>"});
  if (!is_required) out += " <span class=\"kind\">optional</span>";
  out += Concat({"</dt><dd><p class=\"kind\">", Kind(property), "</p>"});
  std::string_view description = TextOf(property, "description");
  const Value real = Resolve(root_, property);
  if (description.empty() && !real.Find("properties")) description = TextOf(real, "description");
  return out + Prose(description) + Words(property) + "</dd>";
}

std::string SchemaHtml::Fields(Value schema) const {
  const Value real = Resolve(root_, schema);
  const std::optional<Value> properties = real.Find("properties");
  if (!properties) return {};
  std::string out = "<dl class=\"rows\">";
  for (const auto& [name, property] : properties->members()) {
    out += Property(name, property, IsRequired(real, name));
  }
  return out + "</dl>";
}

std::string SchemaHtml::Parameter(Value parameter, std::string_view marks,
                                  std::string_view id) const {
  const Value schema = parameter.Find("schema").value();
  std::string out = id.empty() ? "<dt>" : Concat({"<dt id=\"", id, "\">"});
  out += Concat({"<code>", TextOf(parameter, "name"), "</code>", marks});
  out += Concat({"</dt><dd><p class=\"kind\">", Kind(schema), "</p>"});
  return out + Prose(TextOf(parameter, "description")) + Words(schema) + "</dd>";
}

}  // namespace comanda::web
