#include "app/environment.h"

#include "app/embedded.h"
#include "app/routes.h"
#include "base/log.h"
#include "base/problem.h"
#include "clients/clients.h"
#include "events/log.h"
#include "events/retention.h"
#include "http/idempotency.h"
#include "keys/keys.h"
#include "menu/catalogue.h"
#include "ops/health.h"
#include "orders/orders.h"

namespace comanda::app {
namespace {

// About fifty pages of fifty orders.
constexpr size_t kAnswerBytesMax = 8 * 1024 * 1024;

db::Settings DatabaseSettings(auth::Mode mode, const config::Options& options) {
  return {.path = options.data_directory + "/" + std::string(Name(mode)) + ".db",
          .migrations = Migrations()};
}

auth::GateSettings Rates(auth::Mode mode, const config::Options& options) {
  return {.mode = mode,
          .standard = {options.rate_standard_per_minute},
          .plus = {options.rate_plus_per_minute},
          .lan = {options.rate_lan_per_minute}};
}

}  // namespace

int WorkersOf(auth::Mode mode, const config::Options& options) {
  constexpr int kSandboxWorkers = 32;
  return mode == auth::Mode::kLive ? options.workers : kSandboxWorkers;
}

Environment::Environment(auth::Mode mode, const config::Options& options, const Clock& clock,
                         Heartbeats& heartbeats, metrics::Registry& metrics)
    : clock_(clock),
      // The other half of the workers stays free for those who do not wait.
      long_polls_(WorkersOf(mode, options) / 2),
      answers_(kAnswerBytesMax),
      database_(DatabaseSettings(mode, options), clock, heartbeats, metrics),
      gate_(Rates(mode, options), keys_, clock),
      site_{.mode = mode,
            .options = options,
            .clock = clock,
            .database = database_,
            .gate = gate_,
            .metrics = metrics,
            .readiness =
                [this, &options] { return ops::CheckReadiness(database_, options.data_directory); },
            .long_polls = long_polls_,
            .answers = answers_,
            .find_order_uuid = orders::FindUuid},
      dispatcher_(site_, AllRoutes(mode)) {
  database_.SetAfterCommit([this] { long_polls_.Wake(); });
  database_.Read([&](db::Snapshot& snapshot) {
    events::LoadCounters(snapshot, database_.counters());
    database_.ContinueFrom(events::LastTime(snapshot));
    keys_.Load(keys::LoadAll(snapshot));
  });
  try {
    clients::MakeSearchable(database_);
  } catch (const Fault& fault) {  // a full disk: reads go on, and the chores try again
    log::Error("some clients cannot be searched for yet", {{"why", fault.cause}});
  }
}

void Environment::DoChores() {
  clients::MakeSearchable(database_);
  menu::RenderStale(database_);
  WriteDown();
  http::idempotency::Purge(database_, clock_);
  events::Purge(database_, clock_);
}

void Environment::WriteDown() { keys::FlushLastUsed(database_, keys_); }

}  // namespace comanda::app
