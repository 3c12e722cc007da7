#include "app/neighbours.h"

#include <string>
#include <utility>

#include "base/problem.h"
#include "cloud/status.h"
#include "orders/orders.h"
#include "webhooks/webhooks.h"

namespace comanda::app {
namespace {

// The sandbox, in which integrators try things out, takes no transfers from the restaurant.
webhooks::DelivererSettings ForWebhooks(Environment& environment, const Process& process) {
  constexpr size_t kLiveSlots = 12, kSandboxSlots = 4;
  const bool is_live = environment.mode() == auth::Mode::kLive;
  return {.name = is_live ? "webhooks" : "sandbox webhooks",
          .options = process.options,
          .clock = process.clock,
          .database = environment.database(),
          .space = process.space,
          .marks = environment.marks(),
          .feed = environment.feed(),
          .network = *process.network,
          .graces = environment.graces(),
          .hold = &environment.hold(),
          .slots = is_live ? kLiveSlots : kSandboxSlots,
          .read_body = orders::EventBody};
}

cloud::SyncerSettings ForCloud(Environment& environment, const Process& process) {
  return {.options = process.options,
          .clock = process.clock,
          .database = environment.database(),
          .feed = environment.feed(),
          .network = *process.network,
          .hold = &environment.hold()};
}

bool IsLinked(db::Session& session, db::CompanyId company) {
  const auto linked = cloud::FindLinked(session);
  return linked && linked->company == company;
}

// The sandbox asks no real app.
delivery::DeliverySettings ForApps(Environment& environment, const Process& process,
                                   std::function<bool(db::CompanyId company)> is_watched) {
  return {.options = process.options,
          .clock = process.clock,
          .database = environment.database(),
          .network = environment.mode() == auth::Mode::kLive ? process.network : nullptr,
          .heartbeats = process.heartbeats,
          .metrics = process.metrics,
          .hold = &environment.hold(),
          .is_watched = std::move(is_watched),
          .has_cloud = IsLinked};
}

}  // namespace

Neighbours::Neighbours(Environment& environment, const Process& process,
                       std::function<bool(db::CompanyId company)> is_watched)
    : environment_(environment), clock_(process.clock) {
  delivery_.emplace(ForApps(environment, process, std::move(is_watched)));
  if (process.network == nullptr) return;
  deliverer_.emplace(ForWebhooks(environment, process), process.heartbeats, process.metrics);
  if (environment.mode() == auth::Mode::kTest) return;
  syncer_.emplace(ForCloud(environment, process), process.heartbeats, process.metrics);
}

void Neighbours::LendTo(http::Site& site) {
  site.graces = &environment_.graces();
  site.deliverer = deliverer_ ? &*deliverer_ : nullptr;
  site.syncer = syncer_ ? &*syncer_ : nullptr;
  site.delivery = &*delivery_;
}

http::Readiness Neighbours::CheckSync() {
  http::Readiness check{.name = "sync", .ok = true};
  try {
    const cloud::Status sync = environment_.database().Read([&](db::Snapshot& snapshot) {
      return cloud::FindStatus(snapshot, syncer_ ? syncer_->progress() : cloud::Progressing{},
                               clock_.Now());
    });
    check.state = cloud::Describe(sync, clock_.Now());
    check.code = cloud::CodeOf(sync.progress);
    check.since = sync.progress.since;
    check.counts = {{"steps_waiting", sync.counts.steps_waiting}};
  } catch (const Fault& fault) {
    check.state = "cannot be read: " + fault.cause;
    check.code = "stopped";
  }
  return check;
}

void Neighbours::AddReadiness(std::vector<http::Readiness>& checks) {
  checks.push_back(CheckSync());
  const std::string webhooks = deliverer_ ? deliverer_->Trouble() : "";
  if (!webhooks.empty()) checks.push_back({.name = "webhooks", .ok = true, .state = webhooks});
  const std::string apps = delivery_->probes().Describe();
  if (!apps.empty()) checks.push_back({.name = "delivery_apps", .ok = true, .state = apps});
  const auto* app_orders = delivery_->orders();
  const std::string orders = app_orders != nullptr ? app_orders->Describe() : "";
  if (!orders.empty()) checks.push_back({.name = "app_orders", .ok = true, .state = orders});
  if (environment_.hold().IsHeld()) {
    checks.push_back({.name = "outgoing", .ok = true, .state = environment_.hold().Describe()});
  }
}

EndingKind Neighbours::OldSecrets() {
  return {.name = "old secrets of webhooks",
          .due_in_ms = [this] { return environment_.graces().DueInMs(); },
          .write_down =
              [this] {
                const bool are_changed =
                    webhooks::WriteDownEndedGraces(environment_.database(), environment_.graces());
                if (are_changed && deliverer_) deliverer_->NoteChange();
              }};
}

void Neighbours::ReloadFiles() {
  if (deliverer_) deliverer_->Reload();
  if (syncer_) syncer_->Reload();
}

void Neighbours::NoteHoldEnds() {
  if (deliverer_) deliverer_->NoteChange();
  if (syncer_) syncer_->NoteChange();
}

}  // namespace comanda::app
