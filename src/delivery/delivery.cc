#include "delivery/delivery.h"

namespace comanda::delivery {

Delivery::Delivery(const DeliverySettings& settings)
    : catalogue_(settings.options.data_directory),
      lookups_({.options = settings.options,
                .clock = settings.clock,
                .metrics = settings.metrics,
                .network = settings.network}) {
  if (settings.network == nullptr) return;
  watcher_.emplace(WatcherSettings{.options = settings.options,
                                   .clock = settings.clock,
                                   .database = settings.database,
                                   .catalogue = catalogue_,
                                   .lookups = lookups_},
                   settings.heartbeats, settings.metrics);
}

void Delivery::Reload() {
  catalogue_.Reload();
  NoteChange();
}

void Delivery::NoteChange() {
  lookups_.Forget();
  if (watcher_) watcher_->Wake();
}

}  // namespace comanda::delivery
