#pragma once

// Entity tags as If-Match and If-None-Match carry them (RFC 9110 section 8.8.3, 13.1).

#include <optional>
#include <string_view>
#include <vector>

namespace comanda::http {

struct Tag {
  std::string_view opaque;  // without its quotes
  bool weak = false;
};

struct TagList {
  bool any = false;  // "*"
  std::vector<Tag> tags;
};

// Views into the text. Nothing where it is neither * nor a list of tags.
std::optional<TagList> ReadTags(std::string_view text);

}  // namespace comanda::http
