#include "http/tags.h"

#include <algorithm>

namespace comanda::http {
namespace {

std::string_view WithoutBlanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text;
}

}  // namespace

std::optional<TagList> ReadTags(std::string_view text) {
  TagList list;
  text = WithoutBlanks(text);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  if (text == "*") {
    list.any = true;
    return list;
  }
  while (!text.empty()) {
    Tag tag;
    if (text.starts_with("W/")) {
      tag.weak = true;
      text.remove_prefix(2);
    }
    if (!text.starts_with('"')) return std::nullopt;
    text.remove_prefix(1);
    const size_t end = text.find('"');
    if (end == std::string_view::npos) return std::nullopt;
    tag.opaque = text.substr(0, end);
    list.tags.push_back(tag);
    text = WithoutBlanks(text.substr(end + 1));
    if (text.empty()) break;
    if (!text.starts_with(',')) return std::nullopt;
    text = WithoutBlanks(text.substr(1));
    if (text.empty()) return std::nullopt;
  }
  if (list.tags.empty()) return std::nullopt;
  return list;
}

}  // namespace comanda::http
