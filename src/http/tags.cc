#include "http/tags.h"

#include <algorithm>
#include <string>

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

bool NamesTag(const wire::Request& request, std::string_view etag) {
  const std::optional<std::string_view> first = request.Header("If-None-Match");
  if (!first) return false;
  if (*first == etag) return true;  // as nearly all clients that poll send it
  const std::string header = request.Joined("If-None-Match");
  const std::optional<TagList> list = ReadTags(header);
  if (!list) return false;
  if (etag.starts_with("W/")) etag.remove_prefix(2);
  return std::ranges::any_of(list->tags, [&](const Tag& tag) {
    return etag.size() == tag.opaque.size() + 2 && etag.substr(1, tag.opaque.size()) == tag.opaque;
  });
}

bool NamesAnyTag(const wire::Request& request) {
  if (!request.Header("If-None-Match")) return false;
  const std::string header = request.Joined("If-None-Match");
  const std::optional<TagList> list = ReadTags(header);
  return list && list->any;
}

}  // namespace comanda::http
