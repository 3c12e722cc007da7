#pragma once

// The kitchen display: GET /kitchen, and the files that it loads, GET /kitchen/{file}. Without a
// key; the page asks for one.
//
// Script and style have a hash of their content in their names, and are cached for a year. The page
// and its service worker, which name them, are validated at each use. What the page may do is the
// Content-Security-Policy of contract section 16.

#include <span>

#include "http/route.h"

namespace comanda::web {

// The handlers throw Refusal for unknown query parameters and names.
std::span<const http::Route> KitchenPageRoutes();

}  // namespace comanda::web
