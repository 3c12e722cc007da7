#include "app/instance.h"

#include "app/routes.h"
#include "company/api.h"
#include "ops/health.h"
#include "orders/orders.h"

namespace comanda::app {
namespace {

// The size of the cache of list answers: about 50 pages of 50 orders.
constexpr size_t kAnswerBytesMax = 8 * 1024 * 1024;

std::vector<EndingKind> Kinds(Environment& environment, Neighbours& neighbours) {
  std::vector<EndingKind> kinds = environment.EndingKinds();
  kinds.push_back(neighbours.OldSecrets());
  return kinds;
}

}  // namespace

int WorkersOf(auth::Mode mode, const config::Options& options) {
  constexpr int kSandboxWorkers = 32;
  return mode == auth::Mode::kLive ? options.workers : kSandboxWorkers;
}

Instance::Instance(const Process& process, const InstanceSettings& settings)
    : process_(process),
      more_checks_(settings.more_checks),
      environment_(settings.mode, process, settings.upgrading, settings.owns_directory,
                   settings.standby_note),
      long_polls_(WorkersOf(settings.mode, process.options) *
                  static_cast<int>(process.options.long_polls_percent) / 100),
      long_polls_reader_(environment_.feed(), "long polls",
                         {.committed = [this] { long_polls_.Wake(); }}),
      answers_(kAnswerBytesMax),
      kitchen_({.name = settings.mode == auth::Mode::kLive ? "live" : "sandbox",
                .clock = process.clock,
                .database = environment_.database(),
                .wake_polls = [this] { long_polls_.Wake(); },
                .has_thread = process.network != nullptr},
               process.heartbeats, process.metrics),
      site_(SiteFor(process, settings)),
      dispatcher_(site_, AllRoutes(settings.mode)),
      neighbours_(environment_, process,
                  [this](db::CompanyId company) {
                    return site_.lookers.AreThere(company, process_.clock.MonotonicMs());
                  }),
      ends_(Kinds(environment_, neighbours_)) {
  neighbours_.LendTo(site_);
  site_.kitchen = &kitchen_;
  site_.displays_of = [this](db::CompanyId company) { return kitchen_.DisplaysOf(company); };
  environment_.gate().SetWriteDownEnds([this] { ends_.WriteDown(); });
}

http::Site Instance::SiteFor(const Process& process, const InstanceSettings& settings) {
  return {.mode = settings.mode,
          .options = process.options,
          .clock = process.clock,
          .database = environment_.database(),
          .space = process.space,
          .gate = environment_.gate(),
          .metrics = process.metrics,
          .readiness = [this] { return CheckReadiness(); },
          .long_polls = long_polls_,
          .answers = answers_,
          .answer_budget = process.answer_budget,
          .find_companies = company::FindNames,
          .read_event_body = orders::EventBody,
          .current_mark = [this] { return environment_.marks().current(); },
          .resume = [this] { return Resume(); },
          .authority_pem = settings.authority_pem,
          .listened = settings.listened};
}

std::vector<http::Readiness> Instance::CheckReadiness() {
  std::vector<http::Readiness> checks =
      ops::CheckReadiness(environment_.database(), process_.space, process_.clock);
  // Reported, and never makes the box unready: orders go on.
  if (std::string zones = environment_.zones().trouble(); !zones.empty()) {
    checks.push_back({.name = "time_zones", .ok = true, .state = zones});
  }
  neighbours_.AddReadiness(checks);
  if (process_.network) {
    checks.push_back(ops::CheckInternet(process_.network->internet(), process_.clock.Now()));
  }
  if (std::string state = kitchen_.Describe(); !state.empty()) {
    const kitchen::Watch::Totals totals = kitchen_.Sum();
    const auto count = [](size_t number) { return static_cast<int64_t>(number); };
    checks.push_back({.name = "kitchen",
                      .ok = true,
                      .state = std::move(state),
                      .counts = {{"displays", count(totals.displays)},
                                 {"unwatched", count(totals.unwatched)},
                                 {"muted", count(totals.muted)}}});
  }
  more_checks_(checks);
  return checks;
}

// Ends the hold of outgoing messages; false where there was none.
bool Instance::Resume() {
  const bool was_held = environment_.EndHold([this] { neighbours_.NoteHoldEnds(); });
  neighbours_.NoteHoldEnded();
  return was_held;
}

}  // namespace comanda::app
