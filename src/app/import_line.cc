#include "app/import_line.h"

#include <algorithm>
#include <optional>
#include <string>

namespace comanda::app {
namespace {

// Removes the first step of the path and returns it: "categories", of "categories[3].name", which
// becomes "[3].name"; then "[3]", and "name" remains.
std::string_view TakeStep(std::string_view& path) {
  const size_t begin = path.starts_with('.') ? 1 : 0;
  const size_t end = std::min(path.find_first_of(".[", begin + 1), path.size());
  const std::string_view step = path.substr(begin, end - begin);
  path.remove_prefix(end);
  return step;
}

std::optional<json::Value> Below(json::Value value, std::string_view step) {
  if (!step.starts_with('[')) {
    return value.kind() == json::Kind::kObject ? value.Find(step) : std::nullopt;
  }
  if (value.kind() != json::Kind::kArray) return std::nullopt;
  size_t index = 0;
  for (const char c : step) {
    if (c >= '0' && c <= '9') index = index * 10 + static_cast<size_t>(c - '0');
  }
  const auto items = value.items();
  return index < items.size() ? std::optional(items[index]) : std::nullopt;
}

}  // namespace

size_t LineOf(const json::Document& document, std::string_view text, std::string_view path) {
  json::Value value = document.root();
  while (!path.empty()) {
    const std::optional<json::Value> below = Below(value, TakeStep(path));
    if (!below) break;
    value = *below;
  }
  const std::string_view before = text.substr(0, value.offset());
  return 1 + static_cast<size_t>(std::ranges::count(before, '\n'));
}

}  // namespace comanda::app
