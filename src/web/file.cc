#include "web/file.h"

#include <utility>

#include "base/check.h"
#include "base/gzip.h"
#include "crypto/hash.h"

namespace comanda::web {

Shared Share(std::string text) { return std::make_shared<const std::string>(std::move(text)); }

std::string IntegrityOf(std::string_view text) {
  return "sha256-" + crypto::Base64(crypto::Sha256(text));
}

File::File(std::string text)
    : body(Share(std::move(text))),
      gzip(Share(GzipSmallest(*body))),
      etag(http::BodyTag(*gzip)),
      integrity(IntegrityOf(*body)) {}

void Fill(std::string& page, std::string_view mark, std::string_view text) {
  const size_t at = page.find(mark);
  CHECK(at != std::string::npos, "the page has a place for what is filled in");
  page.replace(at, mark.size(), text);
}

http::Response Answer(http::Context& ctx, const File& file, std::string_view content_type) {
  if (ctx.HasMatch(file.etag)) return http::NotModified(file.etag);
  http::Response response;
  response.gzipped = ctx.PrefersGzip();
  response.shared_body = response.gzipped ? file.gzip : file.body;
  response.content_type = content_type;
  response.etag = file.etag;
  return response;
}

}  // namespace comanda::web
