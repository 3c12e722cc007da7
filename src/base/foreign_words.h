#pragma once

// The words that other systems of restaurants and shops have for our fields and paths (contract
// section 18): those of Square, Toast, Shopify, Lightspeed, Loyverse and WooCommerce. For messages
// about unknown fields and paths; nothing is read under these names.

#include <optional>
#include <span>
#include <string_view>

namespace comanda {

// Our names for a word of another system, the most likely first. Empty: it is a word of another
// system and no field here, so that no message may take it for a similar one of ours. Nothing: no
// other system has it. Case and separators do not matter: lineItems is line_items.
std::optional<std::span<const std::string_view>> OurNamesOf(std::string_view foreign);

}  // namespace comanda
