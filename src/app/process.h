#pragma once

// What the process has one of, and lends to the live environment and the sandbox.

#include <functional>
#include <string>

#include "base/heartbeat.h"
#include "base/metrics.h"
#include "base/time/clock.h"
#include "config/options.h"
#include "db/disk_space.h"
#include "http/answer_budget.h"
#include "net/network.h"

namespace comanda::app {

// Called repeatedly during an upgrade, with the name of its current step. An exception ends the
// upgrade.
using Upgrading = std::function<void(const std::string& step)>;

// All of it outlives what it is lent to.
struct Process {
  const config::Options& options;
  const Clock& clock;
  db::DiskSpace& space;
  http::AnswerBudget& answer_budget;
  Heartbeats& heartbeats;
  metrics::Registry& metrics;
  net::Network* network = nullptr;  // null: nothing is sent to anybody
};

}  // namespace comanda::app
