#include "machine/store.h"

namespace comanda::machine::store {

std::optional<Kept> Find(db::Session& session) {
  static constexpr db::Sql kSelect =
      R"sql(SELECT machine_id, held_since FROM machine WHERE machine = 1)sql";
  const auto row = session.One<kSelect>();
  if (!row) return std::nullopt;
  return Kept{.machine_id = std::string(row->Text("machine_id")),
              .held_since = row->OptionalInt("held_since")};
}

void Put(db::Tx& tx, const Kept& kept) {
  tx.Run(R"sql(
      INSERT INTO machine (machine, machine_id, held_since) VALUES (1, $1, $2)
      ON CONFLICT (machine) DO UPDATE SET
        machine_id = excluded.machine_id, held_since = excluded.held_since
      )sql",
         kept.machine_id, kept.held_since);
}

}  // namespace comanda::machine::store
