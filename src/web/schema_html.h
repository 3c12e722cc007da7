#pragma once

// Schemas, parameters and examples of openapi.json as HTML (web/reference.h). Values belong to the
// document that is given, which outlives them; one thread. All texts are escaped.
//
// The document uses a part of JSON Schema 2020-12: $ref to a component, oneOf of a schema and null,
// lists of types, enum, and the limits of numbers, texts and lists. Other keywords are not shown.

#include <string>
#include <string_view>

#include "json/reader.h"

namespace comanda::web {

// The text of a member; empty where there is none.
std::string_view TextOf(json::Value object, std::string_view name);
// The last part of $ref; empty where it is none.
std::string_view RefName(json::Value value);
// The value that $ref leads to, else the value itself.
json::Value Resolve(json::Value root, json::Value value);
// As text: a text as it is, a number as the document has it.
std::string Plain(json::Value scalar);
// With line ends and two spaces a level.
std::string Pretty(json::Value value);

// Renders schemas of one document.
class SchemaHtml {
 public:
  // `root`: the document, in which references are looked up.
  explicit SchemaHtml(json::Value root) : root_(root) {}

  // What a value may be, on one line: "list of <a>Combo</a> · at most 200 items". An object that
  // has a name is a link to #schema-<name>.
  std::string Kind(json::Value schema) const;
  // The values of an enumeration, or of a list of one; empty where there is none.
  std::string Words(json::Value schema) const;
  // <dt> and <dd> for each property; empty where the schema has none.
  std::string Fields(json::Value schema) const;
  // <dt> and <dd> of a parameter or header. `marks` is what stands beside its name.
  std::string Parameter(json::Value parameter, std::string_view marks, std::string_view id) const;

 private:
  std::string KindOf(json::Value schema) const;
  std::string LimitsOf(json::Value schema) const;
  std::string Property(std::string_view name, json::Value property, bool is_required) const;

  json::Value root_;
};

}  // namespace comanda::web
