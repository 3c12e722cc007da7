#include "machine/hold.h"

#include "config/table.h"
#include "machine/store.h"

namespace comanda::machine {

Verdict Judge(const std::optional<Kept>& kept, const std::string& machine_id, bool is_restored) {
  if (kept && !kept->machine_id.empty()) {
    return kept->machine_id == machine_id ? Verdict::kSame : Verdict::kHeld;
  }
  return is_restored ? Verdict::kHeld : Verdict::kAdopted;
}

std::optional<Kept> Find(db::Session& session) { return store::Find(session); }

void Keep(db::Tx& tx, Verdict verdict, const std::string& machine_id, UtcMs now) {
  std::optional<Kept> kept = store::Find(tx);
  if (verdict == Verdict::kSame) return;
  if (!kept) kept.emplace();
  kept->machine_id = machine_id;
  if (verdict == Verdict::kHeld && !kept->held_since) kept->held_since = now;
  store::Put(tx, *kept);
}

bool Resume(db::Tx& tx) {
  std::optional<Kept> kept = store::Find(tx);
  if (!kept || !kept->held_since) return false;
  kept->held_since.reset();
  store::Put(tx, *kept);
  return true;
}

std::string Hold::Describe() const {
  const UtcMs since = since_.load();
  if (since == 0) return "";
  const std::string program =
      config::kProgram == config::Program::kHead ? "comanda-head" : "comanda";
  return "held since " + FormatInstant(since) +
         ", because another machine has served these data; when that one is off, `" + program +
         " resume` sends what waits";
}

}  // namespace comanda::machine
