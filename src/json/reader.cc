#include "json/reader.h"

#include <cjson/cJSON.h>

#include <algorithm>
#include <limits>

#include "base/problem.h"
#include "json/scan.h"
#include "json/writer.h"

namespace comanda::json {
namespace {

// The detail names this many fields; errors[] has all.
constexpr size_t kNamedInDetail = 3;

struct TreeDeleter {
  void operator()(cJSON* node) const { cJSON_Delete(node); }
};

bool IsContainer(const cJSON* node) { return cJSON_IsArray(node) || cJSON_IsObject(node); }

}  // namespace

// A document: its text, and the results of both passes. The valueint of each node, unused
// otherwise, is the index of its Location.
struct Tree {
  const Location& LocationOf(const cJSON* node) const {
    return locations[static_cast<size_t>(node->valueint)];
  }

  std::string text;
  std::vector<Location> locations;
  std::unique_ptr<cJSON, TreeDeleter> root;
};

namespace {

// Input never ends the process, not even if a handler mistakes the kind of a value, or the two
// parsers disagree: the one request fails.
void Require(bool holds, const char* why) {
  if (!holds) throw Fault(Fault::Kind::kInternal, std::string("json: ") + why);
}

// Both passes visit the same values in the same order, so the n-th node has the n-th Location.
void AssignLocations(cJSON* node, size_t& next, size_t count) {
  Require(next < count, "cJSON and the scanner see different values");
  node->valueint = static_cast<int>(next++);
  if (!IsContainer(node)) return;
  for (cJSON* child = node->child; child != nullptr; child = child->next) {
    AssignLocations(child, next, count);
  }
}

// cJSON would end the string at a NUL. Scan() accepts \u0000 in strings only, where every backslash
// starts an escape.
void ReplaceEscapedNul(std::string& text) {
  constexpr std::string_view kNul = "\\u0000";
  if (text.find(kNul) == std::string::npos) return;
  for (size_t at = text.find('\\'); at != std::string::npos; at = text.find('\\', at + 2)) {
    if (text.compare(at, kNul.size(), kNul) == 0) text[at + kNul.size() - 1] = '1';
  }
}

// Sorts the keys, because comparing each pair is quadratic and a body may be one huge object.
void RefuseDuplicateKeys(const Tree& tree, const cJSON* node) {
  if (!IsContainer(node)) return;
  std::vector<std::pair<std::string_view, const cJSON*>> members;
  for (const cJSON* child = node->child; child != nullptr; child = child->next) {
    RefuseDuplicateKeys(tree, child);
    if (cJSON_IsObject(node)) members.emplace_back(child->string, child);
  }
  if (members.size() < 2) return;
  std::sort(members.begin(), members.end(), [](const auto& a, const auto& b) {
    const int order = a.first.compare(b.first);
    return order != 0 ? order < 0 : a.second->valueint < b.second->valueint;
  });
  const cJSON* duplicate = nullptr;
  for (size_t i = 1; i < members.size(); ++i) {
    const auto& [key, member] = members[i];
    if (members[i - 1].first != key) continue;
    if (duplicate == nullptr || member->valueint < duplicate->valueint) duplicate = member;
  }
  if (duplicate == nullptr) return;
  RefuseAt(tree.text, tree.LocationOf(duplicate).key_offset,
           "a field of this name stands in the same object already; send each field once");
}

void AppendCanonical(std::string& out, Value value);

void AppendCanonicalObject(std::string& out, Value value) {
  auto members = value.members();
  std::sort(members.begin(), members.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  out += '{';
  bool first = true;
  for (const auto& [key, member] : members) {
    if (!first) out += ',';
    first = false;
    AppendQuoted(out, key);
    out += ':';
    AppendCanonical(out, member);
  }
  out += '}';
}

void AppendCanonicalArray(std::string& out, Value value) {
  out += '[';
  bool first = true;
  for (const Value item : value.items()) {
    if (!first) out += ',';
    first = false;
    AppendCanonical(out, item);
  }
  out += ']';
}

void AppendCanonical(std::string& out, Value value) {
  switch (value.kind()) {
    case Kind::kNull:
      out += "null";
      return;
    case Kind::kBoolean:
      out += value.boolean() ? "true" : "false";
      return;
    case Kind::kNumber:
      out += CanonicalNumber(value.number_text());
      return;
    case Kind::kText:
      AppendQuoted(out, value.text());
      return;
    case Kind::kArray:
      AppendCanonicalArray(out, value);
      return;
    case Kind::kObject:
      AppendCanonicalObject(out, value);
      return;
  }
}

}  // namespace

// Value.

Kind Value::kind() const {
  if (cJSON_IsBool(node_)) return Kind::kBoolean;
  if (cJSON_IsNumber(node_)) return Kind::kNumber;
  if (cJSON_IsString(node_)) return Kind::kText;
  if (cJSON_IsArray(node_)) return Kind::kArray;
  if (cJSON_IsObject(node_)) return Kind::kObject;
  return Kind::kNull;
}

bool Value::boolean() const {
  Require(cJSON_IsBool(node_), "a value of another kind was expected");
  return cJSON_IsTrue(node_) != 0;
}

std::string_view Value::number_text() const {
  Require(cJSON_IsNumber(node_), "a value of another kind was expected");
  const Location& location = tree_->LocationOf(node_);
  return std::string_view(tree_->text).substr(location.offset, location.length);
}

std::string_view Value::text() const {
  Require(cJSON_IsString(node_), "a value of another kind was expected");
  return node_->valuestring;
}

std::vector<Value> Value::items() const {
  Require(cJSON_IsArray(node_), "a value of another kind was expected");
  std::vector<Value> items;
  for (const cJSON* child = node_->child; child != nullptr; child = child->next) {
    items.push_back(Value(tree_, child));
  }
  return items;
}

std::vector<std::pair<std::string_view, Value>> Value::members() const {
  Require(cJSON_IsObject(node_), "a value of another kind was expected");
  std::vector<std::pair<std::string_view, Value>> members;
  for (const cJSON* child = node_->child; child != nullptr; child = child->next) {
    members.emplace_back(child->string, Value(tree_, child));
  }
  return members;
}

std::optional<Value> Value::Find(std::string_view key) const {
  Require(cJSON_IsObject(node_), "a value of another kind was expected");
  for (const cJSON* child = node_->child; child != nullptr; child = child->next) {
    if (key == child->string) return Value(tree_, child);
  }
  return std::nullopt;
}

size_t Value::offset() const { return tree_->LocationOf(node_).offset; }

std::string Value::Canonical() const {
  std::string out;
  AppendCanonical(out, *this);
  return out;
}

// Document.

static_assert(kNodesMax <= static_cast<size_t>(std::numeric_limits<int>::max()),
              "the index of a location must fit in cJSON's valueint");

Document::Document(std::unique_ptr<Tree> tree) : tree_(std::move(tree)) {}
Document::Document(Document&&) noexcept = default;
Document& Document::operator=(Document&&) noexcept = default;
Document::~Document() = default;

Document Document::Parse(std::string_view text) {
  auto tree = std::make_unique<Tree>();
  tree->locations = Scan(text);
  tree->text = text;
  ReplaceEscapedNul(tree->text);
  tree->root.reset(cJSON_ParseWithLength(tree->text.data(), tree->text.size()));
  // cJSON accepts what Scan() accepts, unless it lacks memory: no mistake of the client.
  if (tree->root == nullptr) throw std::bad_alloc();
  size_t count = 0;
  AssignLocations(tree->root.get(), count, tree->locations.size());
  Require(count == tree->locations.size(), "cJSON and the scanner see different values");
  RefuseDuplicateKeys(*tree, tree->root.get());
  return Document(std::move(tree));
}

Document Document::ParseStored(std::string_view text) {
  try {
    return Parse(text);
  } catch (const Refusal& refusal) {
    throw Fault(Fault::Kind::kDamaged, "a stored value is no JSON: " + refusal.detail);
  }
}

Value Document::root() const { return Value(tree_.get(), tree_->root.get()); }

std::string Document::Canonical() const {
  std::string out;
  out.reserve(tree_->text.size());
  AppendCanonical(out, root());
  return out;
}

std::string LibraryVersion() { return cJSON_Version(); }

// Errors.

void Errors::Add(std::string field, FieldCode code, std::string message, size_t document_offset) {
  errors_.emplace_back(document_offset, FieldError{std::move(field), code, std::move(message)});
}

void Errors::AddHint(size_t index, std::string_view hint) { errors_[index].second.message += hint; }

const FieldError& Errors::First() const {
  return std::ranges::min_element(errors_, {}, &std::pair<size_t, FieldError>::first)->second;
}

void Errors::ThrowIfAny() {
  if (errors_.empty()) return;
  std::stable_sort(errors_.begin(), errors_.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  if (errors_.size() == 1) {
    const FieldError& only = errors_.front().second;
    throw Invalid(only.field, only.code, only.message);
  }
  std::vector<FieldError> listed;
  for (const auto& [offset, error] : errors_) {
    if (listed.size() == kFieldErrorsMax) break;
    listed.push_back(error);
  }
  throw Refusal(Problem::kValidationFailed, Detail(), std::move(listed));
}

std::string Errors::Detail() const {
  std::string detail = std::to_string(errors_.size()) + " fields are not valid: ";
  const size_t named = std::min(errors_.size(), kNamedInDetail);
  for (size_t i = 0; i < named; ++i) {
    if (i > 0) detail += ", ";
    detail += errors_[i].second.field;
  }
  if (errors_.size() > named) {
    detail += " and " + std::to_string(errors_.size() - named) + " more";
  }
  return detail + ".";
}

}  // namespace comanda::json
