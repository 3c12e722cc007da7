#pragma once

// Runs work that may never return: a read of a dead disk or of a server on the network, a program
// that waits for a daemon. Each piece runs in a process of its own. A thread would not do: a thread
// that hangs in the kernel keeps its process from ending, also after SIGKILL, and the shell waits.
// A process that crashes takes nothing else with it.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace comanda::doctor {

using Work = std::function<std::string()>;

// How one piece of work ended.
struct Outcome {
  std::optional<std::string> result;  // what it returned; nothing if it did not end well
  std::string failure;  // else the reason: "no answer within 5 s", what it threw, a signal
};

// Runs all pieces at once and waits for `timeout_ms` at most; what still runs then is killed and
// left behind. The pieces share nothing with the caller but their results, and what they print is
// dropped. Called by a process with one thread. Throws Fault if the system grants no process.
std::vector<Outcome> RunBounded(const std::vector<Work>& pieces, int64_t timeout_ms);
Outcome RunBounded(const Work& work, int64_t timeout_ms);

}  // namespace comanda::doctor
