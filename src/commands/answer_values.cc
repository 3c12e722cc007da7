#include "commands/answer_values.h"

#include "base/text.h"

namespace comanda::commands {

json::Value DataOf(const json::Document& document) { return *document.root().Find("data"); }

std::string Field(const json::Value& object, std::string_view name) {
  const auto value = object.Find(name);
  if (!value || value->is_null()) return "-";
  if (value->kind() == json::Kind::kText) return Visible(value->text());
  return value->kind() == json::Kind::kNumber ? std::string(value->number_text()) : "-";
}

bool IsTrue(const json::Value& object, std::string_view name) {
  const auto value = object.Find(name);
  return value && value->kind() == json::Kind::kBoolean && value->boolean();
}

}  // namespace comanda::commands
