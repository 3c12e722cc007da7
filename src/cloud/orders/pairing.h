#pragma once

// Pairs the rows of the cloud with those of this box that have no counterpart yet (contract section
// 15.3): by id, else by a natural key, the strongest first: the code of a payment method, the skus
// of a product, an e-mail address, a phone number, then the name. Rows that were paired before are
// known by their aliases and are not given to it. Pure.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace comanda::cloud {

// A row as pairing sees it. keys[n] are the values of its n-th key, the strongest key first; the
// rows of both sides have the same keys. A row may lack the value of a key, or have several.
struct KeyedRow {
  std::string id;
  std::vector<std::vector<std::string>> keys;
};

// For each row of the cloud the index of its counterpart in `box`, each of which is used once. A
// key pairs two rows only where no stronger one contradicts it: two people of one name with
// different e-mail addresses are two.
std::vector<std::optional<size_t>> Pair(std::span<const KeyedRow> cloud,
                                        std::span<const KeyedRow> box);

// The values of a key in the form in which both sides are compared. Empty where there is none.
std::vector<std::string> NameKey(std::string_view name);  // without accents and case
std::vector<std::string> NameKey(std::string_view parent, std::string_view name);
std::vector<std::string> EmailKey(std::string_view email);
std::vector<std::string> PhoneKey(std::string_view calling_code, std::string_view number);
std::vector<std::string> CodeKey(std::string_view code);
// The spelling itself first, then what two spellings have in common.
std::vector<std::string> SkuKey(std::string_view sku);

}  // namespace comanda::cloud
