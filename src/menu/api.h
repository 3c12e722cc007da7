#pragma once

// The handlers of the menu (specification, Menu; contract section 9).

#include <span>

#include "http/route.h"

namespace comanda::menu {

std::span<const http::Route> Routes();

}  // namespace comanda::menu
