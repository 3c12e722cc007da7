#pragma once

// Which answers are compressed (wire/coding.h). Pure functions.

#include "http/response.h"
#include "http/route.h"
#include "wire/request.h"

namespace comanda::http {

// Whether the client prefers gzip over identity: by the weights of its Accept-Encoding (RFC 9110
// section 12.5.3); one that sends none gets identity.
bool PrefersGzip(const wire::Request& request);

// Whether the answer may be sent in two forms, plain and compressed. Not where its tag is strong,
// since both forms would have it. Nor where it may contain a secret, as those of /auth/ do: the
// size of a compressed text tells about its parts (BREACH).
bool HasTwoForms(const Route& route, const wire::Response& response);

// Whether this client is to get the compressed form.
bool MustCompress(const wire::Request& request, const Route& route, const wire::Response& response);

}  // namespace comanda::http
