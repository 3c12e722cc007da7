#include "web/reference.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/text.h"
#include "web/html.h"
#include "web/schema_html.h"

namespace comanda::web {
namespace {

using json::Value;

constexpr std::string_view kJson = "application/json";
constexpr std::array<std::string_view, 5> kMethods = {"get", "post", "put", "patch", "delete"};

// Headers of every answer: the section of headers describes them, operations do not name them.
constexpr std::array<std::string_view, 5> kHeadersOfAll = {
    "API-Version", "X-Request-Id", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"};

std::vector<std::pair<std::string_view, Value>> MembersOf(Value object, std::string_view name) {
  const std::optional<Value> member = object.Find(name);
  if (!member) return {};
  return member->members();
}

std::vector<Value> ItemsOf(Value object, std::string_view name) {
  const std::optional<Value> member = object.Find(name);
  if (!member) return {};
  return member->items();
}

std::vector<std::string_view> CodesOf(Value object) {
  std::vector<std::string_view> codes;
  for (const Value& code : ItemsOf(object, "x-problem-codes")) codes.push_back(code.text());
  return codes;
}

std::string CodeLinks(const std::vector<std::string_view>& codes) {
  std::string out;
  for (const std::string_view code : codes) {
    out += Concat({" <a href=\"/problems/", code, "\"><code>", code, "</code></a>"});
  }
  return out;
}

// Where a parameter is sent.
std::string PlaceMark(Value parameter) {
  const std::optional<Value> required = parameter.Find("required");
  return Concat({" <span class=\"kind\">", TextOf(parameter, "in"),
                 required && required->boolean() ? ", required" : "", "</span>"});
}

// "Reading" is "tag-reading".
std::string TagId(std::string_view name) {
  std::string id = "tag-" + AsciiLower(name);
  std::ranges::replace(id, ' ', '-');
  return id;
}

std::string Section(std::string_view id, std::string_view title, std::string_view inside) {
  return Concat({"<section id=\"", id, "\"><h2>", title, "</h2>", inside, "</section>\n"});
}

class Renderer {
 public:
  explicit Renderer(Value root)
      : root_(root), components_(root.Find("components").value()), schemas_(root) {}

  std::string All() const {
    std::string out =
        Concat({"<section id=\"about\">", Prose(TextOf(root_.Find("info").value(), "description")),
                "</section>\n"});
    for (const Value& tag : ItemsOf(root_, "tags")) out += Tag(tag);
    return out + SharedParameters() + SharedHeaders() + SharedAnswers() + Scopes() + Schemas();
  }

 private:
  std::string Tag(Value tag) const;
  std::string Operation(std::string_view method, std::string_view path, Value operation) const;
  std::string Scope(Value operation) const;
  std::string Parameters(Value operation) const;
  std::string Body(Value operation) const;
  std::string Answers(Value operation) const;
  std::string Refusal(std::string_view status, Value response, Value operation) const;
  std::string Answer(std::string_view status, Value response) const;
  std::string Callbacks(Value operation) const;
  std::string Callback(Value sent) const;
  std::string Content(Value response) const;
  std::string SharedParameters() const;
  std::string SharedHeaders() const;
  std::string SharedAnswers() const;
  std::string Scopes() const;
  std::string Schemas() const;

  Value root_;
  Value components_;
  SchemaHtml schemas_;
};

std::string Renderer::Tag(Value tag) const {
  const std::string_view name = TextOf(tag, "name");
  std::string inside = Prose(TextOf(tag, "description"));
  for (const auto& [path, item] : MembersOf(root_, "paths")) {
    for (const std::string_view method : kMethods) {
      const std::optional<Value> operation = item.Find(method);
      if (!operation) continue;
      const std::vector<Value> tags = ItemsOf(*operation, "tags");
      if (std::ranges::any_of(tags, [&](const Value& each) { return each.text() == name; })) {
        inside += Operation(method, path, *operation);
      }
    }
  }
  return Section(TagId(name), name, inside);
}

std::string Renderer::Operation(std::string_view method, std::string_view path,
                                Value operation) const {
  // The document ends each description with the scope, which has a place of its own here.
  std::string_view description = TextOf(operation, "description");
  const size_t last = description.rfind("\n\n");
  if (last != description.npos && (description.substr(last + 2).starts_with("Scope: `") ||
                                   description.substr(last + 2) == "Needs no key.")) {
    description = description.substr(0, last);
  }
  return Concat({"<details class=\"operation\" id=\"", TextOf(operation, "operationId"),
                 "\"><summary><span class=\"method ", method, "\">", method,
                 "</span> <code class=\"path\">", path, "</code> <span class=\"soft\">",
                 HtmlEscaped(TextOf(operation, "summary")),
                 "</span></summary><div class=\"inside\">", Scope(operation), Prose(description),
                 Parameters(operation), Body(operation), "<h3>Answers</h3>", Answers(operation),
                 Callbacks(operation), "</div></details>\n"});
}

std::string Renderer::Scope(Value operation) const {
  const std::optional<Value> needed = operation.Find("x-required-scope");
  if (!needed) return "<p class=\"tags\"><span class=\"tag\">no key</span></p>";
  std::vector<Value> scopes{*needed};
  if (needed->kind() == json::Kind::kArray) scopes = needed->items();
  std::string out = "<p class=\"tags\">";
  for (const Value& scope : scopes) {
    out += Concat({"<span class=\"tag\">scope <a href=\"#scope-", scope.text(), "\"><code>",
                   scope.text(), "</code></a></span> "});
  }
  return out + "</p>";
}

std::string Renderer::Parameters(Value operation) const {
  std::string own;
  std::string shared;
  for (const Value& parameter : ItemsOf(operation, "parameters")) {
    const Value real = Resolve(root_, parameter);
    if (const std::string_view name = RefName(parameter); !name.empty()) {
      shared += Concat({" <a class=\"shared\" href=\"#parameter-", name, "\"><code>",
                        TextOf(real, "name"), "</code></a>"});
      continue;
    }
    own += schemas_.Parameter(real, PlaceMark(real), "");
  }
  if (own.empty() && shared.empty()) return {};
  std::string out = "<h3>Parameters</h3>";
  if (!shared.empty()) out += Concat({"<p>", shared, "</p>"});
  if (!own.empty()) out += Concat({"<dl class=\"rows\">", own, "</dl>"});
  return out;
}

// What a body holds: a link to its schema, or its description.
std::string Renderer::Content(Value response) const {
  std::string out;
  for (const auto& [type, content] : MembersOf(response, "content")) {
    if (type == "application/problem+json") continue;
    const Value schema = content.Find("schema").value();
    out +=
        Concat({"<p class=\"kind of\">", type == kJson ? schemas_.Kind(schema) : HtmlEscaped(type),
                " ", Inline(TextOf(schema, "description")), "</p>"});
  }
  return out;
}

std::string Renderer::Body(Value operation) const {
  const std::optional<Value> body = operation.Find("requestBody");
  if (!body) return {};
  std::string out = "<h3>Body</h3>" + Content(*body);
  for (const auto& [name, example] :
       MembersOf(body->Find("content")->Find(kJson).value(), "examples")) {
    const Value real = Resolve(root_, example);
    const std::string_view summary = TextOf(real, "summary");
    out += Concat({"<div class=\"sample\"><h4>", HtmlEscaped(summary.empty() ? name : summary),
                   "</h4><pre><code>", HtmlEscaped(Pretty(real.Find("value").value())),
                   "</code></pre></div>"});
  }
  return out;
}

// Refusals are described where they are shared, with links; an operation names its own codes of
// each.
std::string Renderer::Refusal(std::string_view status, Value response, Value operation) const {
  const std::vector<std::string_view> mine = CodesOf(operation);
  std::string codes;
  for (const std::string_view code : CodesOf(Resolve(root_, response))) {
    if (std::ranges::find(mine, code) == mine.end()) continue;
    codes += Concat({" <code>", code, "</code>"});
  }
  return Concat({"<div class=\"answer\" data-status=\"", status,
                 "\"><a class=\"status\" href=\"#answer-", RefName(response), "\">",
                 status == "default" ? "other" : status, "</a>", codes, "</div>"});
}

std::string Renderer::Answer(std::string_view status, Value response) const {
  std::string out =
      Concat({"<div class=\"answer\" data-status=\"", status, "\"><span class=\"status\">",
              status == "default" ? "other" : status, "</span> ",
              Inline(TextOf(response, "description")), Content(response)});
  std::string headers;
  for (const auto& [name, header] : MembersOf(response, "headers")) {
    if (std::ranges::find(kHeadersOfAll, name) != kHeadersOfAll.end()) continue;
    headers += Concat({" <code>", name, "</code>"});
  }
  if (!headers.empty()) out += Concat({"<p class=\"soft\">With", headers, "</p>"});
  return out + "</div>";
}

// What succeeds comes first, what any request may meet last.
std::string Renderer::Answers(Value operation) const {
  std::string succeeded;
  std::string other;
  for (const auto& [status, response] : MembersOf(operation, "responses")) {
    const Value real = Resolve(root_, response);
    const bool is_refusal = real.Find("x-problem-codes").has_value();
    std::string& out = status.starts_with('2') ? succeeded : other;
    out += is_refusal ? Refusal(status, response, operation) : Answer(status, real);
  }
  return succeeded + other;
}

std::string Renderer::Callbacks(Value operation) const {
  std::string out;
  for (const auto& [name, callback] : MembersOf(operation, "callbacks")) {
    for (const auto& [address, item] : callback.members()) {
      for (const auto& [method, sent] : item.members()) out += Callback(sent);
    }
  }
  return out;
}

// What the box itself sends because of an operation.
std::string Renderer::Callback(Value sent) const {
  std::string headers;
  for (const Value& header : ItemsOf(sent, "parameters")) {
    const bool is_always = header.Find("required").has_value();
    headers +=
        schemas_.Parameter(header, is_always ? " <span class=\"kind\">always</span>" : "", "");
  }
  return Concat({"<div class=\"sent\"><h3>What the box sends</h3>",
                 Prose(TextOf(sent, "description")), "<h3>Its headers</h3><dl class=\"rows\">",
                 headers, "</dl><h3>Its body</h3>", Content(sent.Find("requestBody").value()),
                 "<h3>What to answer</h3>", Answers(sent), "</div>"});
}

std::string Renderer::SharedParameters() const {
  std::string rows;
  for (const auto& [name, parameter] : MembersOf(components_, "parameters")) {
    rows += schemas_.Parameter(parameter, PlaceMark(parameter), Concat({"parameter-", name}));
  }
  return Section("parameters", "Parameters of several operations",
                 Concat({"<dl class=\"rows\">", rows, "</dl>"}));
}

std::string Renderer::SharedHeaders() const {
  // Operations name a header as it is sent, the components of the document otherwise.
  std::vector<std::pair<std::string_view, std::string_view>> known;
  const auto look = [&](Value response) {
    for (const auto& [name, header] : MembersOf(response, "headers")) {
      const std::pair<std::string_view, std::string_view> row(
          name, TextOf(Resolve(root_, header), "description"));
      if (std::ranges::find(known, row) == known.end()) known.push_back(row);
    }
  };
  for (const auto& [path, item] : MembersOf(root_, "paths")) {
    for (const auto& [method, operation] : item.members()) {
      for (const auto& [status, response] : MembersOf(operation, "responses")) {
        look(Resolve(root_, response));
      }
    }
  }
  std::string rows;
  for (const auto& [name, description] : known) {
    rows += Concat({"<dt><code>", name, "</code></dt><dd>", Prose(description), "</dd>"});
  }
  return Section("headers", "Headers of answers", Concat({"<dl class=\"rows\">", rows, "</dl>"}));
}

std::string Renderer::SharedAnswers() const {
  std::string rows;
  for (const auto& [name, response] : MembersOf(components_, "responses")) {
    const std::vector<std::string_view> codes = CodesOf(response);
    if (codes.empty()) continue;
    rows += Concat({"<dt id=\"answer-", name, "\">", name, "</dt><dd>",
                    Prose(TextOf(response, "description")), "<p>", CodeLinks(codes), "</p></dd>"});
  }
  return Section("answers", "Refusals", Concat({"<dl class=\"rows\">", rows, "</dl>"}));
}

std::string Renderer::Scopes() const {
  std::string rows;
  for (const auto& [name, permits] : MembersOf(root_, "x-scopes")) {
    rows += Concat({"<dt id=\"scope-", name, "\"><code>", name, "</code></dt><dd>",
                    HtmlEscaped(permits.text()), "</dd>"});
  }
  return Section("scopes", "Scopes", Concat({"<dl class=\"rows\">", rows, "</dl>"}));
}

std::string Renderer::Schemas() const {
  std::string all;
  for (const auto& [name, schema] : MembersOf(components_, "schemas")) {
    const std::string fields = schemas_.Fields(schema);
    all += Concat(
        {"<details class=\"operation\" id=\"schema-", name, "\"><summary><code class=\"path\">",
         name, "</code></summary><div class=\"inside\">", Prose(TextOf(schema, "description"))});
    if (fields.empty()) {
      all += Concat({"<p class=\"kind\">", schemas_.Kind(schema), "</p>", schemas_.Words(schema)});
    }
    all += fields + "</div></details>\n";
  }
  return Section("schemas", "Schemas", all);
}

}  // namespace

std::string EditionHtml(const json::Document& openapi) {
  const Value info = openapi.root().Find("info").value();
  return Concat(
      {HtmlEscaped(TextOf(info, "summary")), " API ", HtmlEscaped(TextOf(info, "version"))});
}

std::string ReferenceHtml(const json::Document& openapi) { return Renderer(openapi.root()).All(); }

}  // namespace comanda::web
