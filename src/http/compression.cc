#include "http/compression.h"

#include "wire/coding.h"

namespace comanda::http {

bool PrefersGzip(const wire::Request& request) {
  return request.Header("Accept-Encoding") && wire::PrefersGzip(request.Joined("Accept-Encoding"));
}

bool HasTwoForms(const Route& route, const wire::Response& response) {
  return response.etag.starts_with("W/") && !route.pattern.starts_with("/auth/");
}

bool MustCompress(const wire::Request& request, const Route& route,
                  const wire::Response& response) {
  return HasTwoForms(route, response) && !response.gzipped &&
         response.Body().size() >= wire::kGzipBytesMin && PrefersGzip(request);
}

}  // namespace comanda::http
