#pragma once

// What the process has one of, and lends to the live environment and the sandbox.

#include "base/heartbeat.h"
#include "base/metrics.h"
#include "base/time/clock.h"
#include "config/options.h"
#include "db/sqlite/disk_space.h"
#include "http/answer_budget.h"
#include "net/network.h"

namespace comanda::app {

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
