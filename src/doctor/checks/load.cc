#include "doctor/checks.h"
#include "base/counted.h"

namespace comanda::doctor {
namespace {

std::string Count(double value) { return std::to_string(static_cast<int64_t>(value)); }

}  // namespace

// The queues of a running server: what waits for the writer, connections, and how long a commit
// takes.
Findings CheckLoad(const Box& box) {
  constexpr double kQueueMax = 200;
  constexpr double kCommitSecondsMax = 0.25;
  constexpr double kCommitsMin = 20;
  const auto queue = Metric(box, "comanda_db_queue_jobs");
  if (!queue) return {Well("Not asked: no server answers.")};
  const double connections = Metric(box, "comanda_http_connections").value_or(0);
  const double refused = Metric(box, "comanda_http_connections_refused_total").value_or(0);
  const double commits = Metric(box, "comanda_db_commit_seconds_count").value_or(0);
  const double seconds = Metric(box, "comanda_db_commit_seconds_sum").value_or(0);
  Findings findings;
  if (*queue > kQueueMax) {
    findings.push_back(Warning(Count(*queue) + " writes wait for the database.",  // above 200
                               "Tills wait as long. The disk is slow, or an import is under way.",
                               "iostat -x 1 5\ndmesg --level=err | tail"));
  }
  if (commits >= kCommitsMin && seconds / commits > kCommitSecondsMax) {
    findings.push_back(Warning("A write takes " + Count(seconds / commits * 1000) +
                                   " ms on average since the start of the server.",
                               "The disk is slow or failing: each order waits for it.",
                               "dmesg --level=err,warn | tail\ncomanda doctor"));
  }
  if (connections >= 0.9 * box.options.workers) {
    findings.push_back(Warning(Count(connections) + " of " + std::to_string(box.options.workers) +
                                   " connections are in use.",
                               "Further devices are refused or wait.",
                               "ss -Htn state established '( sport = :" +
                                   std::to_string(PortOf(box.options.listen)) + " )'"));
  }
  if (findings.empty()) {
    findings.push_back(
        Well(Counted(static_cast<int64_t>(connections), "connection, ", "connections, ") +
             Counted(static_cast<int64_t>(*queue), "waiting write, ", "waiting writes, ") +
             Counted(static_cast<int64_t>(refused), "connection", "connections") +
             " refused since the start."));
  }
  return findings;
}

}  // namespace comanda::doctor
