#pragma once

// Aliases: which record of the cloud is which record of this box (contract section 15, Ids). The
// cloud gives its records ids of its own. A client that changes its base address from one to the
// other keeps the ids it knows: both sides' ids find the record.
//
// An alias exists once sync has seen the record on both sides; a company that is not linked has
// none. Records that have the same id on both sides have an alias, too.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/session.h"

namespace comanda::aliases {

// The kinds of records that have aliases. The database stores the numbers: new kinds are added at
// the end.
enum class Kind : uint8_t {
  kOrder,
  kClient,
  kAddress,
  kTable,
  kCategory,
  kProduct,
  kVariant,
  kModifierCategory,
  kModifier,
  kPaymentMethod,
  kUser,
};

// One record under both ids.
struct Alias {
  Kind kind = Kind::kOrder;
  std::string cloud_id;
  std::string box_id;
  std::optional<std::string> cloud_public_id;  // of orders
};

// The id here of a record with that id in the cloud.
std::optional<std::string> FindBoxId(db::Session& session, db::CompanyId company, Kind kind,
                                     std::string_view cloud_id);
// The alias of a record of this box.
std::optional<Alias> FindByBoxId(db::Session& session, db::CompanyId company, Kind kind,
                                 std::string_view box_id);
// The id here of an order with that public id in the cloud.
std::optional<std::string> FindByPublicId(db::Session& session, db::CompanyId company,
                                          std::string_view cloud_public_id);

// Writes the alias. An older one of the same record, on either side, is replaced.
void Put(db::Tx& tx, db::CompanyId company, const Alias& alias);
// Removes the alias of a record of this box, if it has one.
void Remove(db::Tx& tx, db::CompanyId company, Kind kind, std::string_view box_id);
// Those of every kind.
void RemoveAll(db::Tx& tx, db::CompanyId company);

}  // namespace comanda::aliases
