#include "delivery/delivery.h"

namespace comanda::delivery {

Delivery::Delivery(const DeliverySettings& settings)
    : catalogue_(settings.options.data_directory),
      probes_({.options = settings.options,
               .clock = settings.clock,
               .metrics = settings.metrics,
               .network = settings.network}),
      has_cloud_(settings.has_cloud) {
  if (settings.network == nullptr) return;
  orders_.emplace(OrderAccountSettings{.options = settings.options,
                                       .clock = settings.clock,
                                       .database = settings.database,
                                       .network = *settings.network,
                                       .catalogue = catalogue_,
                                       .hold = settings.hold,
                                       .authorities = [this] { return probes_.Authorities(); },
                                       .is_watched = settings.is_watched},
                  settings.heartbeats, settings.metrics);
  watcher_.emplace(WatcherSettings{.options = settings.options,
                                   .clock = settings.clock,
                                   .database = settings.database,
                                   .catalogue = catalogue_,
                                   .probes = probes_},
                   settings.heartbeats, settings.metrics);
}

void Delivery::Reload() {
  probes_.ForgetAuthorities();
  const std::vector<std::string> changed = catalogue_.Reload();
  for (const std::string& app : changed) NoteChange(app);
  if (changed.empty()) Wake();
}

void Delivery::NoteChange(std::string_view app) {
  probes_.Forget(app);
  if (orders_) orders_->NoteChange(app);
  if (watcher_) watcher_->Wake();
}

void Delivery::Wake() {
  if (orders_) orders_->NoteChange("");
  if (watcher_) watcher_->Wake();
}

}  // namespace comanda::delivery
