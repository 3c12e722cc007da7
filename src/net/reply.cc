#include "net/reply.h"

#include <charconv>

#include "base/problem.h"
#include "base/text.h"

namespace comanda::net {
namespace {

constexpr size_t kShownBytesMax = 300;

std::optional<json::Value> Item(const json::Value& array, std::string_view index_text) {
  const std::vector<json::Value> items = array.items();
  if (items.empty()) return std::nullopt;
  if (index_text == "last") return items.back();
  size_t index = 0;
  const auto [end, error] =
      std::from_chars(index_text.data(), index_text.data() + index_text.size(), index);
  if (error != std::errc() || end != index_text.data() + index_text.size() ||
      index >= items.size()) {
    return std::nullopt;
  }
  return items[index];
}

std::optional<json::Value> Step(const json::Value& value, std::string_view name) {
  if (value.kind() == json::Kind::kObject) return value.Find(name);
  if (value.kind() == json::Kind::kArray) return Item(value, name);
  return std::nullopt;
}

std::shared_ptr<const json::Document> Parsed(const std::string& body) {
  try {
    return std::make_shared<const json::Document>(json::Document::Parse(body));
  } catch (const Refusal&) {
    return nullptr;
  }
}

}  // namespace

std::optional<json::Value> Find(std::optional<json::Value> value, std::string_view path) {
  while (value && !path.empty()) {
    const size_t dot = path.find('.');
    value = Step(*value, path.substr(0, dot));
    path.remove_prefix(dot == std::string_view::npos ? path.size() : dot + 1);
  }
  return value;
}

std::string TextAt(std::optional<json::Value> value, std::string_view path) {
  const auto found = Find(value, path);
  if (!found || found->kind() != json::Kind::kText) return {};
  return std::string(found->text());
}

std::string Shown(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (out.size() == kShownBytesMax) break;
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte == 0x7F ? ' ' : c;
  }
  // Never ends within a character: terminals would garble the rest of the line.
  while (!out.empty() && !IsUtf8(out)) out.pop_back();
  return out.size() < text.size() ? out + "…" : out;
}

std::string Shown(std::optional<json::Value> value) {
  return value ? Shown(value->Canonical()) : "nothing: the field is missing";
}

Reply::Reply(Answer answer)
    : answer_(std::make_shared<const Answer>(std::move(answer))),
      document_(Parsed(answer_->body)) {}

std::string Reply::HeaderOr(std::string_view name, std::string_view otherwise) const {
  return std::string(Header(name).value_or(otherwise));
}

std::optional<json::Value> Reply::Find(std::string_view path) const {
  if (!document_) return std::nullopt;
  return net::Find(document_->root(), path);
}

std::vector<json::Value> Reply::Items(std::string_view path) const {
  const auto found = Find(path);
  if (!found || found->kind() != json::Kind::kArray) return {};
  return found->items();
}

std::optional<json::Value> Reply::Row(std::string_view list, std::string_view field,
                                      std::string_view text) const {
  for (const json::Value& item : Items(list)) {
    if (TextAt(item, field) == text) return item;
  }
  return std::nullopt;
}

std::string Reply::Code() const {
  const std::string code = Text("code");
  if (!code.empty()) return code;
  const std::string type = Text("type");
  return type.substr(type.find_last_of('/') + 1);
}

std::string Reply::Described() const {
  if (status() == 0) return "no answer: " + Shown(answer_->error);
  std::string text = std::to_string(status());
  if (status() < 400) return text;
  const std::string code = Code();
  if (!code.empty()) text += " " + Shown(code);
  const std::string detail = Text("detail");
  if (!detail.empty()) text += ": " + Shown(detail);
  return text;
}

}  // namespace comanda::net
