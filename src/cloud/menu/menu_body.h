#pragma once

// A product of this box as PUT /v1/menu/products takes it (contract section 9): under the cloud's
// ids, without computed fields. What PUT cannot clear (texts and numbers that are empty locally; a
// PATCH clears those of the product, cloud/menu/menu_push.h) and what the cloud counts or names
// itself (stock of known products, kitchen stations) is left out. Pure.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "aliases/aliases.h"
#include "menu/product.h"

namespace comanda::cloud {

// The cloud's id of a row of this box; nothing where it does not know the row.
using CloudId = std::function<std::optional<std::string>(aliases::Kind, std::string_view box_id)>;

// {"products":[…]} with the one product. One that the cloud does not know is matched in the cloud
// by the skus of its variants, or has its local id where no variant has a sku; its category is
// named.
std::string PushBody(const menu::Product& product, std::string_view category_name, int decimals,
                     const CloudId& cloud_id);
// A hash of what PushBody() sends of the product, whatever the cloud's ids are.
std::string ContentHash(const menu::Product& product, int decimals);

// A hash of what the cloud shows of a product (menu/json.h, ReadShown), without its category and
// stock counts. Equal for the record in the menu and that of GET /v1/menu/products/{id}.
std::string Fingerprint(const menu::Product& shown);
// Begins each of them: those of older programs have another form, and are equal to none.
inline constexpr std::string_view kFingerprintForm = "2-";

}  // namespace comanda::cloud
