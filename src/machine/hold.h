#pragma once

// The hold of outgoing messages. Two boxes that serve copies of one database would both send its
// events: the receivers of webhooks would get each of them twice, or two histories. A database
// therefore keeps the id of the machine that serves it (machine_id.h). Where the program finds a
// database that another machine has served, whatever way it came here (restored, copied by hand,
// with its disk), nothing is sent until a person says that the other box is off: `comanda resume`.
// What happens meanwhile waits in the event log, for as long as that keeps events.
//
// Every sender asks IsHeld() before it sends; it holds nothing by itself. What a person asks for
// explicitly, the test of a webhook, is sent all the same.

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "base/time/clock.h"
#include "db/session.h"

namespace comanda::machine {

// What the database keeps.
struct Kept {
  std::string machine_id;  // of MachineId(); empty: the machine had none
  std::optional<UtcMs> held_since;
};

enum class Verdict : uint8_t {
  kSame,     // the machine that served the database last
  kAdopted,  // no other machine is known, and the file has not been replaced: it is this one's
  kHeld,     // another machine, or a copy of which nobody can say where it was served
};
// `is_restored`: the file was put in the place of the database since it was served last. Pure.
Verdict Judge(const std::optional<Kept>& kept, const std::string& machine_id, bool is_restored);

// Nothing where no program that knows of machines has served the database.
std::optional<Kept> Find(db::Session& session);
// Writes what Judge() means, inside the caller's transaction. A hold that is there stays, with its
// time.
void Keep(db::Tx& tx, Verdict verdict, const std::string& machine_id, UtcMs now);
// Ends the hold. False where there was none.
bool Resume(db::Tx& tx);

// Of one database, while a process serves it. Any thread.
class Hold {
 public:
  bool IsHeld() const { return since_.load() != 0; }
  void Set(UtcMs since) { since_ = since == 0 ? 1 : since; }
  void Release() { since_ = 0; }
  // Since when, why and what to do, for /readyz and the log; empty: nothing is held.
  std::string Describe() const;

 private:
  std::atomic<UtcMs> since_{0};  // 0: nothing is held
};

}  // namespace comanda::machine
