#pragma once

// A file that the server keeps ready to send: plain and in gzip, for the life of the process. All
// answers share its bytes, so that clients that request it and read slowly do not exhaust the
// memory. Any thread.

#include <memory>
#include <string>
#include <string_view>

#include "http/context.h"
#include "http/response.h"

namespace comanda::web {

using Shared = std::shared_ptr<const std::string>;

Shared Share(std::string text);

// A hash of a script or style sheet, as in an attribute `integrity`. Quoted, it is a source of a
// Content-Security-Policy that permits exactly this text.
std::string IntegrityOf(std::string_view text);

struct File {
  explicit File(std::string text);

  Shared body;
  Shared gzip;
  std::string etag;  // a hash of the bytes
  std::string integrity;
};

// Replaces the placeholder, which the page must have (CHECK).
void Fill(std::string& page, std::string_view mark, std::string_view text);

// The answer with the file, or 304. `content_type` is a literal. The caller has checked the query.
http::Response Answer(http::Context& ctx, const File& file, std::string_view content_type);

}  // namespace comanda::web
