#pragma once

// All SQL of the room.

#include <optional>

#include "db/session.h"
#include "machine/hold.h"

namespace comanda::machine::store {

std::optional<Kept> Find(db::Session& session);
void Put(db::Tx& tx, const Kept& kept);

}  // namespace comanda::machine::store
