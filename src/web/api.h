#pragma once

// The handlers of GET /v1/openapi.json, GET /docs, GET /docs/tools.js and GET
// /docs/programs/{file}: the description of the API for programs and for people, and tills to start
// from. They need neither a key nor access to the internet.
//
// Each file is made at its first request, plain and in gzip, and kept for the life of the process;
// all answers share its bytes. Its entity tag is a hash of them, so that a browser that has the
// file gets 304 until the program is upgraded. The Content-Security-Policy of /docs permits the
// hashes of its own scripts and style and no others.

#include <span>

#include "http/route.h"

namespace comanda::web {

// The table of these routes. The handlers throw Refusal for query parameters, and Fault kInternal
// where the embedded document is not what web/reference.h needs.
std::span<const http::Route> Routes();

}  // namespace comanda::web
