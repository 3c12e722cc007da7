#pragma once

// Entity tags and the conditions of a request (RFC 9110 sections 8.8.3 and 13). Pure functions.

#include <optional>
#include <string_view>
#include <vector>

#include "wire/request.h"

namespace comanda::http {

struct Tag {
  std::string_view opaque;  // without its quotes
  bool weak = false;        // W/"...": equal in meaning, perhaps not byte for byte
};

struct TagList {
  bool any = false;  // "*"
  std::vector<Tag> tags;
};

// Reads If-Match or If-None-Match. The tags are views into the text. Empty where it is neither *
// nor a list of tags.
std::optional<TagList> ReadTags(std::string_view text);

// Whether If-None-Match names this tag, by weak comparison. "*" names none.
bool NamesTag(const wire::Request& request, std::string_view etag);
// Whether If-None-Match is "*", which matches every tag.
bool NamesAnyTag(const wire::Request& request);

}  // namespace comanda::http
